package dev.meshplan.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.InputException;
import dev.meshplan.plan.Catalog;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;

/** Predictions against more than two thousand measured runs. */
class RunAccuracyTest {
  private static final Catalog CATALOG = Catalog.open(null);
  private static final RunAccuracy.Report OPEN =
      RunAccuracy.replay("runs.csv", MeasuredRuns.text("runs.csv"), CATALOG);

  private static RunSummary.Line line(RunAccuracy.Report report, String by, String group) {
    return report.summary().stream()
        .filter(l -> l.quantity().equals("time") && l.by().equals(by) && l.group().equals(group))
        .findFirst()
        .orElseThrow();
  }

  private static void within(RunSummary.Line l, double median, double p90) {
    assertTrue(l.median() <= median && l.p90() <= p90, l.toString());
  }

  @Test
  void everyRunIsThereAndNineTenthsOfThoseToScoreArePriced() {
    List<RunAccuracy.Row> time =
        OPEN.rows().stream().filter(r -> r.quantity().equals("time")).toList();
    assertEquals(MeasuredRuns.rows("runs.csv").size(), time.size());
    long excluded =
        time.stream()
            .filter(r -> r.skippedReason() != null && r.skippedReason().startsWith("excluded: "))
            .count();
    long priced = time.stream().filter(r -> r.skippedReason() == null).count();
    assertEquals(218, excluded);
    assertTrue(priced >= 0.9 * (time.size() - excluded), priced + " priced");
    for (RunAccuracy.Row r : OPEN.rows()) {
      assertEquals(r.skippedReason() == null, !Double.isNaN(r.relativeError()), r.id());
    }
  }

  @Test
  void stepTimesOfAllOpenRunsAreWithinTheBars() {
    within(line(OPEN, "all", "all"), 0.05, 0.15);
    within(line(OPEN, "kind", "dense"), 0.045, 0.13);
    within(line(OPEN, "kind", "moe"), 0.09, 0.25);
    for (RunSummary.Line l : OPEN.summary()) {
      if (l.quantity().equals("time") && l.by().equals("family") && l.rows() >= 10) {
        assertTrue(l.median() <= 0.12, l.toString());
      }
    }
    for (String system :
        List.of("hgx-a100-80", "hgx-a100-40", "hgx-h100", "hgx-b200", "gb200-nvl72")) {
      assertTrue(Math.abs(line(OPEN, "system", system).bias()) <= 0.05, system);
    }
  }

  @Test
  void smallKernelRunsAreWithinTheirBar() {
    String file = "vtrain_single_node_runs.csv";
    RunAccuracy.Report report = RunAccuracy.replay(file, MeasuredRuns.text(file), CATALOG);
    RunSummary.Line all = line(report, "all", "all");
    assertEquals(1440, all.rows());
    assertTrue(all.median() <= 0.15, all.toString());
  }

  @Test
  void thePickOfASweepLosesLittle() {
    List<RunRanking.Line> sweeps = OPEN.ranking();
    assertTrue(sweeps.size() >= 15, sweeps.size() + " sweeps");
    double median =
        sweeps.stream()
            .map(RunRanking.Line::regret)
            .sorted(Comparator.naturalOrder())
            .toList()
            .get(sweeps.size() / 2);
    assertTrue(median <= 0.03, "median regret " + median);
    for (RunRanking.Line l : sweeps) {
      if (l.spread() >= 1.5) {
        assertTrue(l.pairs() >= 0.85, l.toString());
      }
    }
  }

  @Test
  void runsWhoseRecomputeIsUnknownHaveARange() {
    for (RunAccuracy.Row r : OPEN.rows()) {
      if (r.quantity().equals("time") && r.assumed().contains("recompute") && r.predicted() > 0) {
        assertTrue(
            r.low() <= r.predicted() * (1 + 1e-9) && r.predicted() <= r.high() * (1 + 1e-9),
            r.toString());
      }
    }
  }

  @Test
  void neitherIdNorSourceNorNotesMoveAPrediction() {
    for (String id : List.of("mb-087", "yafsdp-032", "internevo-001", "bloom-031")) {
      var cells = new java.util.HashMap<>(MeasuredRuns.open(id));
      double before = predicted(cells);
      cells.put("id", "x-1");
      cells.put("source", "");
      cells.put("notes", "");
      assertEquals(before, predicted(cells), 0, id);
    }
  }

  private static double predicted(java.util.Map<String, String> cells) {
    try {
      return RunReplay.of(new RunRow(cells), CATALOG).seconds();
    } catch (Unpriced e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aModelAndASystemOutsideTheCatalogAreReadFromTheirColumns() {
    String csv =
        "id,model,layers,hidden,ffn,heads,kv_heads,vocab,gated_mlp,hardware,gpus_per_node,gpus,tp,pp,cp,mbs,gbs,seq_len,precision,recompute,step_time_s,system,network_id,era,excluded\n"
            + "a-1,nobody-7b,32,4096,11008,32,32,32000,yes,h100-sxm-80gb,8,64,2,1,1,1,256,4096,bf16,none,4,some-cloud-h100,roce-300g,megatron-2025,\n"
            + "a-2,nobody-7b,,,,,,,,h100-sxm-80gb,8,64,2,1,1,1,256,4096,bf16,none,4,hgx-h100,,megatron-2025,\n"
            + "a-3,nobody-7b,32,4096,11008,32,32,32000,yes,h100-sxm-80gb,8,64,2,1,1,1,256,4096,bf16,none,4,hgx-h100,,megatron-2025,time:"
            + " a reason\n";
    List<RunAccuracy.Row> rows = RunAccuracy.replay("x.csv", csv, CATALOG).rows();
    assertNull(rows.get(0).skippedReason());
    assertTrue(rows.get(0).assumed().contains("system"), rows.get(0).toString());
    assertTrue(rows.get(0).predicted() > 1 && rows.get(0).predicted() < 10);
    assertEquals("layers not given", rows.get(1).skippedReason());
    assertEquals("excluded: time: a reason", rows.get(2).skippedReason());
    assertTrue(Double.isNaN(rows.get(2).relativeError()));
  }

  @Test
  void noCellCanBreakAReplay() {
    List<RunRow> rows = MeasuredRuns.rows("runs.csv");
    List<String> columns = List.copyOf(new java.util.TreeSet<>(rows.get(0).cells().keySet()));
    String[] values = {"", "0", "-1", "x", "1e12", "3", "0.5", "yes", "mla", "full"};
    java.util.Random random = new java.util.Random(7);
    for (int n = 0; n < 3000; n++) {
      var cells = new java.util.HashMap<>(rows.get(random.nextInt(rows.size())).cells());
      cells.put("excluded", "");
      for (int i = 0; i <= n % 3; i++) {
        cells.put(
            columns.get(random.nextInt(columns.size())), values[random.nextInt(values.length)]);
      }
      try {
        double seconds = RunReplay.of(new RunRow(cells), CATALOG).seconds();
        assertTrue(seconds > 0 && seconds < Double.POSITIVE_INFINITY, cells.toString());
      } catch (Unpriced | dev.meshplan.hardware.NoCostModel e) {
        assertFalse(e.getMessage().isEmpty());
      }
    }
  }

  @Test
  void bandsHoldWhatTheyPromise() {
    int in = 0;
    int all = 0;
    for (RunAccuracy.Row r : OPEN.rows()) {
      if (r.quantity().equals("time") && r.skippedReason() == null) {
        assertNotNull(r.band(), r.id());
        double off = r.measured() / r.predicted() - 1;
        all++;
        in += off >= r.band().low() && off <= r.band().high() ? 1 : 0;
      }
    }
    assertTrue(in >= 0.9 * all, in + " of " + all);
    assertFalse(in == all, "a band that holds everything says nothing");
  }

  @Test
  void aFileWithoutTheColumnsIsRefused() {
    InputException e =
        Assertions.assertThrows(
            InputException.class, () -> RunAccuracy.replay("x.csv", "id,model\na,b\n", CATALOG));
    assertEquals("gpus", e.errors().get(0).key());
  }
}
