package dev.meshplan.communication;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.meshplan.units.Quantity;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Single measured points that must stay within reach, microseconds. */
class MeasuredValuesTest {
  @ParameterizedTest
  @CsvSource({
    "hgx-h100, single-node, ALL_REDUCE, 16 KiB, 8, 8, 17.9, 0.15",
    "hgx-h100, single-node, ALL_REDUCE, 1 MiB, 8, 8, 27.4, 0.15",
    "hgx-h100, single-node, ALL_REDUCE, 16 MiB, 8, 8, 124, 0.15",
    "hgx-h100, single-node, ALL_REDUCE, 1 GiB, 8, 8, 4029, 0.15",
    "hgx-h100, single-node, ALL_REDUCE, 16 GiB, 8, 8, 62648, 0.15",
    "hgx-a100-80, single-node, ALL_REDUCE, 1 GiB, 8, 8, 8204, 0.15",
    "hgx-a100-80, single-node, ALL_REDUCE, 16 GiB, 8, 8, 127997, 0.15",
    "hgx-b200, single-node, ALL_REDUCE, 1 GiB, 8, 8, 2599, 0.15",
    "hgx-b200, single-node, ALL_REDUCE, 16 GiB, 8, 8, 35550, 0.15",
    "hgx-h100, ndr-400g, ALL_REDUCE, 1 KiB, 16, 8, 29.8, 0.15",
    "hgx-h100, ndr-400g, ALL_REDUCE, 1 MiB, 16, 8, 71.9, 0.15",
    "hgx-h100, ndr-400g, ALL_REDUCE, 64 MiB, 16, 8, 466, 0.15",
    "hgx-h100, ndr-400g, ALL_REDUCE, 16 GiB, 16, 8, 68652, 0.15",
    "hgx-h100, ndr-400g, ALL_REDUCE, 1 KiB, 32, 8, 39.8, 0.15",
    "hgx-h100, ndr-400g, ALL_REDUCE, 1 MiB, 32, 8, 82.2, 0.21",
    "hgx-h100, ndr-400g, ALL_REDUCE, 64 MiB, 32, 8, 579, 0.15",
    "hgx-h100, ndr-400g, ALL_REDUCE, 16 GiB, 32, 8, 90986, 0.15",
    "hgx-b200, ndr-400g, ALL_GATHER, 1 GiB, 16, 8, 3360, 0.15",
    "hgx-b200, ndr-400g, ALL_TO_ALL, 1 GiB, 16, 8, 14720, 0.16",
    "gb200-nvl72, ndr-400g, ALL_REDUCE, 8 GiB, 72, 72, 20299, 0.15",
    "gb200-nvl72, ndr-400g, ALL_REDUCE, 8 GiB, 144, 72, 21493, 0.15",
    "gb200-nvl72, ndr-400g, ALL_REDUCE, 8 GiB, 1440, 72, 45004, 0.15",
    "hgx-h200, efa-p5en-200g-x16, ALL_REDUCE, 4 GiB, 32, 8, 22797, 0.10",
    "hgx-b200, efa-p6-400g, ALL_REDUCE, 4 GiB, 32, 8, 22050, 0.10",
    "dgx-1-v100, single-node, ALL_REDUCE, 1 GiB, 8, 8, 13867, 0.10",
  })
  void aMeasuredCollectiveIsPredicted(
      String system,
      String network,
      Collective c,
      String bytes,
      int ranks,
      int perDomain,
      double microseconds,
      double tolerance) {
    double seconds =
        Machines.of(system, network)
            .seconds(
                c,
                Quantity.parse(bytes, dev.meshplan.units.Dimension.BYTES),
                Group.of(ranks, perDomain));
    assertEquals(microseconds, seconds / Quantity.MICRO, tolerance * microseconds);
  }

  /** Low-latency kernels, 128 tokens of 7,168, top-8, FP8 out and 16 bit back, H800 nodes. */
  @ParameterizedTest
  @CsvSource({
    "8, 77, 114",
    "16, 118, 195",
    "32, 155, 273",
    "64, 173, 314",
    "128, 192, 369",
    "256, 194, 360"
  })
  void lowLatencyExchange(int ranks, double dispatch, double combine) {
    Communication h800 = Machines.of("hgx-h800", "ndr-400g");
    assertEquals(
        dispatch,
        h800.dispatchSeconds(exchange(ranks, 128, 1.03125, MoeExchange.Dispatcher.LOW_LATENCY))
            / Quantity.MICRO,
        0.2 * dispatch);
    assertEquals(
        combine,
        h800.combineSeconds(exchange(ranks, 128, 2, MoeExchange.Dispatcher.LOW_LATENCY))
            / Quantity.MICRO,
        0.2 * combine);
  }

  /** Copies into one rack-wide domain, 4,096 tokens, 16 bit, GB/s as their authors count. */
  @ParameterizedTest
  @CsvSource({"8, 764", "16, 707", "24, 666", "32, 642", "36, 632"})
  void hybridExchangeInOneRack(int ranks, double gigabytesPerSecond) {
    MoeExchange e = exchange(ranks, 4096, 2, MoeExchange.Dispatcher.HYBRID);
    double bandwidth = e.countedBytes() / Machines.of("gb200-nvl72", "ndr-400g").dispatchSeconds(e);
    assertEquals(gigabytesPerSecond, bandwidth / Quantity.GIGA, 0.25 * gigabytesPerSecond);
  }

  static MoeExchange exchange(
      int ranks, double tokens, double bytes, MoeExchange.Dispatcher dispatcher) {
    return new MoeExchange(
        tokens,
        7168,
        8,
        ranks,
        Math.min(ranks, dispatcher == MoeExchange.Dispatcher.HYBRID ? 72 : 8),
        bytes,
        0,
        dispatcher,
        1);
  }
}
