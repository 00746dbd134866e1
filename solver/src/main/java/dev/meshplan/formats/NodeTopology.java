package dev.meshplan.formats;

import dev.meshplan.hardware.PathKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * How the GPUs and NICs of one node are joined, as a tool reported it.
 *
 * @param gpus names of the GPUs
 * @param nics names of the NICs, renamed by the legend
 * @param paths row by row over GPUs, then NICs; null where the report ends early
 * @param cpuAffinity CPU lists by GPU; empty text where unknown
 * @param numa CPU NUMA node by GPU; -1 where unknown
 * @param gpuNuma NUMA node that the GPU's own memory is; -1 where it is none
 * @param throughSwitch whether the NVLinks end in switches; null when the report can't tell
 * @param nicBytesPerSecond speed of the NICs, one way; NaN when not reported
 * @param missing what the report leaves out
 * @param faults what is broken
 */
record NodeTopology(
    List<String> gpus,
    List<String> nics,
    Map<String, Path> paths,
    List<String> cpuAffinity,
    List<Integer> numa,
    List<Integer> gpuNuma,
    Boolean throughSwitch,
    double nicBytesPerSecond,
    List<String> missing,
    List<String> faults) {

  /** A cell: the kind of path, and how many NVLinks when it is one. */
  record Path(PathKind kind, int links) {}

  static String key(String from, String to) {
    return from + "|" + to;
  }

  /** The path from one device to another, or null when not reported. */
  Path path(String from, String to) {
    return paths.get(key(from, to));
  }

  /** NVLinks between two GPUs; 0 when there are none or the cell is missing. */
  int links(String a, String b) {
    Path p = path(a, b);
    return p != null && p.kind() == PathKind.NVL ? p.links() : 0;
  }

  /** Whether every pair of GPUs is reported. */
  boolean whole() {
    return gpus.stream().allMatch(a -> gpus.stream().allMatch(b -> path(a, b) != null));
  }

  /** Pairs whose two cells differ. */
  List<String> asymmetries() {
    List<String> list = new ArrayList<>();
    List<String> all = new ArrayList<>(gpus);
    all.addAll(nics);
    for (int i = 0; i < all.size(); i++) {
      for (int j = i + 1; j < all.size(); j++) {
        Path there = path(all.get(i), all.get(j));
        Path back = path(all.get(j), all.get(i));
        if (there != null && back != null && !there.equals(back)) {
          list.add(
              all.get(i)
                  + " to "
                  + all.get(j)
                  + " is "
                  + text(there)
                  + ", back it is "
                  + text(back));
        }
      }
    }
    return list;
  }

  /** Sets of GPUs that reach each other over paths that pass the test, in order of first GPU. */
  List<List<String>> groups(Predicate<Path> near) {
    List<List<String>> groups = new ArrayList<>();
    TreeSet<Integer> left = new TreeSet<>();
    for (int i = 0; i < gpus.size(); i++) {
      left.add(i);
    }
    while (!left.isEmpty()) {
      TreeSet<Integer> group = new TreeSet<>();
      List<Integer> open = new ArrayList<>(List.of(left.pollFirst()));
      while (!open.isEmpty()) {
        int at = open.remove(open.size() - 1);
        group.add(at);
        for (int other : List.copyOf(left)) {
          Path p = path(gpus.get(at), gpus.get(other));
          if (p != null && near.test(p)) {
            left.remove(other);
            open.add(other);
          }
        }
      }
      groups.add(group.stream().map(gpus::get).toList());
    }
    return groups;
  }

  /** The nearest NICs of a GPU with the kind of path; null when it has none reported. */
  String nearestNics(String gpu) {
    PathKind best = null;
    List<String> names = new ArrayList<>();
    for (String nic : nics) {
      Path p = path(gpu, nic);
      if (p == null) {
        continue;
      }
      if (best == null || p.kind().compareTo(best) < 0) {
        best = p.kind();
        names.clear();
      }
      if (p.kind() == best) {
        names.add(nic);
      }
    }
    return best == null || best.compareTo(PathKind.PXB) > 0
        ? null
        : String.join(", ", names) + " (" + best.name() + ")";
  }

  static String text(Path p) {
    return p.kind() == PathKind.NVL ? "NV" + p.links() : p.kind().name();
  }
}
