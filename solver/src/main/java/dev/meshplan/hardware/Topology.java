package dev.meshplan.hardware;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The wires between GPUs as a graph of directed edges with capacities: scale-up links, PCIe
 * switches with their uplinks, sockets, host memory, NICs, leaves and the spine. Contention is
 * counted on it: a pattern of transfers loads edges, and the fullest edge sets the bandwidth.
 */
public final class Topology {
  private final SystemSpec system;
  private final Network network;
  private final int gpus;
  private final List<String> names = new ArrayList<>();
  private final List<Edge> edges = new ArrayList<>();
  private final List<List<Integer>> outgoing = new ArrayList<>();
  private final List<Nic> nics = new ArrayList<>();
  private final List<Integer> uplinks = new ArrayList<>();

  /** A port: its PCIe switch, the edges from it to the port and on to the leaf, the leaf. */
  private record Nic(int pcieSwitch, int down, int up, int leaf) {}

  /**
   * One direction of a wire.
   *
   * @param from vertex that sends
   * @param to vertex that receives
   * @param capacity bytes per second
   * @param kind the best path that may use it
   * @param staged through a buffer in host memory: the copies limit each transfer, not the wire all
   *     of them
   */
  public record Edge(int from, int to, double capacity, PathKind kind, boolean staged) {}

  private Topology(SystemSpec system, Network network, int gpus) {
    this.system = system;
    this.network = network;
    this.gpus = gpus;
  }

  /**
   * @param system its GPUs are numbered node by node, domain by domain
   * @param network what joins the nodes; null = nothing does
   * @param gpus how many GPUs to build, rounded up to whole nodes
   */
  public static Topology of(SystemSpec system, Network network, int gpus) {
    int perNode = system.gpusPerNode();
    Topology t =
        new Topology(system, network, Math.max(perNode, (gpus + perNode - 1) / perNode * perNode));
    for (int g = 0; g < t.gpus; g++) {
      t.vertex("GPU" + g);
    }
    ScaleUp.wire(t);
    ScaleOut.wire(t);
    return t;
  }

  public SystemSpec system() {
    return system;
  }

  /** What joins the nodes, or null. */
  public Network network() {
    return network;
  }

  /** Number of GPUs; they are the vertices from 0 on. */
  public int gpus() {
    return gpus;
  }

  public List<Edge> edges() {
    return List.copyOf(edges);
  }

  int edgeCount() {
    return edges.size();
  }

  Edge edge(int index) {
    return edges.get(index);
  }

  /** Name of a vertex, such as GPU3, switch1.0, NIC7 or spine. */
  public String name(int vertex) {
    return names.get(vertex);
  }

  int vertex(String name) {
    names.add(name);
    outgoing.add(new ArrayList<>());
    return names.size() - 1;
  }

  /** Adds both directions of a wire; the second has the next number. */
  int wire(int a, int b, double bytesPerSecond, PathKind kind) {
    return wire(a, b, bytesPerSecond, kind, false);
  }

  int wire(int a, int b, double bytesPerSecond, PathKind kind, boolean staged) {
    edge(a, b, bytesPerSecond, kind, staged);
    edge(b, a, bytesPerSecond, kind, staged);
    return edges.size() - 2;
  }

  private void edge(int from, int to, double bytesPerSecond, PathKind kind, boolean staged) {
    outgoing.get(from).add(edges.size());
    edges.add(new Edge(from, to, bytesPerSecond, kind, staged));
  }

  /** The best path between two GPUs, in the words of {@code nvidia-smi topo -m}. */
  public PathKind between(int a, int b) {
    if (a == b) {
      return PathKind.SELF;
    }
    if (ScaleUp.joined(system, a, b)) {
      return PathKind.NVL;
    }
    int perNode = system.gpusPerNode();
    if (a / perNode != b / perNode) {
      return PathKind.NET;
    }
    SystemSpec.Pcie p = system.domain().pcie();
    int sa = a % perNode / p.gpusPerSwitch();
    int sb = b % perNode / p.gpusPerSwitch();
    if (sa == sb) {
      return PathKind.PIX;
    }
    if (sa / p.switchesPerSocket() != sb / p.switchesPerSocket()) {
      return PathKind.SYS;
    }
    return sa / p.switchesPerRoot() == sb / p.switchesPerRoot()
        ? PathKind.PXB
        : sa / p.switchesPerBridge() == sb / p.switchesPerBridge() ? PathKind.PHB : PathKind.NODE;
  }

  /**
   * Edges from one GPU to another on the path that NCCL would take: fewest levels of {@link
   * PathKind}, then fewest hops; between nodes over the GPUs' own NICs.
   *
   * @return empty when nothing joins them
   */
  public List<Edge> path(int from, int to) {
    List<Edge> path = new ArrayList<>();
    for (int e : Routes.route(this, from, to, 0)) {
      path.add(edges.get(e));
    }
    return path;
  }

  /** The shortest way over edges up to a kind that passes no other GPU, as numbers of edges. */
  int[] shortest(int from, int to, PathKind worst) {
    int[] reachedBy = new int[names.size()];
    Arrays.fill(reachedBy, -1);
    int[] queue = new int[names.size()];
    int tail = 0;
    queue[tail++] = from;
    boolean forwards = ScaleUp.forwards(system);
    for (int head = 0; head < tail && reachedBy[to] < 0; head++) {
      for (int e : outgoing.get(queue[head])) {
        Edge edge = edges.get(e);
        boolean through = edge.to() != to && edge.to() < gpus && !forwards;
        if (edge.to() != from
            && reachedBy[edge.to()] < 0
            && !through
            && edge.kind().ordinal() <= worst.ordinal()) {
          reachedBy[edge.to()] = e;
          queue[tail++] = edge.to();
        }
      }
    }
    int hops = 0;
    for (int v = to; reachedBy[v] >= 0; v = edges.get(reachedBy[v]).from()) {
      hops++;
    }
    int[] path = new int[hops];
    for (int v = to; reachedBy[v] >= 0; v = edges.get(reachedBy[v]).from()) {
      path[--hops] = reachedBy[v];
    }
    return path;
  }

  /** Adds a port between a PCIe switch and a leaf, which gets its uplinks when it is new. */
  void nic(String name, int pcieSwitch, int leaf, double uplink, int spine) {
    int nic = vertex(name);
    double port = network.portBandwidth();
    int down = wire(pcieSwitch, nic, port, PathKind.NET);
    while (uplinks.size() <= leaf) {
      uplinks.add(wire(vertex("leaf" + uplinks.size()), spine, uplink, PathKind.NET));
    }
    int up = wire(nic, edges.get(uplinks.get(leaf)).from(), port, PathKind.NET);
    nics.add(new Nic(pcieSwitch, down, up, leaf));
  }

  int leafOf(int nic) {
    return nics.get(nic).leaf;
  }

  int switchOf(int nic) {
    return nics.get(nic).pcieSwitch;
  }

  int downTo(int nic) {
    return nics.get(nic).down;
  }

  /** Edges from one port to another: over a common leaf, else over the spine. */
  int[] across(int out, int in) {
    Nic a = nics.get(out);
    Nic b = nics.get(in);
    return a.leaf == b.leaf
        ? new int[] {a.up, b.up ^ 1}
        : new int[] {a.up, uplinks.get(a.leaf), uplinks.get(b.leaf) ^ 1, b.up ^ 1};
  }

  /**
   * What limits a pattern of transfers.
   *
   * @param bytesPerSecond what one rank can send, one way, no efficiency; 0 when ranks are not
   *     joined
   * @param edge the fullest edge; null when ranks are not joined
   * @param transfers ranks' worth of traffic on that edge
   */
  public record Bottleneck(double bytesPerSecond, Edge edge, double transfers) {}

  /** A ring through these GPUs in this order, all hops sending at once. */
  public Bottleneck ring(int[] ranks) {
    return rings(List.of(ranks));
  }

  /** Several groups at once, each a ring in its order: they share wires. */
  public Bottleneck rings(List<int[]> groups) {
    return new Traffic(this).rings(groups).bottleneck(PathKind.SELF);
  }

  /**
   * As many rings as fit through these GPUs, in whatever order direct links allow; a ring in the
   * given order where there are no direct links to choose from.
   */
  public Bottleneck bestRings(int[] ranks) {
    SystemSpec.Domain d = system.domain();
    int links = d.kind() == SystemSpec.Fabric.MESH ? ScaleUp.rings(system, ranks) : 0;
    if (links == 0) {
      return ring(ranks);
    }
    double together = links * d.pairBandwidth();
    double rate = d.bandwidth() < together ? d.bandwidth() : together;
    return new Bottleneck(rate, edges.get(outgoing.get(ranks[0]).get(0)), 1);
  }

  /** Every GPU exchanging with every other, all at once. */
  public Bottleneck allToAll(int[] ranks) {
    return exchanges(List.of(ranks));
  }

  /** Several groups at once, in each every GPU exchanging with every other. */
  public Bottleneck exchanges(List<int[]> groups) {
    return new Traffic(this).exchanges(groups).bottleneck(PathKind.SELF);
  }

  /**
   * The part of an exchange that leaves a domain, on everything but scale-up links.
   *
   * @param domains the group's GPUs by domain
   * @return in units of what a rank sends to all others, near ones included
   */
  public Bottleneck exchangeAcross(List<int[]> domains) {
    return new Traffic(this).exchangeAcross(domains).bottleneck(PathKind.PIX);
  }

  /**
   * Every GPU of a domain sending to its counterpart in the next one, all at once: how the rings of
   * a group with a NIC for each rank enter and leave.
   *
   * @param domains the group's GPUs by domain; the k-th of one sends to the k-th of the next
   */
  public Bottleneck counterparts(List<int[]> domains) {
    return new Traffic(this).counterparts(domains).bottleneck(PathKind.SELF);
  }
}
