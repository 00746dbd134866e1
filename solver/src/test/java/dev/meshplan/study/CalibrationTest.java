package dev.meshplan.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.communication.Collective;
import dev.meshplan.communication.Communication;
import dev.meshplan.communication.Fabric;
import dev.meshplan.communication.Group;
import dev.meshplan.communication.Machines;
import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.config.YamlReader;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.SystemReader;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.plan.Catalog;
import dev.meshplan.units.Basis;
import dev.meshplan.units.Quantity;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CalibrationTest {
  private static String log(String name) {
    try (InputStream in = CalibrationTest.class.getResourceAsStream("/measured/logs/" + name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void aLogWithItsCommandGivesCollectiveRanksAndRows() {
    List<NcclLog.Test> tests = NcclLog.read("a.log", log("h100_all_reduce.log"));
    assertEquals(1, tests.size());
    assertEquals(Collective.ALL_REDUCE, tests.get(0).collective());
    assertEquals(8, tests.get(0).ranks());
    assertEquals(1, tests.get(0).nodes());
    assertEquals(26, tests.get(0).rows().size());
    assertEquals(62648e-6, tests.get(0).rows().get(25).seconds(), 1e-9);
  }

  @Test
  void wrappedLinesPrefixesAndTwoTestsInOneLogAreRead() {
    List<NcclLog.Test> tests = NcclLog.read("b.log", log("b200_two_nodes_wrapped.log"));
    assertEquals(
        List.of(Collective.ALL_REDUCE, Collective.ALL_GATHER),
        tests.stream().map(NcclLog.Test::collective).toList());
    assertEquals(List.of(22, 16), tests.stream().map(t -> t.rows().size()).toList());
    for (NcclLog.Test t : tests) {
      assertEquals(16, t.ranks());
      assertEquals(2, t.nodes());
    }
  }

  @Test
  void theOlderColumnsWithoutRankLinesTellTheSizeByTheirBandwidths() {
    NcclLog.Test t = NcclLog.read("c.log", log("mi300x_rccl.log")).get(0);
    assertEquals(Collective.ALL_REDUCE, t.collective());
    assertEquals(8, t.ranks());
    assertEquals(21, t.rows().size());
  }

  @Test
  void aRowWhoseColumnsRanTogetherIsRefusedAndNotDropped() {
    String broken =
        """
        # all_reduce_perf
        1048576 262144 float sum -1 27.40 38.27 66.97 0 27.5 38.1 66.7 0
        2097152 524288 float sum -142.21 49.68 86.94 0 42.3 49.5 86.7 0
        """;
    InputException e = assertThrows(InputException.class, () -> NcclLog.read("d.log", broken));
    assertTrue(e.getMessage().contains("can't be read as a row"), e.getMessage());
  }

  @Test
  void aTableWithoutItsCommandIsAnAllReduceOnlyIfItsBandwidthsSaySo() {
    String reduce = "1048576 262144 float sum -1 27.40 38.27 66.97 0 27.5 38.1 66.7 0\n";
    assertEquals(8, NcclLog.read("e.log", reduce).get(0).ranks());
    String gather = "1048576 262144 float none -1 27.40 38.27 33.49 0 27.5 38.1 33.4 0\n";
    InputException e = assertThrows(InputException.class, () -> NcclLog.read("e.log", gather));
    assertTrue(e.getMessage().contains("all_gather_perf"), e.getMessage());
    assertThrows(InputException.class, () -> NcclLog.read("e.log", "hello\n"));
  }

  @Test
  void fittingLowersTheErrorAndTheWrittenFilePredictsTheSame() {
    SystemSpec b200 = Machines.system("hgx-b200");
    Network ndr = Machines.network("ndr-400g");
    List<NcclLog.Test> tests = NcclLog.read("b.log", log("b200_two_nodes_wrapped.log"));
    Calibration.Result r = Calibration.fit(tests, b200, Machines.gpu("hgx-b200"), ndr);
    double before = r.tests().stream().mapToDouble(Calibration.Line::medianBefore).sum();
    double after = r.tests().stream().mapToDouble(Calibration.Line::medianAfter).sum();
    assertTrue(after < before, r.tests().toString());
    assertFalse(r.network().isEmpty());
    Catalog catalog = Catalog.open(null);
    String text =
        CalibratedFile.network(
            "ndr-400g", catalog.networks().text("ndr-400g"), r.network(), List.of("b.log"));
    Errors errors = new Errors();
    Network mine = Network.read(YamlReader.parse("mine.yaml", text, errors));
    errors.throwIfAny();
    assertTrue(mine.collectives().values().stream().allMatch(k -> k.basis() == Basis.MEASURED));
    assertTrue(mine.sources().contains("own measurement: b.log"));
    Communication fitted = new Communication(Fabric.of(b200, Machines.gpu("hgx-b200"), mine));
    double seconds = fitted.seconds(Collective.ALL_GATHER, 4 * Quantity.GIB, Group.of(16, 8));
    assertEquals(13098e-6, seconds, 0.04 * 13098e-6);
  }

  @Test
  void aSystemFileKeepsWhatItSaidAndGetsMeasuredConstants() {
    List<NcclLog.Test> tests = NcclLog.read("a.log", log("h100_all_reduce.log"));
    Calibration.Result r =
        Calibration.fit(
            tests,
            Machines.system("hgx-h100").withCollectives(Map.of()),
            Machines.gpu("hgx-h100"),
            Machines.network("ndr-400g"));
    assertTrue(r.tests().get(0).medianAfter() <= r.tests().get(0).medianBefore());
    assertTrue(r.network().isEmpty());
    Catalog catalog = Catalog.open(null);
    String text =
        CalibratedFile.system(
            "hgx-h100", catalog.systems().text("hgx-h100"), r.link(), List.of("a.log"));
    Errors errors = new Errors();
    SystemSpec mine = SystemReader.read(YamlReader.parse("mine.yaml", text, errors));
    errors.throwIfAny();
    assertEquals(Machines.system("hgx-h100").domain().bandwidth(), mine.domain().bandwidth());
    assertEquals(r.link().size(), mine.domain().collectives().size());
  }
}
