package dev.meshplan.optimize;

import java.util.Arrays;

/** Replays every forward and backward pass of a pipeline, where the closed form only sums up. */
final class PipelineEvents {
  private PipelineEvents() {}

  /**
   * Seconds until the last pass of 1F1B (interleaved with virtual stages) ends, without sends.
   *
   * @param m micro-batches, a multiple of pp with virtual stages
   * @param chunk forward + backward seconds of every virtual stage; a third is forward
   */
  static double seconds(int pp, int vpp, int m, double[] chunk) {
    int total = m * vpp;
    double[][] forwardEnd = new double[pp * vpp][m];
    double[][] backwardEnd = new double[pp * vpp][m];
    for (int c = 0; c < pp * vpp; c++) {
      Arrays.fill(forwardEnd[c], -1);
      Arrays.fill(backwardEnd[c], -1);
    }
    double[] free = new double[pp];
    int[] done = new int[pp];
    boolean moved = true;
    while (moved) {
      moved = false;
      for (int r = 0; r < pp; r++) {
        int warm = vpp == 1 ? pp - r - 1 : 2 * (pp - r - 1) + (vpp - 1) * pp;
        warm = Math.min(total, warm);
        while (done[r] < 2 * total) {
          int i = done[r];
          int steady = 2 * (total - warm);
          boolean forward = i < warm || (i < warm + steady && (i - warm) % 2 == 0);
          int j =
              forward
                  ? (i < warm ? i : warm + (i - warm) / 2)
                  : (i < warm + steady ? (i - warm) / 2 : i - total);
          int round = pp * vpp;
          int batch = j / round * pp + j % pp;
          int slot = j % round / pp;
          int v = (forward ? slot : vpp - 1 - slot) * pp + r;
          if (vpp == 1) {
            batch = j;
            v = r;
          }
          double ready =
              forward
                  ? (v == 0 ? 0 : forwardEnd[v - 1][batch])
                  : (v == pp * vpp - 1 ? forwardEnd[v][batch] : backwardEnd[v + 1][batch]);
          if (ready < 0) {
            break;
          }
          double end = Math.max(ready, free[r]) + chunk[v] * (forward ? 1 : 2) / 3;
          (forward ? forwardEnd : backwardEnd)[v][batch] = end;
          free[r] = end;
          done[r]++;
          moved = true;
        }
      }
    }
    return Arrays.stream(free).max().getAsDouble();
  }
}
