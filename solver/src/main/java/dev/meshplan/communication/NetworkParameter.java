package dev.meshplan.communication;

import dev.meshplan.config.Keyed;

/**
 * Constants of collectives between domains; the keys may stand under {@code collectives} of a
 * network. Shares are of the bandwidth of the NICs that the ranks of one domain have together.
 */
public enum NetworkParameter implements Keyed {
  /** One way of a short message between two domains in a tree. */
  TREE_HOP_US,
  /** One hop of a ring with short-message protocol between domains. */
  RING_LL_HOP_US,
  /** One hop of a Simple ring between domains. */
  RING_HOP_US,
  /** What a tree with short-message protocol carries, GB/s. */
  TREE_LL_GBPS,
  /** What a ring with short-message protocol carries, GB/s. */
  RING_LL_GBPS,
  RING_SHARE,
  /** The same ring for all-gather and reduce-scatter. */
  GATHER_SHARE,
  TREE_SHARE,
  /** A tree passes a GPU's links up and down: its share of the link bandwidth. */
  TREE_LINK_SHARE,
  /** A ring that leaves the domain uses more channels: its share of the link bandwidth. */
  RING_LINK_SHARE,
  /** NICs through which rings and trees enter a domain at most. */
  RING_NICS,
  /** The same for all-gather and reduce-scatter. */
  GATHER_NICS,
  NVLS_TREE_BASE_US,
  /** Start of an NVLS tree, per rank of a domain. */
  NVLS_TREE_BASE_RANK_US,
  /** Filling of an NVLS tree between two domains, per rank of a domain. */
  NVLS_TREE_RANK_US,
  /** Filling of a tree that crosses domains, reached with messages beyond the ramp. */
  RAMP_US,
  RAMP_MIB,
  SHARP_BASE_US,
  SHARP_SHARE,
  ALL_TO_ALL_BASE_US,
  ALL_TO_ALL_PEER_US,
  /** Start of the large-message protocol, from the ramp on. */
  ALL_TO_ALL_RAMP_US,
  ALL_TO_ALL_RAMP_MIB,
  ALL_TO_ALL_SHARE,
  SEND_BASE_US,
  SEND_RAMP_US,
  SEND_SHARE,
  /** Remote writes of expert exchange kernels. */
  EXPERT_SHARE,
  EXPERT_BASE_US,
  EXPERT_DOUBLING_US,
  EXPERT_LOW_LATENCY_SHARE
}
