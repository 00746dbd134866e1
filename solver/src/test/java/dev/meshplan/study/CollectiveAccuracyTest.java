package dev.meshplan.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.meshplan.config.InputException;
import dev.meshplan.config.Text;
import dev.meshplan.plan.Catalog;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CollectiveAccuracyTest {
  /**
   * One cluster that its publisher could not explain, and a box whose cards' places are not given.
   */
  private static final Set<String> KNOWN_MISSES = Set.of("hgx-h20", "a40-pcie-8");

  private static String measured() {
    try (InputStream in =
        CollectiveAccuracyTest.class.getResourceAsStream("/measured/collectives.csv")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static CollectiveAccuracy.Report replay() {
    return CollectiveAccuracy.replay("collectives.csv", measured(), Catalog.open(null));
  }

  @Test
  void everyRowIsListedAndAtLeastNineTenthsOfTheOthersArePriced() {
    CollectiveAccuracy.Report report = replay();
    assertEquals(2073, report.rows().size());
    long excluded =
        report.rows().stream()
            .filter(r -> r.skippedReason() != null && r.skippedReason().startsWith("excluded: "))
            .count();
    long priced = report.rows().stream().filter(r -> r.skippedReason() == null).count();
    assertEquals(18, excluded);
    assertTrue(priced >= 0.9 * (report.rows().size() - excluded), "priced " + priced);
  }

  @Test
  void errorsStayWithinTheBarsBySystem() {
    List<String> missed = new ArrayList<>();
    for (AccuracySummary.Line l : replay().summary()) {
      if (!l.collective().equals("all") || l.rows() == 0 || KNOWN_MISSES.contains(l.system())) {
        continue;
      }
      boolean small = l.sizeClass().equals("below_1_mib");
      boolean inside = l.scope().equals("inside");
      boolean kernels = l.scope().equals("kernels");
      double median = kernels || small ? 0.20 : inside ? 0.08 : 0.15;
      double p90 = kernels ? Double.POSITIVE_INFINITY : small ? 0.45 : inside ? 0.30 : 0.40;
      if (l.median() > median || l.p90() > p90) {
        missed.add(l.toString());
      }
    }
    assertEquals(List.of(), missed);
  }

  @Test
  void theEstimatorIsCloserThanThePlainRingAndTheLibrarysOwnModel() {
    for (AccuracySummary.Line l : replay().summary()) {
      if (l.collective().equals("all") && l.rows() > 5 && !l.scope().equals("kernels")) {
        assertTrue(l.median() < l.ringMedian(), l.toString());
        assertTrue(!(l.ncclMedian() <= l.median()), l.toString());
      }
    }
  }

  @Test
  void theJsonHasTheAgreedKeysAndNullsForSkippedRows() throws IOException {
    JsonNode json = new ObjectMapper().readTree(Text.json(replay()));
    JsonNode first = json.get("rows").get(0);
    List<String> keys = new ArrayList<>();
    first.fieldNames().forEachRemaining(keys::add);
    assertEquals(
        List.of(
            "id",
            "system",
            "collective",
            "bytes",
            "gpus",
            "measured",
            "predicted",
            "relative_error",
            "algorithm",
            "skipped_reason"),
        keys);
    assertTrue(first.get("skipped_reason").isNull());
    int nulls = 0;
    for (JsonNode row : json.get("rows")) {
      if (!row.get("skipped_reason").isNull()) {
        assertTrue(row.get("relative_error").isNull());
        nulls++;
      } else {
        double p = row.get("predicted").asDouble();
        double m = row.get("measured").asDouble();
        assertEquals(p / m - 1, row.get("relative_error").asDouble(), 1e-6);
      }
    }
    assertTrue(nulls >= 18);
    assertNotNull(json.get("summary").get(0).get("median"));
  }

  @Test
  void aRowWithoutAKnownSystemIsKeptAndSaysWhy() {
    String csv =
        """
        id,system,network_id,domain_gpus,gpus,collective,bytes,time_us,excluded
        a,hgx-h100,single-node,8,8,all_reduce,1048576,27.4,
        b,no-such-box,single-node,8,8,all_reduce,1048576,27.4,
        c,hgx-h100,single-node,8,8,scatter,1048576,27.4,
        d,hgx-h100,single-node,8,16,all_reduce,1048576,27.4,
        e,hgx-h100,single-node,8,8,all_reduce,1048576,27.4,broken fan
        """;
    List<CollectiveAccuracy.Row> rows =
        CollectiveAccuracy.replay("x.csv", csv, Catalog.open(null)).rows();
    assertNull(rows.get(0).skippedReason());
    assertEquals("no system no-such-box in the catalog", rows.get(1).skippedReason());
    assertEquals("no cost model yet for scatter", rows.get(2).skippedReason());
    assertTrue(rows.get(3).skippedReason().contains("no network between domains"));
    assertEquals("excluded: broken fan", rows.get(4).skippedReason());
  }

  @Test
  void aFileWithoutTheColumnsOrWithWordsForNumbersIsRefusedByLine() {
    InputException missing =
        assertThrows(
            InputException.class,
            () -> CollectiveAccuracy.replay("x.csv", "id,system\na,b\n", Catalog.open(null)));
    assertTrue(missing.getMessage().contains("x.csv:1: time_us: is a column that is missing."));
    String csv =
        """
        id,system,network_id,domain_gpus,gpus,collective,bytes,time_us
        a,hgx-h100,single-node,8,8,all_reduce,1 MiB,27.4
        """;
    InputException words =
        assertThrows(
            InputException.class,
            () -> CollectiveAccuracy.replay("x.csv", csv, Catalog.open(null)));
    assertTrue(words.getMessage().contains("x.csv:2: bytes = 1 MiB: is no number."));
  }
}
