package dev.meshplan.hardware;

/**
 * PCIe trees of the nodes and the network between them: NICs, leaves, spine. Rail-optimised, port k
 * of the nodes below one group of leaves hangs on leaf k; otherwise all ports of a node share a
 * leaf.
 */
final class ScaleOut {
  private ScaleOut() {}

  /** Adds the wires of every node, and what joins the nodes. */
  static void wire(Topology t) {
    Network network = t.network();
    int nodes = t.gpus() / t.system().gpusPerNode();
    int ports = network == null ? 0 : network.ports(t.system());
    int spine = network == null ? -1 : t.vertex("spine");
    for (int n = 0; n < nodes; n++) {
      int[] switches = tree(t, n);
      for (int p = 0; p < ports; p++) {
        String name = "NIC" + n + "." + p;
        t.nic(name, switches[p * switches.length / ports], leaf(t, n, p), uplinks(t), spine);
      }
    }
  }

  /** Number of the leaf on which a node's port hangs. */
  private static int leaf(Topology t, int node, int port) {
    int group = node / t.network().nodesPerLeaf(t.system());
    return t.network().railOptimised() ? group * t.network().ports(t.system()) + port : group;
  }

  private static double uplinks(Topology t) {
    Network network = t.network();
    int nodes = t.gpus() / t.system().gpusPerNode();
    double below = network.leafRadix() == 0 ? nodes : network.nodesPerLeaf(t.system());
    double down = below * (network.railOptimised() ? 1 : network.ports(t.system()));
    return down * network.portBandwidth() / network.oversubscription();
  }

  /**
   * GPU to PCIe switch. Boards with scale-up links bring the NICs that their GPUs can feed, over
   * lanes of their own where the path to the CPU is slower.
   */
  private static double lane(Topology t) {
    SystemSpec.Domain d = t.system().domain();
    double lane = Double.isNaN(d.hostBandwidth()) ? d.pcie().uplinkBandwidth() : d.hostBandwidth();
    return d.kind() == SystemSpec.Fabric.PCIE || t.network() == null
        ? lane
        : Math.max(lane, t.network().perGpuBandwidth(t.system()));
  }

  /** Returns the PCIe switches of a node. */
  private static int[] tree(Topology t, int node) {
    SystemSpec.Pcie pcie = t.system().domain().pcie();
    int perNode = t.system().gpusPerNode();
    int[] switches = new int[pcie.sockets() * pcie.switchesPerSocket()];
    int perRoot = pcie.direct(PathKind.PXB) ? pcie.switchesPerRoot() : 1;
    int[] above = roots(t, node, switches.length / perRoot);
    if (perRoot > 1) {
      for (int r = 0; r < above.length; r++) {
        int upper = t.vertex("upper" + node + "." + r);
        t.wire(upper, above[r], pcie.uplinkBandwidth(), PathKind.PHB);
        above[r] = upper;
      }
    }
    PathKind kind = perRoot > 1 ? PathKind.PXB : PathKind.PHB;
    for (int i = 0; i < switches.length; i++) {
      switches[i] = t.vertex("switch" + node + "." + i);
      t.wire(switches[i], above[i / perRoot], pcie.uplinkBandwidth(), kind);
      for (int g = 0; g < pcie.gpusPerSwitch(); g++) {
        int local = i * pcie.gpusPerSwitch() + g;
        if (local < perNode) {
          t.wire(node * perNode + local, switches[i], lane(t), PathKind.PIX);
        }
      }
    }
    return switches;
  }

  /** Root ports with the memories of their sockets, and with host bridges that pass writes on. */
  private static int[] roots(Topology t, int node, int count) {
    SystemSpec.Pcie pcie = t.system().domain().pcie();
    int[] memories = new int[pcie.sockets()];
    for (int s = 0; s < pcie.sockets(); s++) {
      memories[s] = t.vertex("memory" + node + "." + s);
      for (int o = 0; o < s; o++) {
        t.wire(memories[o], memories[s], pcie.socketPath().value(), PathKind.SYS, true);
      }
    }
    boolean direct = pcie.direct(PathKind.NODE);
    double cpu = direct ? pcie.uplinkBandwidth() : pcie.hostPath().value();
    int perSocket = count / pcie.sockets();
    int perBridge =
        pcie.direct(PathKind.PHB)
            ? pcie.switchesPerBridge() * count / (pcie.sockets() * pcie.switchesPerSocket())
            : 1;
    int[] roots = new int[count];
    int bridge = -1;
    for (int r = 0; r < count; r++) {
      roots[r] = t.vertex("root" + node + "." + r);
      t.wire(roots[r], memories[r / perSocket], cpu, PathKind.NODE, !direct);
      if (perBridge > 1) {
        bridge = r % perBridge == 0 ? t.vertex("bridge" + node + "." + r / perBridge) : bridge;
        t.wire(roots[r], bridge, pcie.uplinkBandwidth(), PathKind.PHB);
      }
    }
    return roots;
  }
}
