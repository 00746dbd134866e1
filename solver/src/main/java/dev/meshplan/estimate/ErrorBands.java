package dev.meshplan.estimate;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.model.Model;
import dev.meshplan.plan.ErrorBand;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Training;
import java.util.List;

/**
 * How far a measured step may lie from an estimate: the 90th percentile of the nearest kind of
 * runs.
 */
public final class ErrorBands {
  private static final double DENSE = 0.12;
  private static final double MOE = 0.22;
  private static final double UNKNOWN_DENSE = 0.25;
  private static final double UNKNOWN_MOE = 0.35;

  /**
   * Two plans on one machine that differ by less are a tie: the order of runs is noise below it.
   */
  private static final double PAIRED = 0.03;

  private static final double WIDER = 0.10;
  private static final List<String> MOVING =
      List.of("recompute", "vpp", "dispatcher", "cuda_graph");

  private ErrorBands() {}

  /** The band of a step time. */
  public static ErrorBand of(Model model, Training training, Machine machine, long gpus) {
    Gpu.Architecture a = machine.gpu().architecture();
    boolean known =
        a == Gpu.Architecture.AMPERE
            || a == Gpu.Architecture.HOPPER
            || a == Gpu.Architecture.BLACKWELL;
    double band = model.moe() ? (known ? MOE : UNKNOWN_MOE) : known ? DENSE : UNKNOWN_DENSE;
    String kind = a.key() + ", " + (model.moe() ? "MoE" : "dense");
    return new ErrorBand(-band, band, known ? kind : "outside the validated range", known);
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

  /** The band of the difference between two plans on one machine. */
  public static double paired(Model model) {
    return PAIRED;
  }
}
