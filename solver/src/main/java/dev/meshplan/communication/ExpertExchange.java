package dev.meshplan.communication;

import dev.meshplan.units.Quantity;

/**
 * Seconds of MoE dispatch and combine.
 *
 * <p>T h b: bytes of a rank's tokens. Sent once per rank reached: D = P (1 - (1 - 1/P)^q); once per
 * domain reached: the same with the number of domains, at most the group limit (github
 * deepseek-ai/DeepEP). Forwarding inside the domain and remote writes overlap in part: the cube
 * root of the sum of cubes, which the measured set shows.
 */
final class ExpertExchange {
  private final Communication communication;

  ExpertExchange(Communication communication) {
    this.communication = communication;
  }

  double dispatch(MoeExchange e) {
    return seconds(e, true);
  }

  double combine(MoeExchange e) {
    return seconds(e, false);
  }

  private double seconds(MoeExchange e, boolean dispatch) {
    if (e.ranks() <= 1) {
      return 0;
    }
    Group g = Group.of(e.ranks(), e.perDomain());
    Fabric fabric = communication.fabric();
    int together = fabric.together(g);
    Wire wire = fabric.wire(g, together);
    return switch (e.dispatcher()) {
      case NAIVE ->
          communication.seconds(
              Collective.ALL_TO_ALL, e.tokenBytes() * e.topK() * e.imbalance(), g);
      case DEDUPE ->
          deduped(
              e,
              g,
              wire,
              together,
              dispatch ? LinkParameter.EXPERT_DISPATCH_SHARE : LinkParameter.EXPERT_COMBINE_SHARE);
      case HYBRID ->
          deduped(
              e,
              g,
              wire,
              together,
              dispatch
                  ? LinkParameter.EXPERT_HYBRID_DISPATCH_SHARE
                  : LinkParameter.EXPERT_HYBRID_COMBINE_SHARE);
      case LOW_LATENCY -> lowLatency(e, g, wire, together);
    };
  }

  private double deduped(MoeExchange e, Group g, Wire wire, int together, LinkParameter share) {
    double bytes = e.tokenBytes() * e.imbalance();
    double inside = bytes * MoeExchange.distinct(e.ranks(), e.topK()) / wire.exchangeRate(share);
    double base =
        wire.seconds(LinkParameter.EXPERT_BASE_US)
            + wire.seconds(LinkParameter.EXPERT_RANK_US) * Math.min(e.ranks(), together);
    if (together >= e.ranks()) {
      return base + inside;
    }
    AcrossDomains.Shape s = communication.across(g, wire, together);
    int k = s.domains();
    double reached = MoeExchange.distinct(k, e.topK());
    if (e.groupLimit() > 0) {
      reached = Math.min(reached, MoeExchange.distinct(Math.min(k, e.groupLimit()), e.topK()));
    }
    double across =
        bytes
            * reached
            * (k - 1)
            / k
            / (s.net().get(NetworkParameter.EXPERT_SHARE) * s.nics().exchange());
    double overlapped = StrictMath.cbrt(inside * inside * inside + across * across * across);
    return base
        + s.seconds(NetworkParameter.EXPERT_BASE_US)
        + s.levels() * s.seconds(NetworkParameter.EXPERT_DOUBLING_US)
        + overlapped;
  }

  private double lowLatency(MoeExchange e, Group g, Wire wire, int together) {
    double bytes = e.tokenBytes() * e.topK() * e.imbalance();
    int n = e.ranks();
    double inside =
        bytes
            * Math.min(together, n)
            / n
            / wire.exchangeRate(LinkParameter.EXPERT_LOW_LATENCY_SHARE);
    double base = 16 * Quantity.MICRO;
    if (together >= n) {
      return base + inside;
    }
    AcrossDomains.Shape s = communication.across(g, wire, together);
    double across =
        bytes
            * (n - together)
            / n
            / (s.net().get(NetworkParameter.EXPERT_LOW_LATENCY_SHARE) * s.nics().exchange());
    return base + 2 * s.levels() * Quantity.MICRO + Math.max(across, inside);
  }
}
