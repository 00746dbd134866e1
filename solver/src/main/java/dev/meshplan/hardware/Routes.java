package dev.meshplan.hardware;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Which edges a transfer takes. Inside a node: direct links, else over a neighbour of the same
 * group that has links to both (NCCL's NVB), else PCIe and host memory. Between nodes: the own NIC,
 * its leaf, the spine where the other NIC hangs elsewhere; with PXN first over the scale-up links
 * to the GPU whose NIC hangs on the same leaf as the receiver's.
 */
final class Routes {
  private Routes() {}

  /** Ways that a transfer is split over: GPUs with several NICs use all of them. */
  static int ways(Topology t, int from, int to) {
    return t.between(from, to) == PathKind.NET && t.network() != null
        ? Math.max(1, t.network().ports(t.system()) / t.system().gpusPerNode())
        : 1;
  }

  /** Numbers of the edges of one way; empty when nothing joins the two. */
  static int[] route(Topology t, int from, int to, int way) {
    PathKind kind = t.between(from, to);
    int domain = t.system().domain().size();
    boolean handedOn = ScaleUp.forwards(t.system()) && from / domain == to / domain;
    if (kind != PathKind.NET || handedOn) {
      boolean nearCpu = kind == PathKind.PXB || kind == PathKind.PHB;
      boolean staged = nearCpu && !t.system().domain().pcie().direct(kind);
      return t.shortest(from, to, staged ? PathKind.NODE : kind);
    }
    if (t.network() == null) {
      return new int[0];
    }
    int out = nic(t, from, way);
    int in = nic(t, to, way);
    int by = from;
    if (t.network().pxn() && t.leafOf(out) != t.leafOf(in)) {
      by = peer(t, from, to, way);
      out = nic(t, by, way);
    }
    int[] own = by == from ? new int[0] : t.shortest(from, by, PathKind.NVL);
    return join(own, toNic(t, by, out), t.across(out, in), back(toNic(t, to, in)));
  }

  /** The same with a group's members passing on what two of them have no link for. */
  static int[] route(Topology t, int from, int to, int way, int[] members) {
    boolean mesh = t.system().domain().kind() == SystemSpec.Fabric.MESH;
    if (mesh && t.between(from, to) != PathKind.NVL) {
      int best = -1;
      int most = 0;
      for (int m : members) {
        int links =
            Math.min(
                ScaleUp.linksBetween(t.system(), from, m), ScaleUp.linksBetween(t.system(), m, to));
        if (m != from && m != to && links > most) {
          best = m;
          most = links;
        }
      }
      if (best >= 0) {
        return join(t.shortest(from, best, PathKind.NVL), t.shortest(best, to, PathKind.NVL));
      }
    }
    return route(t, from, to, way);
  }

  /** The NIC nearest to a GPU, or one of several: ports are dealt out in order. */
  private static int nic(Topology t, int gpu, int way) {
    int perNode = t.system().gpusPerNode();
    int ports = t.network().ports(t.system());
    int first = (int) ((long) (gpu % perNode) * ports / perNode);
    return gpu / perNode * ports + first + way;
  }

  /**
   * The GPU of the sender's node, joined to it by scale-up links, whose NIC hangs where the
   * receiver's does; the sender itself where there is none.
   */
  private static int peer(Topology t, int from, int to, int way) {
    int perNode = t.system().gpusPerNode();
    int leaf = t.leafOf(nic(t, to, way));
    for (int i = 0; i < perNode; i++) {
      int peer = from / perNode * perNode + (to + i) % perNode;
      boolean joined = peer != from && ScaleUp.joined(t.system(), from, peer);
      if (joined && t.leafOf(nic(t, peer, way)) == leaf) {
        return peer;
      }
    }
    return from;
  }

  private static int[] toNic(Topology t, int gpu, int nic) {
    return join(t.shortest(gpu, t.switchOf(nic), PathKind.SYS), new int[] {t.downTo(nic)});
  }

  /** Both directions of a wire are neighbours in the list of edges. */
  private static int[] back(int[] path) {
    return IntStream.range(0, path.length).map(i -> path[path.length - 1 - i] ^ 1).toArray();
  }

  private static int[] join(int[]... parts) {
    return Arrays.stream(parts).flatMapToInt(Arrays::stream).toArray();
  }
}
