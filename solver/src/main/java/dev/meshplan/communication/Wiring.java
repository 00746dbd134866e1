package dev.meshplan.communication;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Known;
import dev.meshplan.hardware.Link;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.hardware.PathKind;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.hardware.Topology;
import dev.meshplan.units.Basis;

/** Works out what joins ranks inside a domain or a node of cards. */
final class Wiring {
  private final SystemSpec system;
  private final Gpu gpu;

  Wiring(SystemSpec system, Gpu gpu) {
    this.system = system;
    this.gpu = gpu;
  }

  /** Given cards of one node, in ring order: the fullest wire of the ring and what it is like. */
  Wire of(int[] ranks) {
    SystemSpec.Domain d = system.domain();
    int highest = java.util.Arrays.stream(ranks).max().orElse(0);
    Topology.Bottleneck b = Topology.of(system, null, highest + 1).ring(ranks);
    Constants<LinkParameter> c;
    Basis basis = Basis.PUBLISHED;
    if (b.edge() == null) {
      throw new NoCostModel("no cost model for GPUs of " + system.id() + " that nothing joins.");
    } else if (b.edge().staged()) {
      c = LinkConstants.host();
      SystemSpec.Pcie p = d.pcie();
      basis = (b.edge().kind() == PathKind.SYS ? p.socketPath() : p.hostPath()).basis();
    } else if (b.edge().kind() == PathKind.NVL) {
      c = LinkConstants.bridge();
    } else {
      c = LinkConstants.pcie(gpu.vendor().equals("Intel"));
    }
    return new Wire(c.overridden(system.id(), d.collectives()), b.bytesPerSecond(), 0, basis);
  }

  /** Links of a domain by the number of ranks; index 0 and 1 are unused. */
  Wire[] domain() {
    SystemSpec.Domain d = system.domain();
    Constants<LinkParameter> c =
        LinkConstants.of(d.link()).overridden(system.id(), d.collectives());
    double whole = bandwidth();
    Basis basis = Double.isNaN(d.bandwidth()) ? Basis.ASSUMED : Basis.PUBLISHED;
    boolean switched = d.kind() == SystemSpec.Fabric.SWITCH;
    int nvls =
        switched && gpu.architecture().atLeastHopper() && c.has(LinkParameter.NVLS_RANKS)
            ? (int) c.get(LinkParameter.NVLS_RANKS)
            : 0;
    Wire[] wires = new Wire[d.size() + 1];
    for (int n = 2; n <= d.size(); n++) {
      double bandwidth =
          switch (d.kind()) {
            case MESH ->
                Math.min(
                    whole, Double.isNaN(d.pairBandwidth()) ? whole : d.pairBandwidth() * (n - 1));
            case TORUS -> Torus.bandwidth(d, whole, n);
            default -> whole;
          };
      wires[n] = switched && n > 2 ? wires[2] : new Wire(c, bandwidth, nvls, basis);
    }
    return wires;
  }

  /** Paths of a node of PCIe cards, by the number of consecutive ranks. */
  Wire[] node() {
    bandwidth();
    Wire[] wires = new Wire[system.gpusPerNode() + 1];
    for (int n = 2; n < wires.length; n++) {
      int[] ranks = new int[n];
      for (int i = 0; i < n; i++) {
        ranks[i] = i;
      }
      wires[n] = of(ranks);
    }
    return wires;
  }

  /** The same ranks without direct writes: everything through host memory. */
  Wire[] staged() {
    SystemSpec.Pcie p = system.domain().pcie();
    int perSocket = Math.max(1, system.gpusPerNode() / p.sockets());
    Wire[] wires = new Wire[system.gpusPerNode() + 1];
    for (int n = 2; n < wires.length; n++) {
      Known path = n <= perSocket ? p.hostPath() : p.socketPath();
      wires[n] = new Wire(LinkConstants.host(), path.value(), 0, path.basis());
    }
    return wires;
  }

  /** As given; else, for links that are counted, all those of the generation. */
  private double bandwidth() {
    SystemSpec.Domain d = system.domain();
    if (!Double.isNaN(d.bandwidth())) {
      return d.bandwidth();
    }
    for (Link link : Link.values()) {
      if (link.key().equals(d.link()) && link.links() > 0 && !Double.isNaN(link.oneWay())) {
        return link.oneWay();
      }
    }
    throw new NoCostModel(
        "no cost model for " + system.id() + ": its domain.bandwidth is not given.");
  }
}
