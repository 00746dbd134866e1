package dev.meshplan.cli;

import dev.meshplan.study.StepCalibration;
import dev.meshplan.units.Quantity;
import java.util.Locale;

/** Says what a measured step taught. */
final class StepCalibrationText {
  private StepCalibrationText() {}

  static String of(StepCalibration.Result r) {
    StringBuilder s = new StringBuilder();
    line(
        s,
        "measured %s, predicted %s (%+.1f%%)",
        Quantity.seconds(r.measuredSeconds()),
        Quantity.seconds(r.predictedSeconds()),
        100 * (r.predictedSeconds() / r.measuredSeconds() - 1));
    for (StepCalibration.Constant c : r.constants()) {
      line(
          s,
          "  efficiency.%-18s %8s  moves the step by %5.2f%% per percent, %s",
          c.key(),
          Quantity.digits(c.before()),
          c.sensitivity(),
          Double.isNaN(c.surprise())
              ? "can't explain it"
              : String.format(Locale.ROOT, "%.1f times its usual error", c.surprise()));
    }
    if (r.key() == null) {
      line(s, "nothing moved: %s", r.why());
    } else {
      line(
          s,
          "moved efficiency.%s of %s from %s to %s: %s",
          r.key(),
          r.gpu(),
          Quantity.digits(r.before()),
          Quantity.digits(r.after()),
          r.why());
    }
    if (r.measuredBytes() > 0) {
      line(
          s,
          "memory: measured %s, predicted %s; plan with limits.memory_share: %s",
          Quantity.bytes(r.measuredBytes()),
          Quantity.bytes(r.predictedBytes()),
          Quantity.digits(r.memoryShare()));
    }
    return s.toString();
  }

  private static void line(StringBuilder s, String format, Object... values) {
    s.append(String.format(Locale.ROOT, format, values)).append("\n");
  }
}
