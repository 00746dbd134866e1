package dev.meshplan.communication;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Known;
import dev.meshplan.hardware.Link;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.hardware.PathKind;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.hardware.Topology;
import dev.meshplan.units.Basis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Works out what joins ranks inside a domain or node, by counting the transfers of each pattern on
 * the machine's topology. Switches and whole tori have closed forms.
 */
final class Wiring {
  private final SystemSpec system;
  private final Gpu gpu;
  private final Map<String, Double> tuning;

  Wiring(SystemSpec system, Gpu gpu, Map<String, Double> tuning) {
    this.system = system;
    this.gpu = gpu;
    this.tuning = tuning;
  }

  /** Given GPUs of one node or domain, in ring order. */
  Wire of(int[] ranks) {
    int highest = Arrays.stream(ranks).max().orElse(0);
    return of(Topology.of(system, null, highest + 1), List.of(ranks));
  }

  /**
   * Ranks of one node that are spread over its domains, all such groups of the node at once.
   *
   * @param perDomain ranks of a group in one domain; the others are in the next domains
   * @return by the number of ranks; index 0 and 1 are unused
   */
  Wire[] node(int perDomain) {
    bandwidth();
    int perNode = system.gpusPerNode();
    Topology t = Topology.of(system, null, perNode);
    Wire[] wires = new Wire[perNode + 1];
    for (int n = 2; n <= perNode; n++) {
      wires[n] = of(t, groups(n, perDomain));
    }
    return wires;
  }

  /** Groups of n that fill a node: blocks, or a part of each of several domains. */
  private List<int[]> groups(int n, int perDomain) {
    int perNode = system.gpusPerNode();
    int domain = Math.min(system.domain().size(), perNode);
    if (perDomain >= Math.min(n, domain) || perDomain * (perNode / domain) < n) {
      return blocks(n, perNode);
    }
    List<int[]> groups = new ArrayList<>();
    for (int first = 0; first + perDomain <= domain; first += perDomain) {
      int shift = first;
      groups.add(
          IntStream.range(0, n).map(i -> shift + i / perDomain * domain + i % perDomain).toArray());
    }
    return groups;
  }

  private Wire of(Topology t, List<int[]> groups) {
    SystemSpec.Domain d = system.domain();
    boolean mesh = d.kind() == SystemSpec.Fabric.MESH;
    Topology.Bottleneck hardest = null;
    Wire.Rates rates = null;
    for (int[] ranks : groups) {
      Topology.Bottleneck ring = mesh ? t.bestRings(ranks) : t.rings(groups);
      double exchange = t.exchanges(groups).bytesPerSecond();
      Wire.Rates own =
          mesh
              ? new Wire.Rates(
                  ring.bytesPerSecond(), exchange, t.rings(groups).bytesPerSecond(), bandwidth())
              : new Wire.Rates(
                  ring.bytesPerSecond(), exchange, ring.bytesPerSecond(), ring.bytesPerSecond());
      rates = rates == null ? own : rates.worst(own);
      hardest =
          hardest == null || ring.bytesPerSecond() < hardest.bytesPerSecond() ? ring : hardest;
    }
    if (hardest == null || hardest.edge() == null) {
      throw new NoCostModel("no cost model for GPUs of " + system.id() + " that nothing joins.");
    }
    Constants<LinkParameter> c = constants(hardest.edge());
    return new Wire(own(c), rates, 0, basis(hardest.edge()));
  }

  private Constants<LinkParameter> constants(Topology.Edge fullest) {
    if (fullest.staged()) {
      return LinkConstants.host();
    }
    if (fullest.kind() != PathKind.NVL) {
      return LinkConstants.pcie(gpu.vendor().equals("Intel"));
    }
    return system.domain().kind() == SystemSpec.Fabric.PAIRS
        ? LinkConstants.bridge()
        : LinkConstants.of(system.domain().link());
  }

  private Constants<LinkParameter> own(Constants<LinkParameter> row) {
    return row.tuned(tuning).overridden(system.id(), system.domain().collectives());
  }

  /** A GPU that has no neighbour in its domain: only the start of a collective counts. */
  Wire alone() {
    Wire.Rates none = Wire.Rates.even(Double.NaN);
    return new Wire(LinkConstants.alone().tuned(tuning), none, 0, Basis.DERIVED);
  }

  private Basis basis(Topology.Edge fullest) {
    SystemSpec.Pcie p = system.domain().pcie();
    if (fullest.staged()) {
      return (fullest.kind() == PathKind.SYS ? p.socketPath() : p.hostPath()).basis();
    }
    return Double.isNaN(system.domain().bandwidth()) ? Basis.ASSUMED : Basis.PUBLISHED;
  }

  /** Links of a domain by the number of consecutive ranks; index 0 and 1 are unused. */
  Wire[] domain() {
    SystemSpec.Domain d = system.domain();
    double whole = bandwidth();
    Wire[] wires = new Wire[d.size() + 1];
    if (d.kind() == SystemSpec.Fabric.MESH) {
      Topology t = Topology.of(system, null, d.size());
      for (int n = 2; n <= d.size(); n++) {
        wires[n] = of(t, blocks(n, d.size()));
      }
      return wires;
    }
    Constants<LinkParameter> c = own(LinkConstants.of(d.link()));
    Basis basis = Double.isNaN(d.bandwidth()) ? Basis.ASSUMED : Basis.PUBLISHED;
    boolean switched = d.kind() == SystemSpec.Fabric.SWITCH;
    int nvls =
        switched && gpu.architecture().atLeastHopper() && c.has(LinkParameter.NVLS_RANKS)
            ? (int) c.get(LinkParameter.NVLS_RANKS)
            : 0;
    for (int n = 2; n <= d.size(); n++) {
      Wire.Rates rates =
          d.kind() == SystemSpec.Fabric.TORUS ? Torus.rates(d, whole, n) : Wire.Rates.even(whole);
      wires[n] = switched && n > 2 ? wires[2] : new Wire(c, rates, nvls, basis);
    }
    return wires;
  }

  /** Groups of consecutive ranks. */
  private static List<int[]> blocks(int n, int all) {
    List<int[]> blocks = new ArrayList<>();
    for (int first = 0; first + n <= all; first += n) {
      blocks.add(IntStream.range(first, first + n).toArray());
    }
    return blocks;
  }

  /** The same ranks without direct writes: everything through host memory. */
  Wire[] staged() {
    SystemSpec.Pcie p = system.domain().pcie();
    int perSocket = Math.max(1, system.gpusPerNode() / p.sockets());
    Wire[] wires = new Wire[system.gpusPerNode() + 1];
    for (int n = 2; n < wires.length; n++) {
      Known path = n <= perSocket ? p.hostPath() : p.socketPath();
      Wire.Rates rates = Wire.Rates.even(path.value());
      wires[n] = new Wire(LinkConstants.host().tuned(tuning), rates, 0, path.basis());
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
