package dev.meshplan.hardware;

import java.util.List;

/** Transfers put on the wires of a topology, in units of what one rank sends. */
final class Traffic {
  private final Topology topology;
  private final double[] carried;
  private boolean apart;

  Traffic(Topology topology) {
    this.topology = topology;
    this.carried = new double[topology.edgeCount()];
  }

  /**
   * Adds a transfer.
   *
   * @param load share of a rank's traffic
   * @param members GPUs that may pass it on where a mesh has no direct link
   */
  private void add(int from, int to, double load, int[] members) {
    int ways = Routes.ways(topology, from, to);
    for (int way = 0; way < ways; way++) {
      int[] route = Routes.route(topology, from, to, way, members);
      apart |= route.length == 0;
      for (int e : route) {
        carried[e] = topology.edge(e).staged() ? 1 : carried[e] + load / ways;
      }
    }
  }

  Traffic rings(List<int[]> groups) {
    for (int[] ranks : groups) {
      for (int i = 0; i < ranks.length; i++) {
        add(ranks[i], ranks[(i + 1) % ranks.length], 1, ranks);
      }
    }
    return this;
  }

  Traffic exchanges(List<int[]> groups) {
    for (int[] ranks : groups) {
      for (int from : ranks) {
        for (int to : ranks) {
          if (from != to) {
            add(from, to, 1.0 / (ranks.length - 1), ranks);
          }
        }
      }
    }
    return this;
  }

  Traffic exchangeAcross(List<int[]> domains) {
    int ranks = domains.stream().mapToInt(d -> d.length).sum();
    for (int[] here : domains) {
      for (int[] there : domains) {
        for (int from : here == there ? new int[0] : here) {
          for (int to : there) {
            add(from, to, 1.0 / (ranks - 1), here);
          }
        }
      }
    }
    return this;
  }

  Traffic counterparts(List<int[]> domains) {
    for (int d = 0; d < domains.size(); d++) {
      int[] here = domains.get(d);
      int[] next = domains.get((d + 1) % domains.size());
      for (int i = 0; i < here.length; i++) {
        add(here[i], next[i % next.length], 1, here);
      }
    }
    return this;
  }

  /**
   * The edge that takes longest.
   *
   * @param nearest kind of path from which on edges count
   */
  Topology.Bottleneck bottleneck(PathKind nearest) {
    int fullest = -1;
    for (int e = 0; e < carried.length; e++) {
      boolean counts = carried[e] > 0 && topology.edge(e).kind().ordinal() >= nearest.ordinal();
      if (counts && (fullest < 0 || rate(e) < rate(fullest))) {
        fullest = e;
      }
    }
    if (apart || fullest < 0) {
      return new Topology.Bottleneck(0, null, 0);
    }
    return new Topology.Bottleneck(rate(fullest), topology.edge(fullest), carried[fullest]);
  }

  private double rate(int edge) {
    return topology.edge(edge).capacity() / carried[edge];
  }
}
