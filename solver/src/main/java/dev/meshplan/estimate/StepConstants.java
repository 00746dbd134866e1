package dev.meshplan.estimate;

/**
 * Constants of the step time that belong to no GPU and no era. Source: structure from the papers
 * named at each formula, values fitted to the measured set unless marked assumed.
 */
public record StepConstants(
    Gemms gemms, Cores cores, Bytes bytes, Host host, Overlap overlap, Step step) {

  /** The shipped values. */
  public static final StepConstants SHIPPED =
      new StepConstants(
          new Gemms(0.90, 0.956, 8, 4, 12, 6.88, 4.76, 10.1, 4, 0.25),
          new Cores(0.85, 0.80, 2.5, 500, 0.9, 0.536, 9.43, 15.8),
          new Bytes(10, 12, 4, 6, 10, 4, 6, 4, 8, 6.89, 1.2, 123, 247, 59, 144, 6, 12),
          new Host(3.71e-6, 1.8, 0.373e-3, 3.16e-3, 0.18e-3, 1.09, 0.35, 0.98, 1.16),
          new Overlap(
              0.266, 0.457, 0.8, 0.03, 0.486, 0.186, 0.0655, 25e-6, 7.5e-6, 0.9, 0.173, 2.6e-3),
          new Step(1.37, 0.1, 42, 4, 2e-3, 4e-3, 19e-3, 3.02e-3, 6.2e-3));

  /**
   * Matrix products.
   *
   * @param grouped efficiency of a grouped GEMM relative to a plain one (assumed)
   * @param backward efficiency of backward GEMMs relative to forward ones
   * @param gradientBytes per weight element to accumulate fp32 gradients
   * @param shardedGradientBytes the same where weights are gathered per micro-batch
   * @param unfusedGradientBytes more bytes when accumulation is a kernel of its own
   * @param castFp8 bytes per element cast, fp8 with one scale per tensor
   * @param castMxfp8 the same for mxfp8
   * @param castNvfp4 the same for nvfp4
   * @param weightCast bytes per weight element cast
   * @param router share of the 16-bit peak that the router GEMM reaches
   */
  public record Gemms(
      double grouped,
      double backward,
      double gradientBytes,
      double shardedGradientBytes,
      double unfusedGradientBytes,
      double castFp8,
      double castMxfp8,
      double castNvfp4,
      double weightCast,
      double router) {}

  /**
   * Attention cores.
   *
   * @param causal efficiency of a causal kernel relative to a full one (assumed)
   * @param backward efficiency of the backward kernel relative to forward (assumed)
   * @param backwardFlop FLOP of backward relative to forward (FlashAttention: 5 products for 2)
   * @param halfTokens local sequence at which a kernel reaches half its efficiency (assumed)
   * @param mla head-size factor of multi-head latent attention
   * @param unfused share of the peak of separate score kernels
   * @param unfusedForwardBytes bytes per score of separate kernels
   * @param unfusedBackwardBytes the same backward
   */
  public record Cores(
      double causal,
      double backward,
      double backwardFlop,
      double halfTokens,
      double mla,
      double unfused,
      double unfusedForwardBytes,
      double unfusedBackwardBytes) {}

  /**
   * Memory traffic, bytes per element of the width named, forward and backward.
   *
   * @param normForward per token and hidden element of a block: norm and residual
   * @param normBackward the same backward
   * @param rope per token and query or key element, both ways
   * @param gatedForward per token and MLP width
   * @param gatedBackward the same backward
   * @param plainForward per token and MLP width without a gate
   * @param plainBackward the same backward
   * @param routerForward per token and expert
   * @param routerBackward the same backward
   * @param permuteForward per token, copy and hidden element
   * @param permuteBackward relative to forward
   * @param clampForward clamped activation with bias in separate kernels, per row and width
   * @param clampBackward the same backward
   * @param scanForward recurrent scan per inner element and token
   * @param scanBackward the same backward
   * @param headForward final norm per token and hidden element
   * @param headBackward the same backward
   */
  public record Bytes(
      double normForward,
      double normBackward,
      double rope,
      double gatedForward,
      double gatedBackward,
      double plainForward,
      double plainBackward,
      double routerForward,
      double routerBackward,
      double permuteForward,
      double permuteBackward,
      double clampForward,
      double clampBackward,
      double scanForward,
      double scanBackward,
      double headForward,
      double headBackward) {}

  /**
   * Launches and the CPU.
   *
   * @param gapSeconds between two kernels
   * @param backward kernels of backward relative to forward
   * @param dense seconds the CPU needs for the forward of a dense layer
   * @param moe the same for a layer of experts without drops
   * @param single the same for a single mixer
   * @param grace factor on Grace hosts
   * @param partialDense what a partial graph leaves of a dense layer
   * @param partialMoe what it leaves of an expert layer with a deduplicating dispatcher
   * @param imbalance most loaded expert rank over the mean, real router
   */
  public record Host(
      double gapSeconds,
      double backward,
      double dense,
      double moe,
      double single,
      double grace,
      double partialDense,
      double partialMoe,
      double imbalance) {}

  /**
   * What compute hides.
   *
   * @param tensor exposed share of overlapped tensor traffic
   * @param regather exposed share of the gather that weight gradients need
   * @param contextShare share of the attention core that hides a ring step
   * @param contextAlways share of the ring that always shows
   * @param expert exposed share of an overlapped exchange
   * @param shardedMutual slowdown of gathering and compute running together
   * @param shardedAlways share of gathering that always shows
   * @param shardedCallSeconds per layer and call across domains
   * @param shardedCallInsideSeconds the same inside one
   * @param dataShare share of a micro-batch that hides gradient traffic
   * @param dataHidden what hidden gradient traffic still costs
   * @param broadcastSeconds per shard that is broadcast
   */
  public record Overlap(
      double tensor,
      double regather,
      double contextShare,
      double contextAlways,
      double expert,
      double shardedMutual,
      double shardedAlways,
      double shardedCallSeconds,
      double shardedCallInsideSeconds,
      double dataShare,
      double dataHidden,
      double broadcastSeconds) {}

  /**
   * Once per step.
   *
   * @param sends exposed sends per micro-batch of 1F1B
   * @param sendsOverlapped exposed share of overlapped sends
   * @param optimizerBytes per parameter that a rank updates
   * @param weightBytes per parameter of a rank to zero gradients and copy weights
   * @param optimizerSeconds fixed
   * @param fixedSeconds of a step on one node
   * @param acrossSeconds more on several nodes: data, logging, synchronisation
   * @param jitter growth per doubling of GPUs beyond 8
   * @param jitterFp8 the same with per-tensor scales (amax reductions)
   */
  public record Step(
      double sends,
      double sendsOverlapped,
      double optimizerBytes,
      double weightBytes,
      double optimizerSeconds,
      double fixedSeconds,
      double acrossSeconds,
      double jitter,
      double jitterFp8) {}
}
