package dev.meshplan.communication;

import static dev.meshplan.communication.NetworkParameter.*;

import dev.meshplan.units.Quantity;

/**
 * Seconds of every algorithm for a group of n ranks, g in each of k domains.
 *
 * <p>S: size, W: bytes that one rank sends. All NICs of a domain work for the group together, so a
 * ring sees g NICs, not one. Forms: NCCL's cost model (github NVIDIA/nccl src/graph/tuning.cc);
 * constants: measured set.
 */
final class AcrossDomains {
  private static final double LINK_OF_NVLS_TREE = 0.93;
  private static final double PAT_SHARE = 0.75;
  private static final double PAT_HOPS = 3.5;
  private static final double FILL_GROWTH = 0.8;
  private static final int NVLS_HEADS = 32;

  private AcrossDomains() {}

  /**
   * What one rank gets of the NICs once contention is counted, bytes per second one way.
   *
   * @param ring rings, trees and messages to the next domain
   * @param exchange all with all
   * @param detour share of an exchange that passes the scale-up links to the receiver's rail first
   */
  record Nics(double ring, double exchange, double detour) {}

  /**
   * One group on its network.
   *
   * @param wire inside a domain
   * @param net constants of the network
   * @param ranks n
   * @param together g
   * @param domains k
   * @param nics bytes per second of one rank's NIC share by pattern
   */
  record Shape(
      Wire wire, Constants<NetworkParameter> net, int ranks, int together, int domains, Nics nics) {

    double seconds(NetworkParameter p) {
      return net.get(p) * Quantity.MICRO;
    }

    /** Bytes per second of the NICs that the group uses in one domain. */
    double nics(NetworkParameter share) {
      NetworkParameter most = share == GATHER_SHARE ? GATHER_NICS : RING_NICS;
      return net.get(share) * nics.ring * Math.min(together, net.get(most));
    }

    /** The same where the switch spreads the work over its reduction heads. */
    double nvlsNics(NetworkParameter share) {
      return net.get(share) * nics.ring * Math.min(together, NVLS_HEADS);
    }

    /** How the filling of a tree grows with the domains. */
    double growth() {
      return StrictMath.pow(domains - 1.0, FILL_GROWTH);
    }

    double link(NetworkParameter share) {
      return together > 1 ? net.get(share) * wire.bandwidth() : Double.POSITIVE_INFINITY;
    }

    double shortLink(LinkParameter share) {
      return together > 1 ? wire.rate(share) : Double.POSITIVE_INFINITY;
    }

    /** Levels of a tree over the domains. */
    double levels() {
      return StrictMath.log(domains) / StrictMath.log(2);
    }

    /**
     * Share of its NICs' bandwidth at which the busiest domain of a double binary tree passes the
     * buffer: with four domains and more it has a parent and two children for half the buffer and
     * is a leaf for the other half, so it sends 2 S.
     */
    double treeFactor() {
      return domains == 2 ? 1 : domains == 3 ? 2.0 / 3 : 0.5;
    }

    /** The same inside the domain, where the mean counts: 2 (k-1)/k S. */
    double switchFactor() {
      return domains / (2.0 * (domains - 1));
    }

    double ramp(double bytes) {
      return seconds(RAMP_US) * InsideDomain.ramp(bytes, net.get(RAMP_MIB));
    }
  }

  /**
   * @param out seconds by {@link Algorithm}; entries that don't apply stay as they are
   */
  static void price(double[] out, Shape s, Collective c, double bytes) {
    switch (c) {
      case ALL_REDUCE -> allReduce(out, s, bytes);
      case ALL_GATHER, REDUCE_SCATTER -> gather(out, s, c, bytes);
      case ALL_TO_ALL ->
          out[(s.together() > 1 ? Algorithm.PAIRWISE_PXN : Algorithm.PAIRWISE).ordinal()] =
              allToAll(s, bytes);
      case SEND_RECV -> out[Algorithm.DIRECT.ordinal()] = send(s, bytes);
      case BROADCAST ->
          out[Algorithm.PIPELINE.ordinal()] =
              s.wire().base(c, 2)
                  + s.levels() * s.seconds(RING_HOP_US)
                  + s.wire().step(c, 2) * (s.together() - 1)
                  + bytes / Math.min(s.link(RING_LINK_SHARE), s.nics(RING_SHARE));
    }
  }

  private static void allReduce(double[] out, Shape s, double bytes) {
    Collective c = Collective.ALL_REDUCE;
    Wire w = s.wire();
    int g = s.together();
    int k = s.domains();
    double chain = 2.0 * (g - 1) * w.step(c, 0);
    out[Algorithm.TREE_LL.ordinal()] =
        w.base(c, 0)
            + chain
            + 2 * s.levels() * s.seconds(TREE_HOP_US)
            + bytes
                / Math.min(
                    s.net().get(TREE_LL_GBPS) * Quantity.GIGA,
                    Math.min(s.shortLink(LinkParameter.ALL_REDUCE_LL_SHARE), s.nics(TREE_SHARE))
                        / 2);
    int across = 2 * (k - 1);
    out[Algorithm.RING_SIMPLE.ordinal()] =
        w.base(c, 2)
            + (c.ringSteps(s.ranks()) - across) * w.step(c, 2)
            + across * s.seconds(RING_HOP_US)
            + c.wireBytes(bytes, s.ranks()) / Math.min(s.link(RING_LINK_SHARE), s.nics(RING_SHARE));
    out[Algorithm.TREE_SIMPLE.ordinal()] =
        w.base(c, 2)
            + chain
            + 2 * s.levels() * s.seconds(RING_HOP_US)
            + s.ramp(bytes) * s.growth()
            + bytes / Math.min(s.link(TREE_LINK_SHARE), s.nics(TREE_SHARE) * s.treeFactor());
    if (w.nvls() > 0 && g >= w.nvls()) {
      nvlsTree(out, s, bytes);
    }
    if (g > 1) {
      double inner =
          best(w, Collective.REDUCE_SCATTER, bytes, g) + best(w, Collective.ALL_GATHER, bytes, g);
      out[Algorithm.HIERARCHICAL.ordinal()] =
          inner + across * s.seconds(RING_HOP_US) + 2.0 * (k - 1) / k * bytes / s.nics(RING_SHARE);
    }
  }

  private static void nvlsTree(double[] out, Shape s, double bytes) {
    Wire w = s.wire();
    int g = s.together();
    double base =
        w.seconds(LinkParameter.NVLS_BASE_US)
            + s.seconds(NVLS_TREE_BASE_US)
            + s.seconds(NVLS_TREE_BASE_RANK_US) * g;
    double fill =
        g
            * (w.seconds(LinkParameter.NVLS_RANK_US) + s.seconds(NVLS_TREE_RANK_US) * s.growth())
            * InsideDomain.ramp(bytes, w.constants().get(LinkParameter.NVLS_RAMP_MIB));
    double inSwitch = LINK_OF_NVLS_TREE * InsideDomain.nvlsBandwidth(w, g);
    out[Algorithm.NVLS_TREE.ordinal()] =
        base
            + 2 * s.levels() * s.seconds(TREE_HOP_US)
            + fill
            + bytes
                / Math.min(inSwitch * s.switchFactor(), s.nvlsNics(RING_SHARE) * s.treeFactor());
    out[Algorithm.SHARP.ordinal()] =
        base
            + s.seconds(SHARP_BASE_US)
            + g
                * w.seconds(LinkParameter.NVLS_RANK_US)
                * InsideDomain.ramp(bytes, w.constants().get(LinkParameter.NVLS_RAMP_MIB))
            + bytes / Math.min(inSwitch, s.nvlsNics(SHARP_SHARE));
  }

  private static void gather(double[] out, Shape s, Collective c, double bytes) {
    Wire w = s.wire();
    int g = s.together();
    int k = s.domains();
    double wire = c.wireBytes(bytes, s.ranks());
    int inside = s.ranks() - k;
    double shortBandwidth =
        Math.min(
            s.net().get(RING_LL_GBPS) * Quantity.GIGA,
            Math.min(s.shortLink(LinkParameter.ALL_GATHER_LL_SHARE), s.nics(GATHER_SHARE) / 2));
    out[Algorithm.RING_LL.ordinal()] =
        w.base(c, 0)
            + inside * w.step(c, 0)
            + (k - 1) * s.seconds(RING_LL_HOP_US)
            + wire / shortBandwidth;
    double fill =
        w.seconds(LinkParameter.GATHER_FILL_US)
            * InsideDomain.ramp(bytes, w.constants().get(LinkParameter.GATHER_FILL_MIB));
    double copy = g > 1 ? InsideDomain.copy(w, c, bytes, s.ranks()) : 0;
    out[Algorithm.RING_SIMPLE.ordinal()] =
        w.base(c, 2)
            + inside * w.step(c, 2)
            + (k - 1) * s.seconds(RING_HOP_US)
            + fill
            + wire / Math.min(s.link(RING_LINK_SHARE), s.nics(GATHER_SHARE))
            + copy;
    if (g == 1) {
      out[Algorithm.PAT.ordinal()] =
          w.base(c, 2)
              + s.levels() * s.seconds(RING_HOP_US) * (1 + 1 / PAT_HOPS)
              + fill
              + wire / (PAT_SHARE * s.nics(GATHER_SHARE));
    } else {
      out[Algorithm.HIERARCHICAL.ordinal()] =
          best(w, c, bytes, g)
              + (k - 1) * s.seconds(RING_HOP_US)
              + (k - 1.0) / k * bytes / s.nics(GATHER_SHARE);
    }
  }

  private static double allToAll(Shape s, double bytes) {
    Wire w = s.wire();
    int n = s.ranks();
    int g = s.together();
    double across = bytes * (n - g) / n / (s.net().get(ALL_TO_ALL_SHARE) * s.nics().exchange());
    double inside =
        g > 1
            ? bytes
                    * (g - 1 + s.nics().detour() * (n - g))
                    / n
                    / w.exchangeRate(LinkParameter.ALL_TO_ALL_SHARE)
                + bytes / n / w.copyRate(LinkParameter.ALL_TO_ALL_COPY_SHARE)
            : 0;
    return s.seconds(ALL_TO_ALL_BASE_US)
        + s.seconds(ALL_TO_ALL_PEER_US) * n
        + s.seconds(ALL_TO_ALL_RAMP_US) * InsideDomain.ramp(bytes, s.net().get(ALL_TO_ALL_RAMP_MIB))
        + Math.max(across, inside);
  }

  static double send(Shape s, double bytes) {
    return s.seconds(SEND_BASE_US)
        + s.seconds(SEND_RAMP_US) * InsideDomain.ramp(bytes, 0.1)
        + bytes / (s.net().get(SEND_SHARE) * s.nics().ring());
  }

  private static double best(Wire w, Collective c, double bytes, int n) {
    double wire = c.wireBytes(bytes, n);
    int steps = c.ringSteps(n);
    return Math.min(
        w.ring(c, 0, steps, wire), Math.min(w.ring(c, 1, steps, wire), w.ring(c, 2, steps, wire)));
  }
}
