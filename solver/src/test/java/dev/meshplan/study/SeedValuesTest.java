package dev.meshplan.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.communication.Collective;
import dev.meshplan.communication.GradientTraffic;
import dev.meshplan.communication.Group;
import dev.meshplan.communication.Machines;
import dev.meshplan.communication.MoeExchange;
import dev.meshplan.communication.SeedProfile;
import dev.meshplan.hardware.Link;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Catalog;
import dev.meshplan.units.Quantity;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Worked tables that circulate: nominal bandwidth, one delay per message. */
class SeedValuesTest {
  private static final double MEGA = 1e6;
  private static final double NDR = 50 * Quantity.GIGA;

  private static Model model(String id) {
    return Catalog.open(null).models().all().get(id);
  }

  private static TensorTraffic.Line line(int tokens, Link link) {
    return TensorTraffic.seed(
            model("llama-3.1-70b"),
            8,
            List.of(tokens),
            Machines.system("hgx-h100"),
            Machines.gpu("hgx-h100"),
            link)
        .get(0);
  }

  @ParameterizedTest
  @CsvSource({
    "1, nvlink4, 4.5875, 0.0102, 1.28, 1.290, delay",
    "64, nvlink4, 293.6, 0.652, 1.28, 1.932, both",
    "2000, nvlink4, 9175, 20.39, 1.28, 21.67, bandwidth",
    "1, pcie5, 4.5875, 0.0717, 4.8, 4.872, delay",
    "64, pcie5, 293.6, 4.588, 4.8, 9.388, both",
    "2000, pcie5, 9175, 143.36, 4.8, 148.16, bandwidth",
  })
  void tensorParallelismOf70BillionOnEightGpus(
      int tokens,
      String link,
      double megabytes,
      double bandwidthMilliseconds,
      double delayMilliseconds,
      double milliseconds,
      String limit) {
    TensorTraffic.Line l = line(tokens, link.equals("pcie5") ? Link.PCIE5 : null);
    assertEquals(160, l.messages());
    assertEquals(16384.0 * tokens, l.messageBytes());
    assertEquals(megabytes, l.sentBytes() / MEGA, 0.001 * megabytes);
    assertEquals(bandwidthMilliseconds, l.bandwidthSeconds() * 1e3, 0.005 * bandwidthMilliseconds);
    assertEquals(delayMilliseconds, l.delaySeconds() * 1e3, 1e-9);
    assertEquals(milliseconds, l.seconds() * 1e3, 0.001 * milliseconds);
    assertEquals(limit, l.limit().key());
  }

  @Test
  void oneTokenSends28KilobytesPerMessageAnd4587520BytesInAll() {
    assertEquals(28 * 1024.0, Collective.ALL_REDUCE.wireBytes(16384, 8));
    assertEquals(4_587_520, line(1, null).sentBytes());
  }

  @Test
  void readingTheWeightsTakes5Point2MillisecondsAndPcieNearlyDoublesAStep() {
    TensorTraffic.Line l = line(1, Link.PCIE5);
    assertEquals(5.2, l.weightSeconds() * 1e3, 0.05);
    assertTrue(l.weightShare() > 0.9 && l.weightShare() < 1);
  }

  @ParameterizedTest
  @CsvSource({"900, 0.272, 2.0", "450, 0.544, 1.0", "64, 3.828, 0.142", "50, 4.9, 0.111"})
  void gradientsOf70BillionInSixteenBitsOverEightGpus(
      double gigabytesPerSecond, double seconds, double speedOverNvlink4) {
    GradientTraffic t =
        new GradientTraffic(
            70 * Quantity.GIGA, GradientTraffic.Format.BF16, GradientTraffic.Method.ALL_REDUCE);
    double sent = t.wireBytes(Group.of(8, 8));
    assertEquals(245, sent / Quantity.GIGA, 1e-9);
    assertEquals(seconds, sent / (gigabytesPerSecond * Quantity.GIGA), 0.001);
    assertEquals(speedOverNvlink4, gigabytesPerSecond / 450, 0.001);
  }

  @ParameterizedTest
  @CsvSource({"4, 6, 1.5", "8, 14, 1.75", "2, 2, 1"})
  void aRingTakesTwoTimesItsLengthLessOneSteps(int ranks, int steps, double buffers) {
    assertEquals(steps, Collective.ALL_REDUCE.ringSteps(ranks));
    assertEquals(buffers, Collective.ALL_REDUCE.wireBytes(1, ranks));
    assertEquals(ranks - 1, Collective.REDUCE_SCATTER.ringSteps(ranks));
    assertEquals(ranks - 1, Collective.ALL_GATHER.ringSteps(ranks));
    assertTrue(Collective.ALL_REDUCE.wireBytes(1, 1_000_000) < 2);
  }

  /** Reconstructed: 58 layers, hidden 7,168, top-8, 16 bit both ways, 64 tokens per GPU, EP 8. */
  @ParameterizedTest
  @CsvSource({"450, 1.656", "50, 14.90"})
  void expertExchangeIsNineTimesDearerOverTheNetwork(
      double gigabytesPerSecond, double milliseconds) {
    MoeExchange e = new MoeExchange(64, 7168, 8, 8, 8, 2, 0, MoeExchange.Dispatcher.NAIVE, 1);
    SeedProfile.Cost c = SeedProfile.expertExchange(58, e, gigabytesPerSecond * Quantity.GIGA);
    assertEquals(745.0, c.sentBytes() / MEGA, 0.1);
    assertEquals(milliseconds, c.seconds() * 1e3, 0.01);
  }

  @Test
  void linksAgainstSlotsAndPortsHaveTheFamiliarRatios() {
    double nvlink4 = Machines.system("hgx-h100").domain().bandwidth();
    double nvlink5 = Machines.system("hgx-b200").domain().bandwidth();
    double port = Machines.network("ndr-400g").portBandwidth();
    assertEquals(NDR, port);
    assertEquals(7.03, nvlink4 / Link.PCIE5.oneWay(), 0.01);
    assertEquals(9, nvlink4 / port);
    assertEquals(18, nvlink5 / port);
    assertEquals(7.2e12, 8 * 2 * nvlink4);
    assertEquals(129.6e12, 72 * 2 * Machines.system("gb200-nvl72").domain().bandwidth());
    double perPair = nvlink4 / 7;
    assertTrue(2 * perPair > 100e9 && 2 * perPair < 150e9);
  }

  @Test
  void aRackOf72IsCutIntoWholeBlocks() {
    SystemSpec.Domain d = Machines.system("gb200-nvl72").domain();
    assertEquals(List.of(8, 18, 36, 72), d.blocks());
    assertEquals(List.of(9, 4, 2, 1), d.blocks().stream().map(b -> 72 / b).toList());
  }

  @Test
  void tensorParallelismOverTwoNodesPaysTheNetwork() {
    double inside =
        SeedProfile.allReduce(1, 16 * Quantity.MIB, 8, 450 * Quantity.GIGA, 0).seconds();
    double across = SeedProfile.allReduce(1, 16 * Quantity.MIB, 8, NDR, 0).seconds();
    assertEquals(9, across / inside, 1e-9);
  }
}
