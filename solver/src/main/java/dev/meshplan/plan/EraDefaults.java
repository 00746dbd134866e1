package dev.meshplan.plan;

/**
 * What a run of an era does where it does not say. Source: defaults of each stack's releases,
 * tested on the measured set (flipping one at a time).
 *
 * @param sequenceParallel norms and residuals split over TP
 * @param tpOverlap TP collectives hidden in GEMMs
 * @param ppOverlap pipeline sends and data-parallel traffic hidden
 * @param gradientType of accumulated and reduced gradients
 * @param sharding level 0 to 3
 * @param dispatcher of expert tokens
 * @param lossKernel cross entropy
 * @param gradientFusion weight gradients accumulated inside the GEMM
 */
public record EraDefaults(
    boolean sequenceParallel,
    boolean tpOverlap,
    boolean ppOverlap,
    GradientType gradientType,
    int sharding,
    Dispatcher dispatcher,
    LossKernel lossKernel,
    boolean gradientFusion) {

  /** The defaults of an era. */
  public static EraDefaults of(Era era) {
    return switch (era) {
      case MEGATRON_2026B, MEGATRON_2026A ->
          new EraDefaults(
              true, true, true, GradientType.BF16, 1, Dispatcher.DEDUPE, LossKernel.FUSED, true);
      case MEGATRON_2025 ->
          new EraDefaults(
              true, true, true, GradientType.BF16, 1, Dispatcher.NAIVE, LossKernel.FUSED, true);
      case NEMO_2025, NEMO_2024 ->
          new EraDefaults(
              true, true, true, GradientType.BF16, 1, Dispatcher.NAIVE, LossKernel.UNFUSED, true);
      case TORCH_TE_2025 ->
          new EraDefaults(
              true,
              false,
              true,
              GradientType.BF16,
              3,
              Dispatcher.DEDUPE,
              LossKernel.UNFUSED,
              false);
      case TORCH_2025, TORCH_2023, YAFSDP_2024 ->
          new EraDefaults(
              true, false, true, GradientType.BF16, 3, Dispatcher.NAIVE, LossKernel.UNFUSED, false);
      case INTERNEVO_2023 ->
          new EraDefaults(
              true, true, true, GradientType.BF16, 1, Dispatcher.NAIVE, LossKernel.UNFUSED, false);
      case XLA_2024 ->
          new EraDefaults(
              true, false, true, GradientType.BF16, 3, Dispatcher.NAIVE, LossKernel.FUSED, false);
      case MEGATRON_2021 ->
          new EraDefaults(
              false,
              false,
              false,
              GradientType.FP32,
              0,
              Dispatcher.NAIVE,
              LossKernel.UNFUSED,
              true);
      case MEGATRON_DEEPSPEED_2022 ->
          new EraDefaults(
              false,
              false,
              false,
              GradientType.BF16,
              1,
              Dispatcher.NAIVE,
              LossKernel.UNFUSED,
              true);
    };
  }

  /** The newest era of a framework. */
  public static Era newest(Framework framework) {
    return switch (framework) {
      case MEGATRON, ANY -> Era.MEGATRON_2026B;
      case DEEPSPEED -> Era.TORCH_2025;
      case TORCHTITAN -> Era.TORCH_TE_2025;
    };
  }
}
