package dev.meshplan.view;

import dev.meshplan.plan.Estimate;
import dev.meshplan.plan.MemoryTerm;
import dev.meshplan.plan.StageMemory;
import dev.meshplan.plan.TimeTerm;
import dev.meshplan.units.Quantity;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** What a step costs and what a GPU holds, as tables. */
final class BillText {
  private static final int STAGES_SHOWN = 8;

  private final StringBuilder out = new StringBuilder();

  private BillText() {}

  /** Both tables of an estimate. */
  static String of(Estimate e) {
    BillText t = new BillText();
    t.bill(e);
    t.line("");
    t.memory(e);
    return t.out.toString();
  }

  private void bill(Estimate e) {
    line("Step bill                       exposed        link");
    for (TimeTerm t : e.timeTerms()) {
      if (t.linkSeconds() > 0 || t.exposedSeconds() != 0) {
        line(
            String.format(
                Locale.ROOT,
                "  %-24s %12s %11s  %5.1f%%",
                t.id(),
                Quantity.seconds(t.exposedSeconds()),
                Quantity.seconds(t.linkSeconds()),
                100 * t.exposedSeconds() / e.stepSeconds()));
      }
    }
  }

  private void memory(Estimate e) {
    line(
        "Memory per GPU (limit "
            + Quantity.bytes(e.limitBytes())
            + ")   allocated    reserved   on device");
    List<StageMemory> stages = e.memoryStages();
    StageMemory worst =
        stages.stream().max(Comparator.comparingDouble(StageMemory::deviceBytes)).orElseThrow();
    for (StageMemory m : stages) {
      boolean shown =
          stages.size() <= STAGES_SHOWN
              || m.stage() < 2
              || m.stage() >= stages.size() - 2
              || m.stage() == worst.stage();
      if (shown) {
        line(
            String.format(
                Locale.ROOT,
                "  stage %-4d%s %33s %11s %11s",
                m.stage(),
                m.stage() == worst.stage() ? " worst" : "      ",
                Quantity.bytes(m.allocatorBytes()),
                Quantity.bytes(m.reservedBytes()),
                Quantity.bytes(m.deviceBytes())));
      }
    }
    String top =
        e.memoryTerms().stream()
            .sorted(Comparator.comparingDouble(MemoryTerm::bytes).reversed())
            .limit(5)
            .map(m -> m.id() + " " + Quantity.bytes(m.bytes()))
            .collect(Collectors.joining(", "));
    line("  of the worst stage: " + top);
  }

  private void line(String text) {
    out.append(text).append('\n');
  }
}
