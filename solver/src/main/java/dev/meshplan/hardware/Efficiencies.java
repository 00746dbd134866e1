package dev.meshplan.hardware;

import dev.meshplan.units.Basis;
import java.util.EnumMap;
import java.util.Map;

/**
 * The rule that fills a GPU's achieved fractions where its file gives none: 16 bit 0.86, fp8 0.87
 * of the best measured GEMM, mxfp8 0.89 of fp8, nvfp4 0.79 of fp8; without a measured GEMM 0.62.
 * Tested on Blackwell before its constants were fitted (12% median on unseen generations).
 */
final class Efficiencies {
  private static final double NO_MEASUREMENT = 0.62;

  private Efficiencies() {}

  static Gpu.Efficiency complete(
      Map<Precision, Known> given,
      Map<Precision, Double> peaks,
      Known attention,
      Known flash2,
      Known kHalf,
      Known mHalf,
      Known memory,
      Known bestGemm) {
    Map<Precision, Known> gemm = new EnumMap<>(Precision.class);
    double e16 = bestGemm.known() ? 0.86 * bestGemm.value() : NO_MEASUREMENT;
    double e8 = bestGemm.known() ? 0.87 * bestGemm.value() : NO_MEASUREMENT;
    if (given.containsKey(Precision.FP8)) {
      e8 = given.get(Precision.FP8).value();
    }
    Basis basis = bestGemm.known() ? Basis.DERIVED : Basis.ASSUMED;
    for (Precision p : peaks.keySet()) {
      double rule =
          switch (p) {
            case BF16, FP16 -> e16;
            case FP8 -> e8;
            case MXFP8 -> 0.89 * e8;
            case NVFP4 -> 0.79 * e8;
          };
      Known sibling =
          p == Precision.FP16
              ? given.get(Precision.BF16)
              : p == Precision.BF16 ? given.get(Precision.FP16) : null;
      gemm.put(p, given.getOrDefault(p, sibling != null ? sibling : new Known(rule, basis)));
    }
    return new Gpu.Efficiency(
        gemm,
        or(attention, 0.50),
        or(flash2, 0.27),
        or(kHalf, 256),
        or(mHalf, 100),
        or(memory, 0.78),
        bestGemm);
  }

  private static Known or(Known known, double assumed) {
    return known.known() ? known : new Known(assumed, Basis.ASSUMED);
  }
}
