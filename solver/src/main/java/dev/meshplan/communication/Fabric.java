package dev.meshplan.communication;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Known;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.units.Basis;
import java.util.Map;
import java.util.TreeMap;

/** The constants of one machine, resolved: links inside a domain, paths of a node, network. */
public final class Fabric {
  private final SystemSpec system;
  private final Network network;
  private final Wiring wiring;
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
    this.wiring = new Wiring(system, gpu);
    Wire[] wires = new Wire[0];
    String noLink = "";
    try {
      wires = tree ? wiring.node() : wiring.domain();
    } catch (NoCostModel e) {
      noLink = e.getMessage();
    }
    this.local = wires;
    this.noLocal = noLink;
    this.staged = wiring.staged();
    this.alone =
        local.length > 2 ? local[2] : new Wire(LinkConstants.alone(), Double.NaN, 0, Basis.DERIVED);
    Constants<NetworkParameter> constants = null;
    String none = "";
    try {
      constants =
          NetworkConstants.of(network == null ? "none" : network.kind(), latency(network))
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

  private static Known latency(Network network) {
    return network == null ? Known.UNKNOWN : network.latency();
  }

  private Map<String, Known> overrides() {
    return network == null ? Map.of() : network.collectives();
  }

  /** Given GPUs as the shape of a group. */
  Group shape(int[] ranks) {
    int perNode = most(ranks, system.gpusPerNode());
    return new Group(ranks.length, most(ranks, system.domain().size()), tree ? perNode : 0, 0);
  }

  /** What joins given cards of one node; null where the group's shape says all. */
  Wire wire(int[] ranks) {
    boolean placed = tree && ranks.length > 1 && noLocal.isEmpty();
    return placed && most(ranks, system.gpusPerNode()) == ranks.length ? wiring.of(ranks) : null;
  }

  private static int most(int[] ranks, int size) {
    Map<Integer, Integer> counts = new TreeMap<>();
    for (int r : ranks) {
      counts.merge(r / size, 1, Integer::sum);
    }
    return counts.values().stream().max(Integer::compare).orElse(0);
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
   * A constant as it is used now, for a number of ranks inside a domain.
   *
   * @return with its basis; unknown where the generation has no such algorithm
   */
  public Known constant(LinkParameter p, int ranks) {
    Constants<LinkParameter> c = wire(Group.of(ranks, ranks), ranks).constants();
    return c.has(p) ? new Known(c.get(p), c.basis(p)) : Known.UNKNOWN;
  }

  /** A constant of the network as it is used now. */
  public Known constant(NetworkParameter p) {
    Constants<NetworkParameter> c = network(Group.of(2, 1));
    return new Known(c.get(p), c.basis(p));
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
    Basis b = p == null ? Basis.ASSUMED : wire.constants().basis(p).weakest(wire.basis());
    return crosses ? b.weakest(networkConstants.basis(NetworkParameter.RING_SHARE)) : b;
  }
}
