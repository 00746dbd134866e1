package dev.meshplan.estimate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The closed form of the pipeline's time against a replay of every forward and backward pass. */
class PipelineReplayTest {
  private static final int PLANS = 500;

  private static double closed(int pp, int vpp, int m, double[] chunk) {
    double[] rank = new double[pp];
    for (int v = 0; v < chunk.length; v++) {
      rank[v % pp] += chunk[v];
    }
    double most = Arrays.stream(rank).max().getAsDouble();
    return m * most + (Arrays.stream(rank).sum() - most) / vpp;
  }

  /** A third of a chunk's time is forward. */
  private static double replay(int pp, int vpp, int m, double[] chunk) {
    double[] forward = Arrays.stream(chunk).map(t -> t / 3).toArray();
    double[] backward = Arrays.stream(chunk).map(t -> t * 2 / 3).toArray();
    return PipelineReplay.seconds(pp, vpp, m, forward, backward);
  }

  @Test
  void evenStagesTakeWhatTheClosedFormSays() {
    for (int vpp : new int[] {1, 2, 4}) {
      double[] chunk = new double[8 * vpp];
      Arrays.fill(chunk, 3.0);
      double closed = closed(8, vpp, 32, chunk);
      assertEquals(closed, replay(8, vpp, 32, chunk), 1e-9 * closed, "vpp " + vpp);
    }
  }

  @Test
  void mostRandomPlansLieWithinTwoPercentOfTheirReplay() {
    Random random = new Random(500);
    int inside = 0;
    double worst = 0;
    for (int i = 0; i < PLANS; i++) {
      int pp = 2 + random.nextInt(15);
      int vpp = 1 + random.nextInt(6);
      int m = pp * (2 + random.nextInt(8));
      double head = random.nextDouble();
      double[] chunk = new double[pp * vpp];
      int each = 1 + random.nextInt(4);
      Arrays.fill(chunk, each);
      // The last stage gives up a layer where the head takes longer than half of one.
      chunk[chunk.length - 1] += head - (head > 0.5 ? 1 : 0);
      double replay = replay(pp, vpp, m, chunk);
      double off = Math.abs(closed(pp, vpp, m, chunk) / replay - 1);
      worst = Math.max(worst, off);
      inside += off <= 0.02 ? 1 : 0;
    }
    System.out.printf(
        "closed form within 2%% of the replay on %d of %d random plans, worst %.1f%%%n",
        inside, PLANS, 100 * worst);
    assertTrue(inside >= PLANS * 3 / 4, inside + " of " + PLANS);
  }

  /** Rounds cost alike after the first few, so that long batches need no long replay. */
  @Test
  void furtherRoundsCostAlike() {
    Random random = new Random(33);
    int exact = 0;
    for (int i = 0; i < 200; i++) {
      int pp = 2 + random.nextInt(7);
      int vpp = 2 + random.nextInt(4);
      int each = 1 + random.nextInt(3);
      double[] chunk = new double[pp * vpp];
      for (int v = 0; v < chunk.length; v++) {
        // Rows of equal stages, but for the last, which evens the ranks out; or any stages.
        double row = v / pp < vpp - 1 ? each : each + (pp - v % pp) / 4.0;
        chunk[v] = i % 2 == 0 ? row : each + random.nextInt(2);
      }
      double[] forward = Arrays.stream(chunk).map(t -> t * 0.35).toArray();
      double[] backward = Arrays.stream(chunk).map(t -> t * 0.65).toArray();
      double slowest = 0;
      for (int r = 0; r < pp; r++) {
        double rank = 0;
        for (int c = 0; c < vpp; c++) {
          rank += chunk[c * pp + r];
        }
        slowest = Math.max(slowest, rank);
      }
      double whole = PipelineReplay.whole(pp, vpp, 40 * pp, forward, backward);
      double few = PipelineReplay.seconds(pp, vpp, 40 * pp, forward, backward);
      assertEquals(whole, few, 0.02 * whole);
      exact += Math.abs(few / whole - 1) < 1e-6 ? 1 : 0;
      assertTrue(
          whole >= 40 * pp * slowest * (1 - 1e-12), "no replay is faster than its slowest rank");
    }
    assertTrue(exact >= 190, exact + " of 200 are exact");
  }
}
