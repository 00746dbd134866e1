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
                t.wire(a, b, link(d), PathKind.NVL);
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
      case SWITCH, MESH, PAIRS -> true;
      case TORUS -> neighbours(d, a % d.size(), b % d.size());
      case PCIE -> false;
    };
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
