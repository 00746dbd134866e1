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
  /** One cluster whose publisher asks why it is slow: no kind that the file tells explains it. */
  private static final Set<String> KNOWN_MISSES = Set.of("hgx-h20");

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
  void aFileWithoutTheColumnsThatEveryRowNeedsIsRefused() {
    InputException missing =
        assertThrows(
            InputException.class,
            () -> CollectiveAccuracy.replay("x.csv", "id,system\na,b\n", Catalog.open(null)));
    assertTrue(missing.getMessage().contains("x.csv:1: gpus: is a column that is missing."));
    assertTrue(missing.getMessage().contains("x.csv:1: time_us: is a column that is missing"));
    for (String text : List.of("", "\n\n", "a;b\n1;2\n", "id,\"system\nno end")) {
      assertThrows(
          InputException.class,
          () -> CollectiveAccuracy.replay("x.csv", text, Catalog.open(null)),
          text);
    }
  }

  @Test
  void whatAnAuthorLeavesOutOrSpellsDifferentlyIsUnderstood() {
    List<String> spellings =
        List.of(
            "system,gpus,collective,bytes,time_us\nhgx-h100,8,all_reduce,1048576,27.4\n",
            "\uFEFFsystem,gpus,collective,bytes,time_us\nhgx-h100,8,all_reduce,1048576,27.4\n",
            "System,GPUs,Collective,Bytes,Time_us\r\n\r\nhgx-h100,8,AllReduce,1 MiB,27.4\r\n",
            "system,gpus,collective,bytes,time_us,x\ndgx-h100,8,all-reduce,1e6,27.4 us,\"a, b\"\n",
            "system,gpus,collective,bytes,busbw_GBps\nhgx-h100,8.0,allreduce,1048576,67\n",
            "system,gpus,collective,bytes,algbw_GBps,time_us\nhgx-h100,8,allreduce,1e6,38,NaN\n",
            "system,gpus,collective,bytes,time_us,network_id\nhgx-h100,16,all_reduce,1e6,72,\n",
            "system,gpus,collective,bytes,time_us,network_id\nhgx-h100,16,all_reduce,1e6,72,roce-x-400g\n",
            "system,gpus,nodes,collective,bytes,time_us\nl40s-pcie-8,8,1,all_reduce,1e9,1300000\n");
    for (String csv : spellings) {
      List<CollectiveAccuracy.Row> rows =
          CollectiveAccuracy.replay("x.csv", csv, Catalog.open(null)).rows();
      assertEquals(1, rows.size(), csv);
      assertNull(rows.get(0).skippedReason(), csv);
      assertTrue(Math.abs(rows.get(0).relativeError()) < 0.5, csv + rows);
    }
  }

  @Test
  void aRowThatCannotBeReadIsListedWithItsReasonAndTheOthersArePriced() {
    String csv =
        """
        id,system,network_id,domain_gpus,gpus,collective,bytes,time_us,busbw_GBps
        good,hgx-h100,single-node,8,8,all_reduce,1048576,27.4,
        words,hgx-h100,single-node,8,8,all_reduce,a lot,27.4,
        negative,hgx-h100,single-node,8,8,all_reduce,-5,27.4,
        no time,hgx-h100,single-node,8,8,all_reduce,1048576,,
        no size,hgx-h100,single-node,8,8,all_reduce,,27.4,
        alone,hgx-h100,single-node,8,1,all_reduce,1048576,27.4,
        no gpus,hgx-h100,single-node,8,,all_reduce,1048576,27.4,
        half,hgx-h100,single-node,8,7.5,all_reduce,1048576,27.4,
        network,hgx-h100,carrier-pigeon,8,16,all_reduce,1048576,27.4,
        too many,hgx-h100,single-node,512,512,all_reduce,1048576,27.4,
        tokens,hgx-h100,single-node,8,8,moe_dispatch,,27.4,
        short,hgx-h100
        ,,,,,,,,
        """;
    List<CollectiveAccuracy.Row> rows =
        CollectiveAccuracy.replay("x.csv", csv, Catalog.open(null)).rows();
    assertEquals(13, rows.size());
    assertNull(rows.get(0).skippedReason());
    assertEquals("bytes = a lot is no number", rows.get(1).skippedReason());
    assertEquals("bytes = -5 is out of range", rows.get(2).skippedReason());
    assertEquals("no time is given", rows.get(3).skippedReason());
    assertEquals("the size is not given", rows.get(4).skippedReason());
    assertEquals("one GPU sends nothing", rows.get(5).skippedReason());
    assertEquals("the number of GPUs is not given", rows.get(6).skippedReason());
    assertEquals("gpus = 7.5 is no number of them", rows.get(7).skippedReason());
    assertEquals("no network carrier-pigeon in the catalog", rows.get(8).skippedReason());
    for (CollectiveAccuracy.Row r : rows.subList(1, rows.size())) {
      assertNotNull(r.skippedReason(), r.id());
      assertTrue(Double.isNaN(r.relativeError()));
    }
  }

  @Test
  void registeredBuffersAreReadAndPricedAsTheyAreMeasuredInTheLibrary() {
    String csv =
        """
        system,gpus,collective,bytes,time_us,registered
        hgx-h100,8,all_reduce,65536,7.93,1
        hgx-h100,8,all_reduce,1048576,12.16,yes
        hgx-h100,8,all_reduce,16777216,70.43,2
        hgx-h100,8,all_reduce,4294967296,15586,true
        hgx-h100,8,all_gather,1048576,9.99,1
        hgx-h100,8,reduce_scatter,16777216,54.25,1
        hgx-b200,8,all_reduce,1048576,16.94,1
        hgx-b200,8,all_reduce,268435456,578.4,1
        hgx-h100,8,all_reduce,1048576,27.4,0
        """;
    for (CollectiveAccuracy.Row r :
        CollectiveAccuracy.replay("x.csv", csv, Catalog.open(null)).rows()) {
      assertTrue(Math.abs(r.relativeError()) < 0.2, r.toString());
    }
  }

  @Test
  void notesThatNameTheAlgorithmAloneSayWhatRan() {
    String csv =
        """
        system,gpus,domain_gpus,collective,bytes,time_us,algo_notes
        hgx-h100,16,8,all_reduce,16777216,203,NVLSTree; out-of-place
        hgx-h100,16,8,all_reduce,16777216,203,ring-level result; out-of-place
        """;
    List<CollectiveAccuracy.Row> rows =
        CollectiveAccuracy.replay("x.csv", csv, Catalog.open(null)).rows();
    assertEquals("NVLS tree", rows.get(0).algorithm());
    assertEquals("Simple ring", rows.get(1).algorithm());
  }
}
