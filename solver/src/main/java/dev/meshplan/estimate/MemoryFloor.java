package dev.meshplan.estimate;

import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.MemoryPlan;
import java.util.Arrays;

/**
 * A bound that no layout undercuts. Rank r holds its states and at least min(m, pp - r)
 * micro-batches of what its layers keep, with virtual stages or without. The worst rank is not
 * below any weighted mean of all ranks; the weights even out what an average layer takes.
 */
final class MemoryFloor {
  private final MemoryRank arithmetic;
  private final MemoryDevice device;
  private final MemoryOptions options;
  private final int[] counts;
  private final boolean tied;
  private final double[] states;

  /**
   * A bound for one model.
   *
   * @param counts layers by distinct kind, in the order of the shapes
   */
  MemoryFloor(
      MemoryRank arithmetic,
      MemoryDevice device,
      MemoryOptions options,
      int[] counts,
      boolean tiedEmbeddings) {
    this.arithmetic = arithmetic;
    this.device = device;
    this.options = options;
    this.counts = counts;
    this.tied = tiedEmbeddings;
    states = new double[counts.length];
  }

  /** Bytes per GPU; reading C of the worst rank is never below. */
  double bytes(Candidate c, MemoryShape shape, MemoryProfile p) {
    Dims d = c.dims();
    double a = worstAllocated(c, shape, p);
    double slack = a * (MemoryRank.RESERVED - 1);
    double communication = device.communicationBytes(d, shape.tokens);
    return a
        + slack
        + MemoryDevice.CONTEXT_BYTES
        + communication
        + device.unexplainedBytes(p, slack, communication);
  }

  /** Reading A of the worst rank, at least. */
  private double worstAllocated(Candidate c, MemoryShape shape, MemoryProfile p) {
    Dims d = c.dims();
    MemoryPlan m = c.memory();
    int pp = d.pp();
    int layers = 0;
    double state = 0;
    double kept = 0;
    double least = Double.POSITIVE_INFINITY;
    double working = 0;
    double alive = shape.headBytes;
    for (int k = 0; k < counts.length; k++) {
      states[k] =
          stateBytes(
              d, m, p, shape.tensor[k] + shape.replicated[k], shape.expert[k], shape.tensor[k], 1);
      layers += counts[k];
      state += counts[k] * states[k];
      kept += counts[k] * shape.kept[k];
      least = Math.min(least, shape.working[k] + shape.transients[k] + gathered(shape, p, d, k));
      working = Math.max(working, shape.working[k]);
      alive = Math.max(alive, shape.transients[k]);
    }
    double ends =
        stateBytes(
            d, m, p, shape.embedding + shape.headNorm + (tied ? 0 : shape.headMatrix), 0, 0, 0);
    double always = MemoryRank.WORKSPACE_BYTES + (pp > 1 ? 2 * shape.residual : 0);
    if (pp == 1) {
      return state + ends + kept * inFlight(c, 0) + working + alive + always;
    }
    state /= layers;
    kept /= layers;
    double weights = 0;
    for (int r = 0; r < pp; r++) {
      weights += 1 / (state + kept * inFlight(c, r));
    }
    double most = inFlight(c, 0);
    double fewest = inFlight(c, pp - 1);
    double first = 1 / (state + kept * most);
    double last = 1 / (state + kept * fewest);
    double sum = first * ends + last * shape.headBytes;
    // Of the first and the last rank either may go without a layer.
    sum += Math.max(0, weights - first - last) * least;
    for (int k = 0; k < counts.length; k++) {
      double early = (states[k] + shape.kept[k] * most) * first;
      double late = (states[k] + shape.kept[k] * fewest) * last;
      sum += counts[k] * Math.min(early, late);
    }
    return sum / weights + always;
  }

  private static double inFlight(Candidate c, int rank) {
    return MemoryInFlight.count(
        c.schedule(), c.dims().pp(), rank, c.batch().gradientAccumulation());
  }

  /** What a rank with a layer of this kind gathers at least. */
  private double gathered(MemoryShape shape, MemoryProfile p, Dims d, int k) {
    if (!p.shardWeights()) {
      return 0;
    }
    double unit = shape.tensor[k] + shape.replicated[k] + shape.expert[k];
    return p.gatherBytes(unit, options.weightsStayGathered() && d.pp() > 1, unit, 0);
  }

  private double stateBytes(
      Dims d, MemoryPlan m, MemoryProfile p, double dense, double expert, double tensor, int n) {
    Arrays.fill(arithmetic.lines, 0);
    arithmetic.denseElements = dense;
    arithmetic.expertElements = expert;
    arithmetic.states(d, m, p, tensor, n);
    double sum = 0;
    for (int i = 0; i < MemoryLine.STEP_TEMPORARIES.ordinal(); i++) {
      sum += arithmetic.lines[i];
    }
    return sum;
  }
}
