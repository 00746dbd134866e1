package dev.meshplan.hardware;

import java.util.List;

/** The scale-up links of a topology: switched domain, direct mesh, bridged pairs, torus. */
final class ScaleUp {
  private ScaleUp() {}

  /** Adds the links of every domain. */
  static void wire(Topology t) {
    SystemSpec.Domain d = t.system().domain();
    int size = d.size();
    for (int first = 0; first < t.gpus(); first += size) {
      int end = Math.min(first + size, t.gpus());
      switch (d.kind()) {
        case SWITCH -> {
          int fabric = t.vertex("fabric" + first / size);
          for (int g = first; g < end; g++) {
            t.wire(g, fabric, d.bandwidth(), PathKind.NVL);
          }
        }
        case MESH, PAIRS, TORUS -> {
          for (int a = first; a < end; a++) {
            for (int b = a + 1; b < end; b++) {
              if (joined(t.system(), a, b)) {
                t.wire(a, b, links(d, a - first, b - first) * link(d), PathKind.NVL);
              }
            }
          }
        }
        case PCIE -> {}
      }
    }
  }

  /** Whether scale-up links alone join two GPUs (over a switch or directly). */
  static boolean joined(SystemSpec system, int a, int b) {
    SystemSpec.Domain d = system.domain();
    if (a / d.size() != b / d.size()) {
      return false;
    }
    return switch (d.kind()) {
      case SWITCH, PAIRS -> true;
      case MESH -> links(d, a % d.size(), b % d.size()) > 0;
      case TORUS -> neighbours(d, a % d.size(), b % d.size());
      case PCIE -> false;
    };
  }

  /** Links between two GPUs of a domain; without a list every pair has one. */
  static int links(SystemSpec.Domain d, int a, int b) {
    if (d.directLinks().isEmpty()) {
      return 1;
    }
    int low = Math.min(a, b);
    int high = Math.max(a, b);
    for (DirectLink l : d.directLinks()) {
      if (l.a() == low && l.b() == high) {
        return l.count();
      }
    }
    return 0;
  }

  /** The same by the GPUs' numbers; 0 across domains. */
  static int linksBetween(SystemSpec system, int a, int b) {
    SystemSpec.Domain d = system.domain();
    return a / d.size() == b / d.size() && a != b ? links(d, a % d.size(), b % d.size()) : 0;
  }

  /** Links over which every one of these GPUs of a mesh sends when all rings run that fit. */
  static int rings(SystemSpec system, int[] ranks) {
    int[][] links = new int[ranks.length][ranks.length];
    for (int i = 0; i < ranks.length; i++) {
      for (int j = 0; j < ranks.length; j++) {
        links[i][j] = linksBetween(system, ranks[i], ranks[j]);
      }
    }
    return DirectRings.links(links);
  }

  /** In a torus a GPU passes on what is not for it. */
  static boolean forwards(SystemSpec system) {
    return system.domain().kind() == SystemSpec.Fabric.TORUS;
  }

  /** Lengths of a torus' axes: as given, else as square as possible in two dimensions. */
  static List<Integer> axes(SystemSpec.Domain d) {
    if (!d.axes().isEmpty()) {
      return d.axes();
    }
    int a = (int) Math.floor(Math.sqrt(d.size()));
    while (d.size() % a != 0) {
      a--;
    }
    return List.of(a, d.size() / a);
  }

  private static double link(SystemSpec.Domain d) {
    return d.kind() == SystemSpec.Fabric.TORUS
        ? d.bandwidth() / (2.0 * axes(d).size())
        : d.pairBandwidth();
  }

  private static boolean neighbours(SystemSpec.Domain d, int a, int b) {
    int apart = 0;
    int ra = a;
    int rb = b;
    for (int length : axes(d)) {
      int step = Math.abs(ra % length - rb % length);
      if (step != 0) {
        if (step != 1 && step != length - 1) {
          return false;
        }
        apart++;
      }
      ra /= length;
      rb /= length;
    }
    return apart == 1;
  }
}
