package dev.meshplan.estimate;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Era;
import dev.meshplan.plan.ErrorBand;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Training;
import java.util.List;
import java.util.Locale;

/**
 * How far a measured step may lie from an estimate. Source: nine in ten published runs of the same
 * kind lie inside, each predicted with its own source left out of the fit.
 */
public final class ErrorBands {
  /** Recipes that only one source shows, and compilers: wider on any GPU. */
  private static final double RARE_ERA = 0.21;

  private static final double UNKNOWN_DENSE = 0.25;
  private static final double UNKNOWN_MOE = 0.35;
  private static final double WIDER = 0.10;
  private static final int BEYOND = 4;

  /** Median difference between predicted and measured ratio of two plans of one sweep. */
  private static final double PAIRED = 0.05;

  private static final List<String> MOVING =
      List.of("recompute", "vpp", "dispatcher", "cuda_graph");

  /**
   * One kind of runs.
   *
   * @param share nine in ten lie within
   * @param mostGpus of its largest run
   */
  private record Kind(
      Gpu.Architecture architecture, boolean moe, boolean sixteenBit, double share, int mostGpus) {}

  private static final List<Kind> KINDS =
      List.of(
          new Kind(Gpu.Architecture.AMPERE, false, true, 0.20, 3072),
          new Kind(Gpu.Architecture.HOPPER, false, true, 0.10, 2048),
          new Kind(Gpu.Architecture.HOPPER, false, false, 0.12, 10752),
          new Kind(Gpu.Architecture.HOPPER, true, true, 0.16, 1024),
          new Kind(Gpu.Architecture.HOPPER, true, false, 0.20, 1024),
          new Kind(Gpu.Architecture.BLACKWELL, false, true, 0.12, 64),
          new Kind(Gpu.Architecture.BLACKWELL, false, false, 0.12, 256),
          new Kind(Gpu.Architecture.BLACKWELL, true, true, 0.14, 256),
          new Kind(Gpu.Architecture.BLACKWELL, true, false, 0.22, 256));

  private ErrorBands() {}

  /** The band of a step time on so many GPUs. */
  public static ErrorBand of(Model model, Training training, Machine machine, long gpus) {
    boolean moe = model.moe();
    boolean sixteen = training.precision().sixteenBit();
    Gpu.Architecture a = machine.gpu().architecture();
    for (Kind k : KINDS) {
      if (k.architecture == a && k.moe == moe && k.sixteenBit == sixteen) {
        double share = rare(training.era()) ? Math.max(k.share, RARE_ERA) : k.share;
        String name =
            String.format(
                Locale.ROOT,
                "%s, %s, %s",
                a.key(),
                moe ? "MoE" : "dense",
                sixteen ? "16 bit" : "8 or 4 bit");
        if (gpus <= (long) BEYOND * k.mostGpus) {
          return new ErrorBand(-share, share, name, true);
        }
        share += WIDER;
        return new ErrorBand(
            -share,
            share,
            "outside the validated range: " + name + " was measured up to " + k.mostGpus + " GPUs",
            false);
      }
    }
    double share = moe ? UNKNOWN_MOE : UNKNOWN_DENSE;
    return new ErrorBand(
        -share,
        share,
        "outside the validated range: no measured "
            + (moe ? "MoE" : "dense")
            + " runs on "
            + a.key(),
        false);
  }

  private static boolean rare(Era era) {
    return switch (era) {
      case YAFSDP_2024, INTERNEVO_2023, XLA_2024, TORCH_TE_2025 -> true;
      default -> false;
    };
  }

  /**
   * The same band, wider where settings that move the step time were filled from defaults:
   * recompute, virtual stages, dispatcher, CUDA graph.
   *
   * @param assumed keys that were filled in
   */
  public static ErrorBand widened(ErrorBand band, List<String> assumed) {
    for (String key : MOVING) {
      if (assumed.contains(key)) {
        return new ErrorBand(
            band.low() - WIDER,
            band.high() + WIDER,
            band.kind() + ", recipe in part assumed",
            band.validated());
      }
    }
    return band;
  }

  /**
   * The band of the ratio of two plans on one machine, from the sweeps among the measured runs:
   * plans nearer than this are a tie.
   */
  public static double paired(Model model) {
    return PAIRED;
  }
}
