package dev.meshplan.study;

import dev.meshplan.plan.Estimate;
import dev.meshplan.plan.MemoryTerm;
import dev.meshplan.plan.StageMemory;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** How an estimate stands in a GPU's memory. */
final class AuditFit {
  private AuditFit() {}

  /**
   * The verdict.
   *
   * @param usable bytes that a process can use
   * @param lines gets the worst rank, all ranks, and the largest parts, as sentences
   */
  static AuditReport.Fit of(Estimate e, double usable, List<String> lines) {
    int worst = 0;
    for (int i = 1; i < e.memoryStages().size(); i++) {
      if (e.memoryStages().get(i).deviceBytes() > e.memoryStages().get(worst).deviceBytes()) {
        worst = i;
      }
    }
    lines.add(
        "pipeline rank "
            + worst
            + " needs "
            + Quantity.bytes(e.peakMemoryBytes())
            + " of "
            + Quantity.bytes(usable)
            + " usable ("
            + Quantity.percent(e.peakMemoryBytes() / usable)
            + ")");
    if (e.memoryStages().size() > 1) {
      lines.add("by pipeline rank: " + byRank(e.memoryStages()));
    }
    e.memoryTerms().stream()
        .sorted(Comparator.comparingDouble((MemoryTerm t) -> -t.bytes()))
        .limit(6)
        .forEach(t -> lines.add(t.id() + ": " + Quantity.bytes(t.bytes())));
    if (e.peakMemoryBytes() <= e.limitBytes()) {
      return AuditReport.Fit.FITS;
    }
    if (e.peakMemoryBytes() <= 1.02 * usable) {
      return AuditReport.Fit.TIGHT;
    }
    return AuditReport.Fit.DOES_NOT_FIT;
  }

  /** Device readings of the ranks in order, equal neighbours together. */
  private static String byRank(List<StageMemory> stages) {
    List<String> parts = new ArrayList<>();
    int from = 0;
    for (int i = 1; i <= stages.size(); i++) {
      String text = Quantity.bytes(stages.get(from).deviceBytes());
      if (i == stages.size() || !text.equals(Quantity.bytes(stages.get(i).deviceBytes()))) {
        parts.add((i - from > 1 ? i - from + " x " : "") + text);
        from = i;
      }
    }
    return String.join(", ", parts);
  }
}
