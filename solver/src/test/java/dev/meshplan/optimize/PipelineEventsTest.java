package dev.meshplan.optimize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The closed form of the pipeline's time against a replay of every forward and backward pass. */
class PipelineEventsTest {
  private static final int PLANS = 500;

  private static double closed(int pp, int vpp, int m, double[] chunk) {
    double[] rank = new double[pp];
    for (int v = 0; v < chunk.length; v++) {
      rank[v % pp] += chunk[v];
    }
    double most = Arrays.stream(rank).max().getAsDouble();
    return m * most + (Arrays.stream(rank).sum() - most) / vpp;
  }

  @Test
  void evenStagesTakeWhatTheClosedFormSays() {
    for (int vpp : new int[] {1, 2, 4}) {
      double[] chunk = new double[8 * vpp];
      Arrays.fill(chunk, 3.0);
      double closed = closed(8, vpp, 32, chunk);
      assertEquals(closed, PipelineEvents.seconds(8, vpp, 32, chunk), 1e-9 * closed, "vpp " + vpp);
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
      double replay = PipelineEvents.seconds(pp, vpp, m, chunk);
      double off = Math.abs(closed(pp, vpp, m, chunk) / replay - 1);
      worst = Math.max(worst, off);
      inside += off <= 0.02 ? 1 : 0;
    }
    System.out.printf(
        "closed form within 2%% of the replay on %d of %d random plans, worst %.1f%%%n",
        inside, PLANS, 100 * worst);
    assertTrue(inside >= PLANS * 3 / 4, inside + " of " + PLANS);
  }
}
