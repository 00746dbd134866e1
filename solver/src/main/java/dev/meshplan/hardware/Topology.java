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
    t.wireNodes();
    return t;
  }

  public SystemSpec system() {
    return system;
  }

  /** Number of GPUs; they are the vertices from 0 on. */
  public int gpus() {
    return gpus;
  }

  public List<Edge> edges() {
    return List.copyOf(edges);
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

  /** Adds both directions of a wire. */
  void wire(int a, int b, double bytesPerSecond, PathKind kind) {
    wire(a, b, bytesPerSecond, kind, false);
  }

  private void wire(int a, int b, double bytesPerSecond, PathKind kind, boolean staged) {
    edge(a, b, bytesPerSecond, kind, staged);
    edge(b, a, bytesPerSecond, kind, staged);
  }

  private void edge(int from, int to, double bytesPerSecond, PathKind kind, boolean staged) {
    outgoing.get(from).add(edges.size());
    edges.add(new Edge(from, to, bytesPerSecond, kind, staged));
  }

  private void wireNodes() {
    int perNode = system.gpusPerNode();
    SystemSpec.Pcie pcie = system.domain().pcie();
    double lane =
        Double.isNaN(system.domain().hostBandwidth())
            ? pcie.uplinkBandwidth()
            : system.domain().hostBandwidth();
    int nodes = gpus / perNode;
    int ports = network == null ? 0 : ports();
    int spine = network == null ? -1 : vertex("spine");
    int[] leaves = new int[Math.max(1, ports)];
    Arrays.fill(leaves, -1);
    for (int n = 0; n < nodes; n++) {
      int[] switches = new int[pcie.sockets() * pcie.switchesPerSocket()];
      int[] memories = new int[pcie.sockets()];
      for (int s = 0; s < pcie.sockets(); s++) {
        memories[s] = vertex("memory" + n + "." + s);
        for (int o = 0; o < s; o++) {
          wire(memories[o], memories[s], pcie.socketPath().value(), PathKind.SYS, true);
        }
      }
      for (int i = 0; i < switches.length; i++) {
        switches[i] = vertex("switch" + n + "." + i);
        int sw = switches[i];
        int root = vertex("root" + n + "." + i);
        int socket = i / pcie.switchesPerSocket();
        wire(sw, root, pcie.uplinkBandwidth(), PathKind.PHB);
        boolean direct = pcie.reach().ordinal() >= PathKind.NODE.ordinal();
        double cpu = direct ? pcie.uplinkBandwidth() : pcie.hostPath().value();
        wire(root, memories[socket], cpu, PathKind.NODE, !direct);
        for (int g = 0; g < pcie.gpusPerSwitch(); g++) {
          int local = i * pcie.gpusPerSwitch() + g;
          if (local < perNode) {
            wire(n * perNode + local, sw, lane, PathKind.PIX);
          }
        }
      }
      for (int p = 0; p < ports; p++) {
        int nic = vertex("NIC" + n + "." + p);
        wire(switches[p * switches.length / ports], nic, network.portBandwidth(), PathKind.NET);
        if (leaves[rail(n, p)] < 0) {
          leaves[rail(n, p)] = vertex("leaf" + rail(n, p));
        }
        wire(nic, leaves[rail(n, p)], network.portBandwidth(), PathKind.NET);
      }
    }
    for (int leaf : leaves) {
      if (leaf >= 0) {
        double down = network.portBandwidth() * (network.railOptimised() ? nodes : ports);
        wire(leaf, spine, down / network.oversubscription(), PathKind.NET);
      }
    }
  }

  private int ports() {
    return network.portsPerNode() > 0 ? network.portsPerNode() : Math.max(1, system.nicsPerNode());
  }

  /** Rail-optimised: port k of every node on leaf k. Otherwise a node's ports share a leaf. */
  private int rail(int node, int port) {
    return network.railOptimised() ? port : node % ports();
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
    return sa / p.switchesPerSocket() == sb / p.switchesPerSocket() ? PathKind.NODE : PathKind.SYS;
  }

  /**
   * Edges from one GPU to another on the path that NCCL would take: fewest levels of {@link
   * PathKind}, then fewest hops.
   *
   * @return empty when nothing joins them
   */
  public List<Edge> path(int from, int to) {
    PathKind worst = between(from, to);
    int[] reachedBy = new int[names.size()];
    Arrays.fill(reachedBy, -1);
    List<Integer> queue = new ArrayList<>(List.of(from));
    for (int head = 0; head < queue.size() && reachedBy[to] < 0; head++) {
      for (int e : outgoing.get(queue.get(head))) {
        Edge edge = edges.get(e);
        boolean through = edge.to() != to && edge.to() < gpus && !ScaleUp.forwards(system);
        if (edge.to() != from
            && reachedBy[edge.to()] < 0
            && !through
            && edge.kind().ordinal() <= worst.ordinal()) {
          reachedBy[edge.to()] = e;
          queue.add(edge.to());
        }
      }
    }
    List<Edge> path = new ArrayList<>();
    for (int v = to; reachedBy[v] >= 0; v = edges.get(reachedBy[v]).from()) {
      path.add(0, edges.get(reachedBy[v]));
    }
    return path;
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
    double[][] load = new double[ranks.length][ranks.length];
    for (int i = 0; i < ranks.length; i++) {
      load[i][(i + 1) % ranks.length] = 1;
    }
    return bottleneck(ranks, load);
  }

  /** Every GPU exchanging with every other, all at once. */
  public Bottleneck allToAll(int[] ranks) {
    double[][] load = new double[ranks.length][ranks.length];
    for (double[] row : load) {
      Arrays.fill(row, 1.0 / (ranks.length - 1));
    }
    return bottleneck(ranks, load);
  }

  private Bottleneck bottleneck(int[] ranks, double[][] load) {
    double[] carried = new double[edges.size()];
    for (int i = 0; i < ranks.length; i++) {
      for (int j = 0; j < ranks.length; j++) {
        if (i != j && load[i][j] > 0) {
          List<Edge> path = path(ranks[i], ranks[j]);
          if (path.isEmpty()) {
            return new Bottleneck(0, null, 0);
          }
          for (Edge e : path) {
            int at = edges.indexOf(e);
            carried[at] = e.staged() ? 1 : carried[at] + load[i][j];
          }
        }
      }
    }
    int fullest = -1;
    for (int e = 0; e < carried.length; e++) {
      if (carried[e] > 0
          && (fullest < 0
              || edges.get(e).capacity() / carried[e]
                  < edges.get(fullest).capacity() / carried[fullest])) {
        fullest = e;
      }
    }
    Edge edge = edges.get(fullest);
    return new Bottleneck(edge.capacity() / carried[fullest], edge, carried[fullest]);
  }
}
