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
      case MEGATRON_2026B -> newest(1, 1, 0.79, 0.9, Basis.FITTED);
      case MEGATRON_2026A -> newest(1, 1, 1.02, 0.9, Basis.FITTED);
      case MEGATRON_2025 -> newest(1, 1, 0.93, 1, Basis.FITTED);
      case NEMO_2025 -> newest(0.95, 1.05, 0.93, 1, Basis.ASSUMED);
      case NEMO_2024 ->
          new EraProfile(
              Kernel.NEWEST,
              0.85,
              1.15,
              0.93,
              1.1,
              1,
              10,
              6,
              1,
              1.1,
              1,
              false,
              false,
              Basis.ASSUMED);
      case TORCH_TE_2025 ->
          new EraProfile(
              Kernel.NEWEST,
              0.95,
              0.95,
              0.93,
              1.2,
              1.2,
              14,
              10,
              0.33,
              1.2,
              1,
              false,
              false,
              Basis.FITTED);
      case TORCH_2025 -> torch(1.9, 1.2, 0.33, Basis.FITTED);
      case YAFSDP_2024 -> torch(1.9, 1.2, 0.41, Basis.FITTED_ON_ONE_SOURCE);
      case TORCH_2023 -> torch(2.0, 1.4, 0.33, Basis.FITTED);
      case INTERNEVO_2023 ->
          new EraProfile(
              Kernel.FLASH2,
              1,
              2.0,
              0.93,
              1.2,
              1.4,
              14,
              10,
              1,
              1.2,
              1.16,
              false,
              true,
              Basis.FITTED_ON_ONE_SOURCE);
      case XLA_2024 ->
          new EraProfile(
              Kernel.NEWEST, 0.85, 1.2, 0.93, 0, 1, 10, 6, 1, 1.2, 1, false, false, Basis.ASSUMED);
      case MEGATRON_2021 -> unfused(0.15, 1, true, Basis.FITTED);
      case MEGATRON_DEEPSPEED_2022 -> unfused(0.15, 1.23, false, Basis.FITTED);
    };
  }

  private static EraProfile newest(
      double attention, double elementwise, double expert, double host, Basis basis) {
    return new EraProfile(
        Kernel.NEWEST, attention, elementwise, expert, host, 1, 8, 6, 1, 1, 1, false, false, basis);
  }

  private static EraProfile torch(double elementwise, double kernels, double network, Basis basis) {
    return new EraProfile(
        Kernel.FLASH2,
        1,
        elementwise,
        0.93,
        1.2,
        kernels,
        14,
        10,
        network,
        1.2,
        1,
        false,
        false,
        basis);
  }

  private static EraProfile unfused(
      double network, double stack, boolean scatterGather, Basis basis) {
    return new EraProfile(
        Kernel.UNFUSED,
        1,
        1.36,
        0.93,
        1.2,
        1.6,
        12,
        8,
        network,
        1.3,
        stack,
        scatterGather,
        false,
        basis);
  }
}
