package dev.meshplan.communication;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Link;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.hardware.Topology;
import dev.meshplan.units.Basis;

/** The constants of one machine, resolved: links inside a domain, paths of a node, network. */
public final class Fabric {
  private final SystemSpec system;
  private final Network network;
  private final Wire[] local;
  private final Wire[] staged;
  private final Wire alone;
  private final boolean tree;
  private final int ports;
  private final Constants<NetworkParameter> networkConstants;
  private final String noLocal;
  private final String noNetwork;

  private Fabric(SystemSpec system, Gpu gpu, Network network) {
    this.system = system;
    this.network = network;
    SystemSpec.Domain d = system.domain();
    this.tree = d.kind() == SystemSpec.Fabric.PCIE || d.kind() == SystemSpec.Fabric.PAIRS;
    Topology node = Topology.of(system, null, system.gpusPerNode());
    Wire[] wires = new Wire[0];
    String noLink = "";
    try {
      wires = tree ? nodeWires(gpu, node) : domainWires(gpu);
    } catch (NoCostModel e) {
      noLink = e.getMessage();
    }
    this.local = wires;
    this.noLocal = noLink;
    this.staged = stagedWires();
    this.alone = local.length > 2 ? local[2] : new Wire(LinkConstants.alone(), Double.NaN, 0);
    Constants<NetworkParameter> constants = null;
    String none = "";
    try {
      constants =
          NetworkConstants.of(network == null ? "none" : network.kind())
              .overridden(network == null ? "" : network.id(), overrides());
    } catch (NoCostModel e) {
      none = e.getMessage();
    }
    this.networkConstants = constants;
    this.noNetwork = none;
    this.ports =
        network != null && network.portsPerNode() > 0
            ? network.portsPerNode()
            : Math.max(1, system.nicsPerNode());
  }

  /**
   * Resolves the constants of a machine: those of the hardware files win over those of the link's
   * generation and the network's kind. A link or network without cost model is refused when a group
   * needs it.
   *
   * @param network what joins the domains; null = nothing
   * @throws dev.meshplan.config.InputException when a file overrides a constant that doesn't exist
   */
  public static Fabric of(SystemSpec system, Gpu gpu, Network network) {
    return new Fabric(system, gpu, network);
  }

  public SystemSpec system() {
    return system;
  }

  /** What joins the domains, or null. */
  public Network network() {
    return network;
  }

  private java.util.Map<String, dev.meshplan.hardware.Known> overrides() {
    return network == null ? java.util.Map.of() : network.collectives();
  }

  /** Links of a domain by the number of ranks; index 0 and 1 are unused. */
  private Wire[] domainWires(Gpu gpu) {
    SystemSpec.Domain d = system.domain();
    Constants<LinkParameter> c =
        LinkConstants.of(d.link()).overridden(system.id(), d.collectives());
    double whole = bandwidth();
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
      wires[n] = switched && n > 2 ? wires[2] : new Wire(c, bandwidth, nvls);
    }
    return wires;
  }

  /** Paths of a node of PCIe cards, by the number of consecutive ranks. */
  private Wire[] nodeWires(Gpu gpu, Topology node) {
    bandwidth();
    SystemSpec.Domain d = system.domain();
    Constants<LinkParameter> direct =
        LinkConstants.pcie(gpu.vendor().equals("Intel")).overridden(system.id(), d.collectives());
    Constants<LinkParameter> host = LinkConstants.host().overridden(system.id(), d.collectives());
    Wire[] wires = new Wire[system.gpusPerNode() + 1];
    for (int n = 2; n < wires.length; n++) {
      int[] ranks = new int[n];
      for (int i = 0; i < n; i++) {
        ranks[i] = i;
      }
      Topology.Bottleneck b = node.ring(ranks);
      wires[n] = new Wire(b.edge().staged() ? host : direct, b.bytesPerSecond(), 0);
    }
    if (d.kind() == SystemSpec.Fabric.PAIRS) {
      wires[2] =
          new Wire(
              LinkConstants.bridge().overridden(system.id(), d.collectives()), d.bandwidth(), 0);
    }
    return wires;
  }

  /** The same ranks without direct writes: everything through host memory. */
  private Wire[] stagedWires() {
    SystemSpec.Pcie p = system.domain().pcie();
    int perSocket = Math.max(1, system.gpusPerNode() / p.sockets());
    Wire[] wires = new Wire[system.gpusPerNode() + 1];
    for (int n = 2; n < wires.length; n++) {
      double bandwidth = n <= perSocket ? p.hostPath().value() : p.socketPath().value();
      wires[n] = new Wire(LinkConstants.host(), bandwidth, 0);
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

  /**
   * Ranks of the group that are joined without the scale-out network.
   *
   * @return 1 to {@code g.size()}
   */
  int together(Group g) {
    if (!tree) {
      return Math.min(g.size(), Math.max(g.perDomain(), g.perNode()));
    }
    int domains = Math.max(1, system.gpusPerNode() / system.domain().size());
    int perNode = g.perNode() > 0 ? g.perNode() : g.perDomain() * domains;
    return Math.max(1, Math.min(g.size(), Math.min(perNode, system.gpusPerNode())));
  }

  /** What joins that many of its ranks. */
  Wire wire(Group g, int together) {
    boolean apart = !tree && g.perDomain() < together;
    boolean unbridged =
        system.domain().kind() == SystemSpec.Fabric.PAIRS && g.perDomain() == 1 && together > 1;
    if (apart || unbridged) {
      return staged[Math.min(together, staged.length - 1)];
    }
    if (together == 1) {
      return alone;
    }
    if (!noLocal.isEmpty()) {
      throw new NoCostModel(noLocal);
    }
    if (together >= local.length) {
      throw new NoCostModel(
          "a group of "
              + together
              + " does not fit into one domain of "
              + system.id()
              + " ("
              + system.domain().size()
              + " GPUs).");
    }
    return local[together];
  }

  /**
   * Network constants.
   *
   * @throws NoCostModel when nothing joins the domains or its kind has no cost model
   */
  Constants<NetworkParameter> network(Group g) {
    if (networkConstants == null) {
      throw new NoCostModel(noNetwork);
    }
    return networkConstants;
  }

  /** Bytes per second of scale-out for one rank of the group while {@code busy} GPUs share. */
  double nicBandwidth(Group g) {
    int busy = g.busy() > 0 ? Math.min(g.busy(), system.gpusPerNode()) : system.gpusPerNode();
    int own = Math.max(1, ports / system.gpusPerNode());
    return network.portBandwidth() * Math.min(own, (double) ports / busy);
  }

  /**
   * Share of its NIC that an exchange of all with all keeps when leaves are oversubscribed: rings
   * and trees cross a leaf once per rail, an all-to-all with most of its bytes.
   *
   * @param nodes nodes of the group
   */
  double spineShare(int nodes) {
    int below =
        network.leafRadix() == 0
            ? 1
            : network.railOptimised()
                ? network.leafRadix()
                : Math.max(1, network.leafRadix() / ports);
    double away = nodes <= below ? 0 : (double) (nodes - below) / nodes;
    return 1 / Math.max(1, away * network.oversubscription());
  }

  /** The weakest basis of what a group's cost stands on. */
  Basis basis(Wire wire, Collective c, boolean crosses) {
    LinkParameter p =
        switch (c) {
          case ALL_REDUCE -> LinkParameter.ALL_REDUCE_SIMPLE_SHARE;
          case REDUCE_SCATTER -> LinkParameter.REDUCE_SCATTER_SIMPLE_SHARE;
          case ALL_GATHER -> LinkParameter.ALL_GATHER_SIMPLE_SHARE;
          case ALL_TO_ALL -> LinkParameter.ALL_TO_ALL_SHARE;
          case SEND_RECV -> LinkParameter.SEND_SHARE;
          case BROADCAST -> null;
        };
    Basis b = p == null ? Basis.ASSUMED : wire.constants().basis(p);
    return crosses ? b.weakest(networkConstants.basis(NetworkParameter.RING_SHARE)) : b;
  }
}
