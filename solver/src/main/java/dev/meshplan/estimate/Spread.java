package dev.meshplan.estimate;

import dev.meshplan.plan.Dims;

/**
 * Members of each group that share one scale-up domain. Ranks are consecutive: TP fastest, then CP,
 * DP, and PP slowest; for experts ETP, EP, expert-DP, PP.
 *
 * @param tp members of a tensor group
 * @param cp members of a context group
 * @param dpCp members of the group that shares gradients of dense weights
 * @param ep members of an expert group
 * @param edp members of the group that shares gradients of experts
 * @param pp 1 if neighbouring stages stand in different domains, else 0
 */
public record Spread(int tp, int cp, int dpCp, int ep, int edp, int pp) {

  /**
   * The spread of ranks laid out consecutively.
   *
   * @param workingRanksPerBlock ranks of one block that work
   * @param cpInside whether CP groups are kept inside a block
   */
  public static Spread of(Dims d, int workingRanksPerBlock, boolean cpInside) {
    int w = Math.max(1, workingRanksPerBlock);
    int tp = inside(d.tp(), w);
    int cp = cpInside && d.tp() * d.cp() <= w ? d.cp() : inside(d.cp(), Math.max(1, w / d.tp()));
    int dpCp = share(d.cp() * d.dp(), w / d.tp());
    int ep = inside(d.ep(), Math.max(1, w / d.etp()));
    int edp = share(d.expertDp(), w / (d.ep() * d.etp()));
    return new Spread(tp, cp, dpCp, ep, edp, d.gpus() > w ? 1 : 0);
  }

  /** Everything in one domain. */
  public static Spread inside(Dims d) {
    return new Spread(d.tp(), d.cp(), d.cp() * d.dp(), d.ep(), d.expertDp(), 0);
  }

  /**
   * Members of a consecutive group of n in one domain: all where domains hold whole groups, else as
   * many as every group has in every domain it touches.
   */
  private static int inside(int n, int working) {
    return working % n == 0 ? n : gcd(n, working);
  }

  private static int gcd(int a, int b) {
    return b == 0 ? a : gcd(b, a % b);
  }

  /** The most members of a group of n, equally many in each domain, that at most {@code limit}. */
  private static int share(int n, int limit) {
    int best = Math.max(1, Math.min(n, limit));
    while (n % best != 0) {
      best--;
    }
    return best;
  }
}
