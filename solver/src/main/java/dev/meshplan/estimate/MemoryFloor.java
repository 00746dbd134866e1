package dev.meshplan.estimate;

import dev.meshplan.plan.Dims;
import dev.meshplan.plan.MemoryPlan;

/** A bound that no layout undercuts: the worst rank holds at least the mean of the states. */
final class MemoryFloor {
  private MemoryFloor() {}

  /**
   * Bytes per GPU; reading C of the worst rank is never below.
   *
   * @param counts layers of the model by distinct kind, in the order of the shape
   */
  static double bytes(
      MemoryShape shape,
      MemoryProfile p,
      boolean tiedEmbeddings,
      int[] counts,
      MemoryDevice device,
      int tp,
      int cp,
      int pp,
      int dp,
      int ep,
      int etp,
      MemoryPlan m) {
    double dense = shape.embedding + shape.headNorm + (tiedEmbeddings ? 0 : shape.headMatrix);
    double expert = 0;
    for (int k = 0; k < counts.length; k++) {
      dense += counts[k] * (shape.tensor[k] + shape.replicated[k]);
      expert += counts[k] * shape.expert[k];
    }
    double ds = MemoryRank.denseShards(cp, dp, m);
    double es = MemoryRank.expertShards(tp, cp, dp, ep, etp, m);
    double all = dense + expert;
    double sharded = dense / ds + expert / es;
    double bytes =
        p.weight() * (p.shardWeights() ? sharded : all)
            + p.gradient() * (p.shardGradients() ? sharded : all)
            + p.optimizer() * (1 - m.optimizerOffload()) * (p.shardOptimizer() ? sharded : all);
    double a = bytes / pp + MemoryRank.WORKSPACE_BYTES;
    double slack = a * (MemoryRank.RESERVED - 1);
    Dims d = new Dims(tp, cp, pp, dp, ep, etp, 1);
    double communication = device.communicationBytes(d, 0);
    return a
        + slack
        + MemoryDevice.CONTEXT_BYTES
        + communication
        + device.unexplainedBytes(p, slack, communication);
  }
}
