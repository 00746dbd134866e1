package dev.meshplan.communication;

import dev.meshplan.config.Keyed;

/**
 * Constants of collectives inside a scale-up domain; the keys may stand under {@code
 * domain.collectives} of a system.
 *
 * <p>{@code _us}: microseconds. {@code _share}: share of the link's bandwidth (one way, per GPU; on
 * PCIe of what the path's fullest wire leaves). {@code _mib}: message size. A ring protocol costs
 * base + step x steps + wire bytes / (share x bandwidth).
 */
public enum LinkParameter implements Keyed {
  ALL_REDUCE_LL_BASE_US,
  ALL_REDUCE_LL_STEP_US,
  ALL_REDUCE_LL_SHARE,
  ALL_REDUCE_LL128_BASE_US,
  ALL_REDUCE_LL128_STEP_US,
  ALL_REDUCE_LL128_SHARE,
  ALL_REDUCE_SIMPLE_BASE_US,
  ALL_REDUCE_SIMPLE_STEP_US,
  ALL_REDUCE_SIMPLE_SHARE,
  ALL_GATHER_LL_BASE_US,
  ALL_GATHER_LL_STEP_US,
  ALL_GATHER_LL_SHARE,
  ALL_GATHER_LL128_BASE_US,
  ALL_GATHER_LL128_STEP_US,
  ALL_GATHER_LL128_SHARE,
  ALL_GATHER_SIMPLE_BASE_US,
  ALL_GATHER_SIMPLE_STEP_US,
  ALL_GATHER_SIMPLE_SHARE,
  REDUCE_SCATTER_LL_BASE_US,
  REDUCE_SCATTER_LL_STEP_US,
  REDUCE_SCATTER_LL_SHARE,
  REDUCE_SCATTER_LL128_BASE_US,
  REDUCE_SCATTER_LL128_STEP_US,
  REDUCE_SCATTER_LL128_SHARE,
  REDUCE_SCATTER_SIMPLE_BASE_US,
  REDUCE_SCATTER_SIMPLE_STEP_US,
  REDUCE_SCATTER_SIMPLE_SHARE,
  /** Out-of-place collectives copy the own shard: its speed as a share of the link's. */
  ALL_GATHER_COPY_SHARE,
  REDUCE_SCATTER_COPY_SHARE,
  /** Filling of an all-gather or reduce-scatter that leaves the domain: reached beyond the ramp. */
  GATHER_FILL_US,
  GATHER_FILL_MIB,
  /** Reduction in the NVLink switch: base + S (1 + 1/n) / (share x bandwidth) + filling. */
  NVLS_BASE_US,
  NVLS_SHARE,
  /** The share left at 72 GPUs; between 8 and 72 it falls with the logarithm. */
  NVLS_RACK_SHARE,
  /** Filling: so much per rank, reached with messages beyond the ramp. */
  NVLS_RANK_US,
  NVLS_RAMP_MIB,
  /** From this many ranks on NCCL takes NVLS; 0 = the generation has none. */
  NVLS_RANKS,
  ALL_TO_ALL_FLOOR_US,
  ALL_TO_ALL_BASE_US,
  ALL_TO_ALL_PEER_US,
  ALL_TO_ALL_SHARE,
  ALL_TO_ALL_COPY_SHARE,
  ALL_TO_ALL_RAMP_US,
  ALL_TO_ALL_RAMP_MIB,
  SEND_BASE_US,
  SEND_SHARE,
  /** One channel of a point-to-point transfer, share of the link's bandwidth. */
  SEND_CHANNEL_SHARE,
  /** Channels from the start; they double when a channel would carry more than 16 MiB. */
  SEND_CHANNELS,
  /** One-shot and two-shot all-reduce kernels of inference libraries. */
  CUSTOM_BASE_US,
  CUSTOM_RANK_US,
  CUSTOM_ONE_SHOT_SHARE,
  CUSTOM_TWO_SHOT_US,
  CUSTOM_TWO_SHOT_SHARE,
  /** Expert exchange kernels: rank-unique bytes per second as a share of the link. */
  EXPERT_BASE_US,
  EXPERT_RANK_US,
  EXPERT_DISPATCH_SHARE,
  EXPERT_COMBINE_SHARE,
  /** Low-latency exchange inside a domain. */
  EXPERT_LOW_LATENCY_SHARE,
  /** One-domain kernels that copy straight into the expert's buffer. */
  EXPERT_HYBRID_DISPATCH_SHARE,
  EXPERT_HYBRID_COMBINE_SHARE,
  /** Kernels on symmetric memory, short messages: base + bytes received / (share x bandwidth). */
  SYMMETRIC_LL_BASE_US,
  SYMMETRIC_LL_SHARE,
  /** Long messages: base + wire bytes / (share x bandwidth). */
  SYMMETRIC_BASE_US,
  SYMMETRIC_SHARE,
  /** An all-reduce that the switch multicasts: S (1 + 1/n) / (share x bandwidth). */
  SYMMETRIC_MULTICAST_SHARE
}
