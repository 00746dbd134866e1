package dev.meshplan.communication;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

/** Given GPUs, sorted into the nodes or domains that hold them. */
final class Placement {
  private Placement() {}

  /** The GPUs of each part, in the order given; parts by their first number. */
  static List<int[]> by(int size, int[] ranks) {
    TreeMap<Integer, List<Integer>> parts = new TreeMap<>();
    Arrays.stream(ranks)
        .forEach(r -> parts.computeIfAbsent(r / size, k -> new ArrayList<>()).add(r));
    return parts.values().stream()
        .map(p -> p.stream().mapToInt(Integer::intValue).toArray())
        .toList();
  }

  /** The most GPUs that one part holds. */
  static int most(int[] ranks, int size) {
    return by(size, ranks).stream().mapToInt(p -> p.length).max().orElse(0);
  }
}
