package dev.meshplan.communication;

import static dev.meshplan.communication.NetworkParameter.*;
import static dev.meshplan.units.Basis.ASSUMED;
import static dev.meshplan.units.Basis.DERIVED;
import static dev.meshplan.units.Basis.FITTED;
import static dev.meshplan.units.Basis.FITTED_ON_ONE_SOURCE;

import dev.meshplan.hardware.Known;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.units.Quantity;
import java.util.List;
import java.util.Map;

/**
 * Constants per kind of scale-out network, fitted on the measured set. NCCL's own hops (5 us in a
 * tree, 14 us in a Simple ring) hold on InfiniBand; other fabrics mostly differ in these two.
 */
final class NetworkConstants {
  /** What the library adds to the wire's latency in one hop of a tree, microseconds. */
  private static final double OVERHEAD_US = 0.7;

  private static final Constants<NetworkParameter> INFINIBAND =
      row("infiniband")
          .with(FITTED, TREE_HOP_US, 5.7)
          .with(FITTED_ON_ONE_SOURCE, RING_LL_HOP_US, 9)
          .with(FITTED, RING_HOP_US, 14, 14)
          .with(FITTED_ON_ONE_SOURCE, RING_LL_GBPS, 30)
          .with(FITTED, RING_SHARE, 0.95)
          .with(FITTED_ON_ONE_SOURCE, GATHER_SHARE, 0.82)
          .with(FITTED, TREE_SHARE, 0.95, 0.325, 0.86)
          .with(FITTED_ON_ONE_SOURCE, RING_NICS, 8)
          .with(ASSUMED, GATHER_NICS, 16)
          .with(FITTED, NVLS_TREE_BASE_US, 9, 3.3, 6)
          .with(FITTED, RAMP_US, 130)
          .with(FITTED_ON_ONE_SOURCE, RAMP_MIB, 16)
          .with(ASSUMED, SHARP_BASE_US, 31, 0.95)
          .with(FITTED_ON_ONE_SOURCE, ALL_TO_ALL_BASE_US, 14.5, 1.45, 50, 0.8)
          .with(FITTED_ON_ONE_SOURCE, ALL_TO_ALL_SHARE, 0.85)
          .with(FITTED_ON_ONE_SOURCE, SEND_BASE_US, 14.5, 15, 0.85)
          .with(FITTED, EXPERT_SHARE, 0.88, 40)
          .with(FITTED_ON_ONE_SOURCE, EXPERT_DOUBLING_US, 10)
          .with(FITTED, EXPERT_LOW_LATENCY_SHARE, 0.9);

  /** Ethernet with RDMA: the same verbs, a slightly longer hop. */
  private static final Constants<NetworkParameter> ROCE =
      INFINIBAND
          .as("roce", DERIVED)
          .with(FITTED_ON_ONE_SOURCE, TREE_HOP_US, 9)
          .with(ASSUMED, RING_LL_HOP_US, 12);

  /** AWS EFA: no verbs of its own kind, delays of tens of microseconds. */
  private static final Constants<NetworkParameter> EFA =
      INFINIBAND
          .as("efa", DERIVED)
          .with(FITTED, TREE_HOP_US, 66)
          .with(ASSUMED, RING_LL_HOP_US, 69)
          .with(FITTED, RING_HOP_US, 65)
          .with(ALL_TO_ALL_BASE_US, 90, ASSUMED)
          .with(SEND_BASE_US, 70, ASSUMED)
          .with(ALL_TO_ALL_SHARE, 0.75, ASSUMED);

  /** Google's TCPX and TCPXO: a CPU-driven transport. */
  private static final Constants<NetworkParameter> TCPX =
      INFINIBAND
          .as("tcpx", DERIVED)
          .with(ASSUMED, TREE_HOP_US, 100, 103)
          .with(FITTED_ON_ONE_SOURCE, RING_HOP_US, 277)
          .with(GATHER_SHARE, 0.945, FITTED_ON_ONE_SOURCE)
          .with(ALL_TO_ALL_BASE_US, 120, ASSUMED)
          .with(SEND_BASE_US, 100, ASSUMED);

  private NetworkConstants() {}

  private static Constants<NetworkParameter> row(String name) {
    return new Constants<>(name, NetworkParameter.class);
  }

  /**
   * The row of a network's kind; a message latency that the network's file gives moves every delay
   * by what it differs from the kind's own (a Simple hop waits twice: data and flush).
   *
   * @param latency seconds between neighbours; unknown = the kind's
   * @param tuning other constants than the shipped ones
   * @throws NoCostModel when there is no network or its kind was never seen
   */
  static Constants<NetworkParameter> of(String kind, Known latency, Map<String, Double> tuning) {
    Constants<NetworkParameter> c = of(kind).tuned(tuning);
    if (!latency.known()) {
      return c;
    }
    double more = latency.value() / Quantity.MICRO - (c.get(TREE_HOP_US) - OVERHEAD_US);
    if (Math.abs(more) < 1e-9) {
      return c;
    }
    for (NetworkParameter p :
        List.of(TREE_HOP_US, RING_LL_HOP_US, ALL_TO_ALL_BASE_US, SEND_BASE_US)) {
      c = c.moved(p, Math.max(0, c.get(p) + more), c.basis(p).weakest(DERIVED));
    }
    return c.moved(
        RING_HOP_US,
        Math.max(0, c.get(RING_HOP_US) + 2 * more),
        c.basis(RING_HOP_US).weakest(DERIVED));
  }

  /**
   * The row of a network's kind.
   *
   * @throws NoCostModel when there is no network or its kind was never seen
   */
  private static Constants<NetworkParameter> of(String kind) {
    return switch (kind) {
      case "infiniband" -> INFINIBAND;
      case "roce", "ethernet", "spectrum-x" -> ROCE;
      case "rdma" -> INFINIBAND.as(kind, DERIVED);
      case "efa" -> EFA;
      case "tcpx", "tcpxo", "tcp" -> TCPX;
      case "omni-path", "slingshot" -> INFINIBAND.as(kind, ASSUMED);
      case "none" ->
          throw new NoCostModel(
              "a group leaves its domain, but the machine has no network between domains: name one"
                  + " with network.");
      default ->
          throw new NoCostModel(
              "no cost model yet for networks of kind "
                  + kind
                  + ": known are infiniband, roce, ethernet, rdma, efa, tcpx, tcpxo, tcp, omni-path"
                  + " and slingshot.");
    };
  }
}
