package dev.meshplan.communication;

import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.units.Quantity;

/** The textbook formula, kept to show how far it is off: wire bytes over nominal bandwidth. */
public final class PlainRing {
  private static final double SWITCHED = 8 * Quantity.MICRO;
  private static final double ELSEWHERE = 30 * Quantity.MICRO;

  private PlainRing() {}

  /**
   * Wire bytes of one rank over the nominal one-way bandwidth of its link (inside a domain) or of
   * its own NIC (across), plus one delay: 8 us on scale-up links, 30 us on PCIe and networks.
   *
   * @return seconds; NaN when the bandwidth is not known
   */
  public static double seconds(
      Collective c, double bytes, Group g, SystemSpec system, Network network) {
    boolean crosses = g.size() > g.perDomain();
    SystemSpec.Domain d = system.domain();
    boolean pcie = d.kind() == SystemSpec.Fabric.PCIE || d.kind() == SystemSpec.Fabric.PAIRS;
    double bandwidth =
        crosses && !pcie && network != null ? network.portBandwidth() : d.bandwidth();
    if (!(bandwidth > 0)) {
      return Double.NaN;
    }
    return c.wireBytes(bytes, g.size()) / bandwidth + (crosses || pcie ? ELSEWHERE : SWITCHED);
  }
}
