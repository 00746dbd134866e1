package dev.meshplan.estimate;

import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Schedule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How many micro-batches of each of its virtual stages (chunks) a pipeline rank holds at once.
 * Source: the schedules of Megatron-LM (1F1B, interleaved), the zero-bubble and V-schedule papers;
 * the offsets of zb-1p, v-half and v-min are fitted on two runs each.
 */
final class MemoryInFlight {
  private static final double ZB_1P_EXTRA = 0.3;
  private static final double V_EXTRA = 2;

  private MemoryInFlight() {}

  /** Whether the order of chunks is the interleaved one, so that counts come from its replay. */
  static boolean replayed(Schedule schedule, int pp, int vpp) {
    return pp > 1
        && vpp > 1
        && (schedule == Schedule.INTERLEAVED || schedule == Schedule.ONE_F_ONE_B);
  }

  /** Micro-batches of every chunk that a rank holds, for schedules that are not replayed. */
  static double count(Schedule schedule, int pp, int rank, int microBatches) {
    double m = microBatches;
    double p = pp;
    if (pp == 1) {
      return schedule == Schedule.GPIPE ? m : 1;
    }
    return switch (schedule) {
      case ONE_F_ONE_B, INTERLEAVED -> Math.min(m, p - rank);
      case GPIPE -> m;
      case ZB_1P -> Math.min(m, p - rank) + ZB_1P_EXTRA;
      case ZB_2P -> Math.min(m, 2 * (p - rank) - 1);
      case ZBV -> Math.min(m, p);
      case V_HALF -> Math.min(m, Math.min(p, p / 2 + V_EXTRA));
      case V_MIN -> Math.min(m, Math.min(p, p / 3 + V_EXTRA));
    };
  }

  private static long warmUp(int pp, int vpp, int rank, long total, int extra) {
    return Math.min(total, 2L * (pp - rank - 1) + (vpp - 1L) * pp + extra);
  }

  /** Micro-batches after which the peak no longer changes. */
  static int capped(int pp, int microBatches) {
    return microBatches > 3 * pp ? 3 * pp : microBatches;
  }

  /**
   * Peak bytes that a rank holds under interleaved 1F1B with groups of pp micro-batches: forward
   * and backward chunks are replayed run by run. Allocates nothing.
   *
   * @param extra forward chunks beyond the usual warm-up (1 where expert exchange is overlapped)
   * @param chunkBytes bytes of one micro-batch of each chunk
   */
  static double peakBytes(
      int pp, int vpp, int rank, int microBatches, int extra, double[] chunkBytes) {
    int m = capped(pp, microBatches);
    int total = m * vpp;
    int warm = (int) warmUp(pp, vpp, rank, total, extra);
    double held = 0;
    int chunk = 0;
    int left = Math.min(pp, m);
    int start = 0;
    for (int f = 0; f < warm; ) {
      int n = Math.min(warm - f, left);
      held += n * chunkBytes[chunk];
      f += n;
      left -= n;
      if (left == 0) {
        if (++chunk == vpp) {
          chunk = 0;
          start += pp;
        }
        left = Math.min(pp, m - start);
      }
    }
    double peak = held;
    int back = vpp - 1;
    int backLeft = Math.min(pp, m);
    int backStart = 0;
    for (int f = warm; f < total; ) {
      int n = Math.min(left, backLeft);
      double forward = chunkBytes[chunk];
      double backward = chunkBytes[back];
      peak = Math.max(peak, held + forward);
      held += n * (forward - backward);
      peak = Math.max(peak, held + backward);
      f += n;
      left -= n;
      if (left == 0) {
        if (++chunk == vpp) {
          chunk = 0;
          start += pp;
        }
        left = Math.min(pp, m - start);
      }
      backLeft -= n;
      if (backLeft == 0) {
        if (--back < 0) {
          back = vpp - 1;
          backStart += pp;
        }
        backLeft = Math.min(pp, m - backStart);
      }
    }
    return peak;
  }

  /** Chunk of the j-th forward pass of a rank. */
  private static int chunk(long j, int pp, int vpp, int m) {
    long round = (long) pp * vpp;
    long start = j / round * pp;
    long size = Math.min(pp, m - start);
    return (int) (j % round / size);
  }

  /**
   * Counts by chunk at every point of the replay that can be the peak for some chunk sizes; none is
   * at most another in every chunk.
   */
  static List<double[]> peaks(int pp, int vpp, int rank, int microBatches, int extra) {
    int m = capped(pp, microBatches);
    long total = (long) m * vpp;
    long warm = warmUp(pp, vpp, rank, total, extra);
    double[] counts = new double[vpp];
    List<double[]> peaks = new ArrayList<>();
    for (long j = 0; j < warm; j++) {
      counts[chunk(j, pp, vpp, m)]++;
    }
    keep(peaks, counts);
    for (long j = 0; j < total - warm; j++) {
      counts[chunk(warm + j, pp, vpp, m)]++;
      keep(peaks, counts);
      counts[vpp - 1 - chunk(j, pp, vpp, m)]--;
    }
    return peaks;
  }

  /** Counts by chunk of a rank where it holds most; {@code kept} bytes of a layer by kind. */
  static double[] atPeak(
      Schedule schedule, Layout layout, int rank, int microBatches, int extra, double[] kept) {
    double[] best = new double[layout.vpp()];
    if (!replayed(schedule, layout.pp(), layout.vpp())) {
      Arrays.fill(best, count(schedule, layout.pp(), rank, microBatches));
      return best;
    }
    double most = 0;
    for (double[] counts : peaks(layout.pp(), layout.vpp(), rank, microBatches, extra)) {
      double sum = 0;
      for (int chunk = 0; chunk < layout.vpp(); chunk++) {
        for (int k = 0; k < kept.length; k++) {
          sum += counts[chunk] * layout.chunkCount(chunk * layout.pp() + rank, k) * kept[k];
        }
      }
      if (sum > most * (1 + 1e-12)) {
        most = sum;
        best = counts;
      }
    }
    return best;
  }

  private static void keep(List<double[]> peaks, double[] counts) {
    for (double[] p : peaks) {
      if (covers(p, counts)) {
        return;
      }
    }
    peaks.removeIf(p -> covers(counts, p));
    peaks.add(counts.clone());
  }

  private static boolean covers(double[] more, double[] less) {
    for (int i = 0; i < more.length; i++) {
      if (more[i] < less[i]) {
        return false;
      }
    }
    return true;
  }
}
