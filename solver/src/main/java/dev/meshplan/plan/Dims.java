package dev.meshplan.plan;

/**
 * Parallel degrees. Ranks are laid out tp fastest, then cp, ep over (tp, cp, dp), dp, and pp
 * slowest.
 *
 * @param tp tensor
 * @param cp context
 * @param pp pipeline
 * @param dp data
 * @param ep expert
 * @param etp expert tensor
 * @param vpp virtual stages per pipeline rank
 */
public record Dims(int tp, int cp, int pp, int dp, int ep, int etp, int vpp) {
  /** GPUs that work: tp x cp x pp x dp. */
  public long gpus() {
    return (long) tp * cp * pp * dp;
  }

  /** Replicas of an expert: tp x cp x dp / (etp x ep). */
  public int expertDp() {
    return Math.max(1, (int) ((long) tp * cp * dp / ((long) etp * ep)));
  }

  public String text() {
    StringBuilder s = new StringBuilder("TP " + tp);
    if (cp > 1) {
      s.append(", CP ").append(cp);
    }
    s.append(", PP ").append(pp);
    if (vpp > 1) {
      s.append(" x ").append(vpp).append(" virtual");
    }
    s.append(", DP ").append(dp);
    if (ep > 1) {
      s.append(", EP ").append(ep).append(", ETP ").append(etp);
    }
    return s.toString();
  }
}
