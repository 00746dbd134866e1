package dev.meshplan.estimate;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Known;
import dev.meshplan.hardware.Precision;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Training;
import dev.meshplan.units.Basis;
import java.util.EnumMap;
import java.util.Map;

/** The step-time model with the constants and the closed collectives of the worked examples. */
public final class Prototype {
  private static final StepConstants CONSTANTS =
      new StepConstants(
          new StepConstants.Gemms(0.90, 0.955, 8, 4, 12, 6.8, 5.1, 10.3, 4, 0.25),
          new StepConstants.Cores(0.85, 0.80, 2.5, 500, 0.9, 0.45, 10.4, 17),
          new StepConstants.Bytes(10, 12, 4, 6, 10, 4, 6, 4, 8, 8, 1.2, 123, 247, 59, 144, 6, 12),
          new StepConstants.Host(4.2e-6, 1.8, 0.30e-3, 3.3e-3, 0.18e-3, 1.09, 0.35, 0.88, 1.3),
          new StepConstants.Overlap(
              0.35, 0.5, 0.8, 0.03, 0.54, 0.17, 0.065, 25e-6, 7.5e-6, 0.9, 0.16, 2.6e-3),
          new StepConstants.Step(1.4, 0.1, 42, 4, 2e-3, 22e-3, 0, 0.0032, 0.0061));

  private Prototype() {}

  /** The model of a job on a machine. */
  public static StepTimeModel of(
      Model model, Training training, Machine machine, double usualPort) {
    Machine m =
        new Machine(machine.pool(), machine.system(), gpu(machine.gpu()), machine.network());
    EraProfile era = era(training);
    return new StepTimeModel(
        model,
        training,
        m,
        era,
        CONSTANTS,
        new PrototypeLinks(m, Double.POSITIVE_INFINITY),
        new PrototypeLinks(m, era.shardedNetworkShare() * usualPort));
  }

  private static EraProfile era(Training training) {
    return switch (training.era()) {
      case MEGATRON_2026B -> megatron(1, 1, .79, .9, 8, 1);
      case MEGATRON_2026A -> megatron(1, 1, 1.02, .9, 8, 1);
      case NEMO_2025 -> megatron(.95, 1.05, .93, 1, 8, 1);
      case NEMO_2024 -> megatron(.85, 1.15, .93, 1.1, 10, 1.1);
      case TORCH_2025 -> torch(1.9, 1.2);
      case TORCH_2023 -> torch(2.0, 1.4);
      case MEGATRON_2021 ->
          new EraProfile(
              EraProfile.Kernel.UNFUSED,
              1,
              1.36,
              .93,
              1.2,
              1.6,
              12,
              8,
              .15,
              1.3,
              1,
              true,
              false,
              Basis.FITTED);
      default -> throw new IllegalArgumentException("no worked example of " + training.era());
    };
  }

  private static EraProfile megatron(
      double attention,
      double elementwise,
      double expert,
      double host,
      double loss,
      double optimizer) {
    return new EraProfile(
        EraProfile.Kernel.NEWEST,
        attention,
        elementwise,
        expert,
        host,
        1,
        loss,
        6,
        1,
        optimizer,
        1,
        false,
        false,
        Basis.FITTED);
  }

  private static EraProfile torch(double elementwise, double kernels) {
    return new EraProfile(
        EraProfile.Kernel.FLASH2,
        1,
        elementwise,
        .93,
        1.2,
        kernels,
        14,
        10,
        .33,
        1.2,
        1,
        false,
        false,
        Basis.FITTED);
  }

  private static Gpu gpu(Gpu g) {
    return switch (g.id()) {
      case "a100-sxm-80" -> with(g, .85, .85, .85, .85, .62, .46, 130, 126);
      case "h100-sxm" -> with(g, .71, .67, .67, .67, .72, .27, 198, 102);
      case "b200-sxm" -> with(g, .60, .64, .57, .48, .46, .25, 333, 114);
      case "gb200" -> with(g, .63, .625, .545, .52, .52, .25, 266, 104);
      default -> throw new IllegalArgumentException("no worked example on " + g.id());
    };
  }

  private static Gpu with(
      Gpu g,
      double e16,
      double e8,
      double eMx,
      double e4,
      double attention,
      double flash2,
      double kHalf,
      double mHalf) {
    Map<Precision, Known> gemm = new EnumMap<>(Precision.class);
    gemm.put(Precision.BF16, fitted(e16));
    gemm.put(Precision.FP16, fitted(e16));
    gemm.put(Precision.FP8, fitted(e8));
    gemm.put(Precision.MXFP8, fitted(eMx));
    gemm.put(Precision.NVFP4, fitted(e4));
    Gpu.Efficiency e = g.efficiency();
    return new Gpu(
        g.id(),
        g.aliases(),
        g.name(),
        g.vendor(),
        g.architecture(),
        g.year(),
        g.status(),
        g.memoryBytes(),
        g.usableMemoryBytes(),
        g.memoryBandwidth(),
        g.peaks(),
        new Gpu.Efficiency(
            gemm,
            fitted(attention),
            fitted(flash2),
            fitted(kHalf),
            fitted(mHalf),
            e.memory(),
            e.bestGemm()),
        g.power(),
        g.sms(),
        g.sources(),
        g.notes());
  }

  private static Known fitted(double value) {
    return new Known(value, Basis.FITTED);
  }
}
