package dev.meshplan.estimate;

import dev.meshplan.plan.Era;
import dev.meshplan.units.Basis;

/**
 * How fast the software of an era is, relative to the newest Megatron stack. Source: fitted to the
 * measured set, one record per stack and date; see {@code basis}.
 *
 * @param attention kernel of the attention core
 * @param attentionShare of the kernel's efficiency that the stack reaches
 * @param elementwise factor on element-wise bytes (1 = fused kernels)
 * @param expert factor on the time of the expert block's kernels
 * @param host factor on the time the CPU needs to launch a layer; 0 = compiled
 * @param kernels factor on the number of kernels per layer
 * @param lossForwardBytes bytes per logit of the loss
 * @param lossBackwardBytes bytes per logit of its gradient
 * @param shardedNetworkShare share of the system's usual NIC that weight gathering reaches
 * @param optimizer factor on the optimizer's memory traffic
 * @param stack factor on the whole step
 * @param scatterGather pipeline sends are split over TP ranks even without sequence parallelism
 * @param shardByBroadcast ZeRO-1 sends updated weights shard by shard
 * @param basis of the fitted factors
 */
public record EraProfile(
    Kernel attention,
    double attentionShare,
    double elementwise,
    double expert,
    double host,
    double kernels,
    double lossForwardBytes,
    double lossBackwardBytes,
    double shardedNetworkShare,
    double optimizer,
    double stack,
    boolean scatterGather,
    boolean shardByBroadcast,
    Basis basis) {

  /** Expert factor of stacks without records of their own: that of Megatron and NeMo in 2025. */
  private static final double EXPERT = 0.968;

  /** Generations of attention kernels. */
  public enum Kernel {
    /** The best fused kernel of the GPU (cuDNN, FlashAttention-3). */
    NEWEST,
    FLASH2,
    /** Separate kernels that store the scores. */
    UNFUSED
  }

  /** Megatron stacks, whose GEMMs can accumulate gradients themselves. */
  boolean fusesGradients() {
    return shardedNetworkShare == 1 && host > 0 && !shardByBroadcast;
  }

  /** The profile of an era. */
  public static EraProfile of(Era era) {
    return switch (era) {
      case MEGATRON_2026B -> newest(1, 0.983, 0.817, 0.9, 8, 1, Basis.FITTED);
      case MEGATRON_2026A -> newest(1, 0.983, 0.92, 0.9, 8, 1, Basis.FITTED);
      case MEGATRON_2025 -> newest(1, 0.983, 0.968, 1, 8, 1, Basis.FITTED);
      case NEMO_2025 -> newest(0.955, 1.02, 0.968, 1, 8, 1, Basis.FITTED);
      case NEMO_2024 -> newest(0.839, 1.25, 0.968, 1.1, 10, 1.1, Basis.FITTED);
      case TORCH_TE_2025 -> torch(Kernel.NEWEST, 0.95, 0.931, 1.2, Basis.FITTED_ON_ONE_SOURCE);
      case TORCH_2025 -> torch(Kernel.FLASH2, 1, 2, 1.2, Basis.FITTED);
      case YAFSDP_2024 -> torch(Kernel.FLASH2, 1, 2, 1.2, Basis.FITTED);
      case TORCH_2023 -> torch(Kernel.FLASH2, 1, 2, 1.4, Basis.FITTED);
      case INTERNEVO_2023 ->
          new EraProfile(
              Kernel.FLASH2,
              1,
              2,
              EXPERT,
              1.2,
              1.4,
              14,
              10,
              1,
              1.2,
              1.12,
              false,
              true,
              Basis.FITTED_ON_ONE_SOURCE);
      case XLA_2024 ->
          new EraProfile(
              Kernel.NEWEST,
              0.85,
              1.26,
              EXPERT,
              0,
              1,
              10,
              6,
              1,
              1.2,
              1,
              false,
              false,
              Basis.ASSUMED);
      case MEGATRON_2021 -> unfused(1, true);
      case MEGATRON_DEEPSPEED_2022 -> unfused(1.27, false);
    };
  }

  private static EraProfile newest(
      double attention,
      double elementwise,
      double expert,
      double host,
      double lossBytes,
      double optimizer,
      Basis basis) {
    return new EraProfile(
        Kernel.NEWEST,
        attention,
        elementwise,
        expert,
        host,
        1,
        lossBytes,
        6,
        1,
        optimizer,
        1,
        false,
        false,
        basis);
  }

  private static EraProfile torch(
      Kernel kernel, double attention, double elementwise, double kernels, Basis basis) {
    return new EraProfile(
        kernel,
        attention,
        elementwise,
        EXPERT,
        1.2,
        kernels,
        14,
        10,
        0.345,
        1.2,
        1,
        false,
        false,
        basis);
  }

  private static EraProfile unfused(double stack, boolean scatterGather) {
    return new EraProfile(
        Kernel.UNFUSED,
        1,
        1.12,
        EXPERT,
        2.18,
        1.6,
        12,
        8,
        0.109,
        0.921,
        stack,
        scatterGather,
        false,
        Basis.FITTED);
  }
}
