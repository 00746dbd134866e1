package dev.meshplan.communication;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Known;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.hardware.Topology;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The constants of one machine, resolved: links inside a domain, paths of a node, network. */
public final class Fabric {
  private static final int MOST_PLACED = 1024;

  private final SystemSpec system;
  private final Network network;
  private final Wiring wiring;
  private final Wire[] local;
  private final Wire[][] spread;
  private final Wire[] staged;
  private final Wire alone;
  private final boolean tree;
  private final int ports;
  private final Constants<NetworkParameter> networkConstants;
  private final String noLocal;
  private final String noNetwork;

  private Fabric(SystemSpec system, Gpu gpu, Network network, Map<String, Double> tuning) {
    this.system = system;
    this.network = network;
    SystemSpec.Domain d = system.domain();
    this.tree = d.kind() == SystemSpec.Fabric.PCIE || d.kind() == SystemSpec.Fabric.PAIRS;
    this.wiring = new Wiring(system, gpu, tuning);
    Wire[] wires = new Wire[0];
    Wire[][] parts = new Wire[0][];
    String noLink = "";
    try {
      parts = tree || d.size() < system.gpusPerNode() ? spread(d.size()) : parts;
      wires = tree ? parts[d.size()] : wiring.domain();
    } catch (NoCostModel e) {
      noLink = e.getMessage();
    }
    this.local = wires;
    this.spread = parts;
    this.noLocal = noLink;
    this.staged = wiring.staged();
    this.alone = local.length > 2 ? local[2] : wiring.alone();
    Constants<NetworkParameter> constants = null;
    String none = "";
    try {
      constants =
          NetworkConstants.of(network == null ? "none" : network.kind(), latency(network), tuning)
              .overridden(network == null ? "" : network.id(), overrides());
    } catch (NoCostModel e) {
      none = e.getMessage();
    }
    this.networkConstants = constants;
    this.noNetwork = none;
    this.ports = network == null ? Math.max(1, system.nicsPerNode()) : network.ports(system);
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
    return new Fabric(system, gpu, network, Map.of());
  }

  /**
   * The same with other constants than the shipped ones, to fit or vary them.
   *
   * @param tuning by row and key, as {@link #constants} names them
   */
  public static Fabric of(SystemSpec system, Gpu gpu, Network network, Map<String, Double> tuning) {
    return new Fabric(system, gpu, network, tuning);
  }

  /** Every constant that prices groups of this machine, by the row that states it. */
  public Map<String, Known> constants() {
    Map<String, Known> all = new TreeMap<>();
    for (Wire[] wires : List.of(local, staged)) {
      for (Wire w : wires) {
        all.putAll(w == null ? Map.of() : w.constants().all());
      }
    }
    all.putAll(networkConstants == null ? Map.of() : networkConstants.all());
    return all;
  }

  /** What joins ranks of a node by how many of them are in one domain. */
  private Wire[][] spread(int domain) {
    Wire[][] wires = new Wire[domain + 1][];
    for (int perDomain = 1; perDomain <= domain; perDomain++) {
      wires[perDomain] = wiring.node(perDomain);
    }
    return wires;
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
    int perNode = Placement.most(ranks, system.gpusPerNode());
    return new Group(
        ranks.length, Placement.most(ranks, system.domain().size()), tree ? perNode : 0, 0);
  }

  /** What joins given GPUs of one node or mesh; null where the group's shape says all. */
  Wire wire(int[] ranks) {
    boolean mesh = system.domain().kind() == SystemSpec.Fabric.MESH;
    boolean placed = (tree || mesh) && ranks.length > 1 && noLocal.isEmpty();
    int within = Math.max(system.gpusPerNode(), mesh ? system.domain().size() : 1);
    return placed && Placement.most(ranks, within) == ranks.length ? wiring.of(ranks) : null;
  }

  /**
   * What given GPUs of several domains get, nothing else running: every pattern counted on the
   * topology.
   *
   * @return null where the group's shape has to do: domains that hold unequal parts, or very many
   */
  AcrossDomains.Shape across(int[] ranks) {
    int unit = tree ? system.gpusPerNode() : system.domain().size();
    List<int[]> domains = Placement.by(unit, ranks);
    int n = ranks.length;
    int g = domains.get(0).length;
    if (n > MOST_PLACED || domains.size() < 2 || g * domains.size() != n) {
      return null;
    }
    Group shape = shape(ranks);
    Constants<NetworkParameter> constants = network(shape);
    Topology t = Topology.of(system, network, Arrays.stream(ranks).max().orElse(0) + 1);
    double ring = t.counterparts(domains).bytesPerSecond();
    double all = t.exchangeAcross(domains).bytesPerSecond() * (n - g) / (n - 1);
    Wire wire = wire(domains.get(0));
    return new AcrossDomains.Shape(
        wire == null ? wire(shape, g) : wire,
        constants,
        n,
        g,
        domains.size(),
        new AcrossDomains.Nics(ring, all, detour(g)));
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
    boolean parted = g.perDomain() < together && g.perDomain() < spread.length;
    if (parted && together <= system.gpusPerNode()) {
      return spread[g.perDomain()][together];
    }
    if (!tree && g.perDomain() < together) {
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
    double nic = network.portBandwidth() * Math.min(own, (double) ports / busy);
    SystemSpec.Domain d = system.domain();
    return d.kind() == SystemSpec.Fabric.PCIE && d.bandwidth() < nic ? d.bandwidth() : nic;
  }

  /**
   * Share of its NIC that a ring keeps where leaves are oversubscribed: of the domains below one
   * group of leaves one sends up and one receives.
   *
   * @param together ranks of a domain
   * @param domains of the group
   */
  double ringShare(int together, int domains) {
    int below = below(together);
    return domains <= below ? 1 : Math.min(1, below / network.oversubscription());
  }

  /**
   * The same for an exchange of all with all: bytes to domains below other leaves cross the spine,
   * and without PXN also those to other rails.
   */
  double exchangeShare(int together, int domains) {
    double near = (Math.min(domains, below(together)) - 1.0) / Math.max(1, domains - 1);
    boolean misaligned = network.railOptimised() && !network.pxn();
    int rails = Math.min(Math.min(together, system.gpusPerNode()), ports);
    double away = 1 - near / (misaligned ? rails : 1);
    return 1 / Math.max(1, away * network.oversubscription());
  }

  /** Domains whose NICs hang on the same leaves. */
  private int below(int together) {
    int nodes = (together + system.gpusPerNode() - 1) / system.gpusPerNode();
    return Math.max(1, network.nodesPerLeaf(system) / nodes);
  }

  /** Extra share of an exchange that passes the scale-up links first, to the receiver's rail. */
  double detour(int together) {
    int rails = Math.min(Math.min(together, system.gpusPerNode()), ports);
    return network.railOptimised() && network.pxn() ? 1 - 1.0 / rails : 0;
  }
}
