package dev.meshplan.optimize;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LayerSplitTest {
  @Test
  void theConstraintModelAgreesWithBruteForceUpToTenLayers() {
    Random random = new Random(10);
    for (int i = 0; i < 120; i++) {
      int pp = 2 + random.nextInt(2);
      int vpp = 1 + random.nextInt(3);
      int n = Math.max(pp * vpp - 2, 1) + random.nextInt(3);
      if (n > 10) {
        continue;
      }
      int[] kindOf = kinds(n, random);
      long[] weight = {32, 20 + random.nextInt(40)};
      long last = random.nextInt(60);
      int[] layers = new LayerSplit(pp, vpp, kindOf, weight, last, 99).solve(null, 0);
      long best = brute(pp, vpp, kindOf, weight, last, new int[pp * vpp], 0, n);
      assertNotNull(layers, "pp " + pp + ", vpp " + vpp + ", layers " + n);
      assertEquals(n, Arrays.stream(layers).sum());
      assertEquals(best, goal(pp, vpp, kindOf, weight, last, layers));
    }
  }

  @Test
  void withoutVirtualStagesItAgreesWithTheBisection() {
    Random random = new Random(11);
    for (int i = 0; i < 60; i++) {
      int pp = 2 + random.nextInt(7);
      int[] kindOf = kinds(pp + random.nextInt(40), random);
      long[] weight = {32, 20 + random.nextInt(40)};
      long last = random.nextInt(90);
      long[] byLayer = Arrays.stream(kindOf).mapToLong(k -> weight[k]).toArray();
      int[] exact = Splitter.exact(pp, byLayer, last);
      int[] model = new LayerSplit(pp, 1, kindOf, weight, last, 99).solve(null, 0);
      assertEquals(
          slowest(pp, kindOf, weight, last, exact), slowest(pp, kindOf, weight, last, model));
    }
  }

  @Test
  void equalLayersAreSplitEvenly() {
    int[] layers = new LayerSplit(16, 8, new int[126], new long[] {32}, 32, 1).solve(null, 0);
    int[] ones = new int[128];
    Arrays.fill(ones, 1);
    ones[0] = 0;
    ones[127] = 0;
    assertArrayEquals(ones, layers);
  }

  private static int[] kinds(int n, Random random) {
    int[] kindOf = new int[n];
    Arrays.fill(kindOf, Math.min(n, random.nextInt(4)), n, 1);
    return kindOf;
  }

  private static long slowest(int pp, int[] kindOf, long[] weight, long last, int[] layers) {
    long[] sum = new long[pp];
    sum[pp - 1] = last;
    int next = 0;
    for (int c = 0; c < layers.length; c++) {
      for (int i = 0; i < layers[c]; i++) {
        sum[c % pp] += weight[kindOf[next++]];
      }
    }
    return Arrays.stream(sum).max().getAsLong();
  }

  /** The slowest rank, and with virtual stages by how much the stages of each row differ. */
  private static long goal(int pp, int vpp, int[] kindOf, long[] weight, long last, int[] layers) {
    long goal = slowest(pp, kindOf, weight, last, layers);
    int next = 0;
    for (int row = 0; row < vpp && vpp > 1; row++) {
      long longest = 0;
      long shortest = Long.MAX_VALUE;
      for (int c = row * pp; c < (row + 1) * pp; c++) {
        long time = 0;
        for (int i = 0; i < layers[c]; i++) {
          time += weight[kindOf[next++]];
        }
        longest = Math.max(longest, time);
        if (c > 0 && c < layers.length - 1) {
          shortest = Math.min(shortest, time);
        }
      }
      goal += longest - shortest;
    }
    return goal;
  }

  private static long brute(
      int pp, int vpp, int[] kindOf, long[] weight, long last, int[] layers, int at, int left) {
    int end = pp * vpp - 1;
    if (at == end) {
      layers[end] = left;
      return goal(pp, end / pp + 1, kindOf, weight, last, layers);
    }
    long best = Long.MAX_VALUE;
    for (int n = at == 0 ? 0 : 1; n <= left; n++) {
      layers[at] = n;
      best = Math.min(best, brute(pp, vpp, kindOf, weight, last, layers, at + 1, left - n));
    }
    return best;
  }
}
