package dev.meshplan.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.estimate.MemoryBand;
import dev.meshplan.estimate.MemoryVerdict;
import dev.meshplan.plan.Catalog;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVRecord;
import org.junit.jupiter.api.Test;

/** Predicted memory against what published runs print. */
class MemoryAccuracyTest {
  private static final MemoryAccuracy ACCURACY = MemoryAccuracy.of(rows(), Catalog.open(null));

  private static List<Map<String, String>> rows() {
    List<Map<String, String>> rows = new ArrayList<>();
    try (Reader reader =
        new InputStreamReader(
            Objects.requireNonNull(
                MemoryAccuracyTest.class.getResourceAsStream("/measured/memory_runs.csv")),
            StandardCharsets.UTF_8)) {
      CSVFormat format = CSVFormat.DEFAULT.builder().setHeader().setSkipHeaderRecord(true).get();
      for (CSVRecord record : format.parse(reader)) {
        rows.add(record.toMap());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return rows;
  }

  private static MemoryAccuracy.Summary of(String reading) {
    return ACCURACY.errors().stream()
        .filter(s -> s.reading().equals(reading) && s.source().isEmpty())
        .findFirst()
        .orElseThrow();
  }

  private static void within(String reading, int runs, double median, double p90) {
    MemoryAccuracy.Summary s = of(reading);
    assertTrue(s.runs() >= runs, s.toString());
    assertTrue(s.median() <= median && s.p90() <= p90, s.toString());
    assertTrue(Math.abs(s.bias()) <= 0.05, s.toString());
  }

  @Test
  void errorsByReadingStayInsideTheirBars() {
    within("allocator", 45, 0.04, 0.10);
    within("reserved", 19, 0.06, 0.14);
    within("device", 50, 0.08, 0.16);
  }

  @Test
  void runsThatRanAreNotCalledOutOfMemory() {
    assertTrue(
        ACCURACY.falseAlarms().size() <= 0.01 * ACCURACY.judged(),
        ACCURACY.falseAlarms().toString());
  }

  @Test
  void runsThatFailedAreListedByName() {
    List<MemoryAccuracy.Run> failures = ACCURACY.failures();
    assertEquals(
        List.of("folding-019", "folding-020", "amd-019"),
        failures.stream().map(MemoryAccuracy.Run::id).toList());
    for (MemoryAccuracy.Run r : failures) {
      assertFalse(r.recomputeKnown() && r.verdict() == MemoryVerdict.FITS, r.toString());
    }
    assertEquals(MemoryVerdict.OUT_OF_MEMORY, failures.get(1).usualVerdict());
  }

  @Test
  void nearlyAllRunsWithKnownSettingsLieInTheirBand() {
    int in = 0;
    int all = 0;
    for (MemoryAccuracy.Run r : ACCURACY.runs()) {
      if (!Double.isNaN(r.relativeError()) && r.recomputeKnown()) {
        MemoryBand band = MemoryBand.of(r.reading());
        double ratio = r.measuredBytes() / r.predictedBytes() - 1;
        in += ratio >= band.low() && ratio <= band.high() ? 1 : 0;
        all++;
      }
    }
    assertTrue(in >= 0.9 * all, in + " of " + all);
  }

  @Test
  void everyRunIsPredictedOrSaysWhyNot() {
    int skipped = 0;
    for (MemoryAccuracy.Run r : ACCURACY.runs()) {
      assertEquals(Double.isNaN(r.predictedBytes()), !r.skippedReason().isEmpty(), r.id());
      skipped += r.skippedReason().isEmpty() ? 0 : 1;
    }
    assertTrue(skipped <= 0.1 * ACCURACY.runs().size());
  }

  @Test
  void theLaterStageOfATwoStageRunIsPredictedToo() throws Unpriced {
    Map<String, double[]> measured =
        Map.of(
            "simumax-001", new double[] {66.55, 62.97},
            "simumax-006", new double[] {31.58, 44.70});
    for (Map<String, String> cells : rows()) {
      double[] stages = measured.get(cells.get("id"));
      if (stages == null) {
        continue;
      }
      Catalog catalog = Catalog.open(null);
      RunReplay run = RunReplay.of(MemoryRow.fill(new RunRow(cells), catalog), catalog);
      var predicted = MemoryReplay.model(run).stages(run.candidate(), run.layout());
      for (int i = 0; i < stages.length; i++) {
        double gib = predicted.get(i).allocatorBytes() / dev.meshplan.units.Quantity.GIB;
        assertEquals(stages[i], gib, 0.02 * stages[i], cells.get("id") + " stage " + i);
      }
    }
  }
}
