package dev.meshplan.study;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.meshplan.estimate.Prototype;
import dev.meshplan.plan.Catalog;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Eight published runs whose step time was worked out by hand-checked arithmetic. */
class StepTimeExamplesTest {
  private static final Catalog CATALOG = Catalog.open(null);

  /**
   * Predicted seconds of the worked example; micro-batch and virtual stages where it gives them.
   */
  private static final String EXAMPLES =
      """
      dgxc-144,14.67,,
      dgxc-075,2.855,,
      llmf-001,16.53,,
      sc21-008,36.73,1,2
      mb-067,65.0,,
      mb-087,33.6,,
      mb-024,14.15,,
      yafsdp-032,9.31,,
      """;

  @ParameterizedTest
  @CsvSource(textBlock = EXAMPLES)
  void theWorkedExamplesComeOutWithTheirOwnConstants(
      String id, double seconds, String micro, String virtual) throws Unpriced {
    RunReplay r = RunReplay.of(run(id, micro, virtual), CATALOG);
    double predicted =
        Prototype.of(r.model(), r.training(), r.machine(), r.usualPort())
            .seconds(r.candidate(), r.layout(), r.spread());
    assertEquals(seconds, predicted, 0.03 * seconds);
  }

  @ParameterizedTest
  @CsvSource(textBlock = EXAMPLES)
  void theWorkedExamplesStayNearWithTheCommunicationModel(
      String id, double seconds, String micro, String virtual) throws Unpriced {
    RunReplay r = RunReplay.of(run(id, micro, virtual), CATALOG);
    assertEquals(seconds, r.seconds(), 0.06 * seconds);
  }

  private static RunRow run(String id, String micro, String virtual) {
    Map<String, String> cells = new HashMap<>(MeasuredRuns.open(id));
    if (micro != null) {
      cells.put("mbs", micro);
      cells.put("vpp", virtual);
    }
    return new RunRow(cells);
  }
}
