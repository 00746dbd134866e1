package dev.meshplan.estimate;

import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Schedule;

/**
 * Seconds that a pipeline's fill, drain and stalls add beyond m micro-batches of its slowest rank.
 */
final class Bubble {
  private Bubble() {}

  /**
   * Seconds per flush of the pipeline. Interleaved stages that differ are replayed pass by pass;
   * the closed form stays the least, so that bounds by it hold.
   *
   * @param sum forward + backward seconds of one micro-batch on all ranks
   * @param most the same on the slowest rank
   * @param m micro-batches
   * @param stalls whether to replay; if not, the closed form is a lower bound
   */
  static double seconds(
      Schedule schedule,
      ShapeCosts costs,
      Layout layout,
      double sum,
      double most,
      int m,
      boolean stalls) {
    double closed = closed(schedule, sum, most, layout.vpp(), m);
    boolean uneven = schedule == Schedule.INTERLEAVED && !layout.alike();
    return stalls && uneven && m % layout.pp() == 0
        ? Math.max(closed, replayed(costs, layout, m) - m * most)
        : closed;
  }

  private static double closed(Schedule schedule, double sum, double most, int vpp, int m) {
    double plain = sum - most;
    return switch (schedule) {
      case ONE_F_ONE_B, GPIPE -> plain;
      case INTERLEAVED -> plain / vpp;
      case ZB_1P, ZBV -> plain / 3;
      case ZB_2P -> 0;
      case V_HALF -> 0.57 * plain;
      case V_MIN -> plain + 0.16 * m * most;
    };
  }

  private static double replayed(ShapeCosts costs, Layout layout, int m) {
    int stages = layout.pp() * layout.vpp();
    double[] forward = new double[stages];
    double[] backward = new double[stages];
    for (int v = 0; v < stages; v++) {
      for (int k = 0; k < costs.kinds.length; k++) {
        forward[v] += layout.chunkCount(v, k) * costs.kinds[k].forwardSeconds;
        backward[v] += layout.chunkCount(v, k) * costs.kinds[k].backwardSeconds;
      }
    }
    int mtp = layout.mtpLayers();
    forward[stages - 1] += (1 + mtp) * costs.head.forwardSeconds;
    backward[stages - 1] += (1 + mtp) * costs.head.backwardSeconds;
    if (mtp > 0) {
      forward[stages - 1] += mtp * costs.mtp.forwardSeconds;
      backward[stages - 1] += mtp * costs.mtp.backwardSeconds;
    }
    return PipelineReplay.seconds(layout.pp(), layout.vpp(), m, forward, backward);
  }
}
