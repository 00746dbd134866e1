package dev.meshplan.optimize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.estimate.PipelineReplay;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The few layouts that are asked for, against every move of one layer that the replay likes. */
class VirtualStagesTest {
  private static List<int[]> ways(int layers, int pp, int vpp, double head) {
    List<int[]> ways = new ArrayList<>(VirtualStages.rows(layers, pp, vpp, head));
    for (int first = 0; first <= VirtualStages.free(layers, pp * vpp); first++) {
      int[] alike = VirtualStages.alike(layers, pp * vpp, first);
      if (alike != null) {
        ways.add(alike);
      }
    }
    return ways;
  }

  @Test
  void allLayersStandAndOnlyTheEndsMayBeEmpty() {
    Random random = new Random(7);
    for (int i = 0; i < 2000; i++) {
      int pp = 2 + random.nextInt(15);
      int vpp = 2 + random.nextInt(8);
      int layers = pp * vpp - 2 + random.nextInt(3 * pp * vpp);
      List<int[]> ways = ways(layers, pp, vpp, 4 * random.nextDouble());
      assertTrue(!ways.isEmpty(), layers + " layers on " + pp + " x " + vpp);
      for (int[] way : ways) {
        assertEquals(layers, Arrays.stream(way).sum());
        for (int v = 0; v < way.length; v++) {
          boolean end = v == 0 || v == way.length - 1;
          assertTrue(way[v] >= (end ? 0 : 1), Arrays.toString(way));
        }
      }
    }
  }

  @Test
  void theBestOfThemIsNearlyAsFastAsADescent() {
    Random random = new Random(8);
    List<Double> lost = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      int pp = 2 + random.nextInt(7);
      int vpp = 2 + random.nextInt(3);
      int m = pp * (2 + random.nextInt(3));
      int layers = pp * vpp + random.nextInt(pp * vpp * 3);
      double head = 0.2 + 1.6 * random.nextDouble();
      int[] best = null;
      double least = Double.POSITIVE_INFINITY;
      for (int[] way : ways(layers, pp, vpp, head)) {
        double time = replay(pp, vpp, m, way, head);
        if (time < least) {
          least = time;
          best = way;
        }
      }
      lost.add(least / descent(pp, vpp, m, best, head, least) - 1);
    }
    double mean = lost.stream().mapToDouble(x -> x).average().orElseThrow();
    double worst = lost.stream().mapToDouble(x -> x).max().orElseThrow();
    System.out.printf(
        "layouts in rows lose %.1f%% in the mean, %.1f%% at most, to a descent over single moves%n",
        100 * mean, 100 * worst);
    assertTrue(mean <= 0.02, "mean " + mean);
    assertTrue(worst <= 0.12, "worst " + worst);
  }

  private static double descent(int pp, int vpp, int m, int[] from, double head, double time) {
    int[] layers = from.clone();
    double least = time;
    boolean better = true;
    while (better) {
      better = false;
      for (int i = 0; i < layers.length && !better; i++) {
        boolean end = i == 0 || i == layers.length - 1;
        for (int j = 0; j < layers.length && layers[i] > (end ? 0 : 1) && !better; j++) {
          layers[i]--;
          layers[j]++;
          double moved = replay(pp, vpp, m, layers, head);
          better = moved < least * (1 - 1e-9);
          least = better ? moved : least;
          if (!better) {
            layers[i]++;
            layers[j]--;
          }
        }
      }
    }
    return least;
  }

  private static double replay(int pp, int vpp, int m, int[] layers, double head) {
    double[] forward = new double[layers.length];
    double[] backward = new double[layers.length];
    for (int v = 0; v < layers.length; v++) {
      forward[v] = (layers[v] + (v == layers.length - 1 ? head : 0)) / 3;
      backward[v] = 2 * forward[v];
    }
    return PipelineReplay.seconds(pp, vpp, m, forward, backward);
  }
}
