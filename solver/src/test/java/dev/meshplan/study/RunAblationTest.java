package dev.meshplan.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.plan.Catalog;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What each effect of the step time is worth. */
class RunAblationTest {
  private static final List<RunAblation.Line> LINES =
      RunAblation.of("runs.csv", MeasuredRuns.text("runs.csv"), Catalog.open(null)).lines();

  @Test
  void theWholeModelComesFirstAndMovesNothing() {
    assertEquals("nothing", LINES.get(0).removed());
    assertEquals(0, LINES.get(0).moved());
    assertEquals(923, LINES.get(0).rows());
  }

  @Test
  void everyEffectMovesRunsAndNoneThatIsRemovedHelpsMuch() {
    double whole = LINES.get(0).median();
    for (RunAblation.Line l : LINES.subList(1, LINES.size())) {
      assertTrue(l.moved() > 0, l.toString());
      assertTrue(l.median() >= whole - 0.003, l.toString());
    }
  }

  @Test
  void whichSoftwareRanIsWorthMost() {
    double most = LINES.stream().mapToDouble(RunAblation.Line::median).max().orElseThrow();
    RunAblation.Line eras =
        LINES.stream().filter(l -> l.removed().startsWith("software")).findFirst().orElseThrow();
    assertEquals(most, eras.median(), 0);
    assertTrue(eras.median() >= 2 * LINES.get(0).median(), eras.toString());
  }
}
