package dev.meshplan.view;

import dev.meshplan.formats.Finding;
import dev.meshplan.plan.RuleKind;
import dev.meshplan.study.AuditReport;
import dev.meshplan.units.Quantity;

/** An audit as text for a terminal. */
public final class AuditText {
  private AuditText() {}

  /** The report, gravest first. */
  public static String of(AuditReport r) {
    StringBuilder s = new StringBuilder();
    line(s, r.kind() + (r.plan() == null ? "" : ": " + r.plan().dims().text()));
    for (Finding f : r.findings()) {
      String word =
          f.kind() == RuleKind.ILLEGAL
              ? f.checked() ? "refused at start" : "fails later, not checked at start"
              : f.kind() == RuleKind.DOES_NOT_FIT ? "does not fit" : "kept apart";
      line(s, word + " [" + f.id() + "]: " + f.sentence());
      if (!f.says().isEmpty()) {
        line(s, "    the framework: " + f.says());
      }
      if (!f.cure().isEmpty()) {
        line(s, "    instead: " + f.cure());
      }
    }
    if (r.findings().isEmpty()) {
      line(s, "no rule is broken");
    }
    if (r.estimate() != null) {
      line(
          s,
          "a step should take "
              + Quantity.seconds(r.estimate().stepSeconds())
              + " ("
              + Quantity.count(r.estimate().tokensPerSecondPerGpu())
              + " tokens/s a GPU, MFU "
              + Quantity.percent(r.estimate().mfu())
              + ")");
      line(s, "memory: " + r.fit().key().replace('_', ' '));
      r.memory().forEach(m -> line(s, "    " + m));
      if (r.fit() == AuditReport.Fit.TIGHT) {
        line(s, "    TIGHT: above the safe share; allocator retries cost time, nodes may fail");
      }
    }
    r.crossings().forEach(c -> line(s, "crosses: " + c));
    if (r.best() != null) {
      line(s, "best: " + r.best().dims().text() + ", " + Quantity.seconds(r.bestStepSeconds()));
      if (!Double.isNaN(r.gain())) {
        line(
            s,
            r.gain() > r.band()
                ? "    " + Quantity.percent(r.gain()) + " of the step saved by:"
                : "    the difference of "
                    + Quantity.percent(r.gain())
                    + " is inside the error band");
      }
      r.changes().forEach(c -> line(s, "    " + c));
    }
    r.notes().forEach(n -> line(s, "note: " + n));
    return s.toString();
  }

  private static void line(StringBuilder s, String text) {
    s.append(text).append('\n');
  }
}
