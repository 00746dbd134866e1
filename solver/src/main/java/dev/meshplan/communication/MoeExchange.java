package dev.meshplan.communication;

import dev.meshplan.config.Keyed;

/**
 * Tokens on their way to experts and back.
 *
 * @param tokensPerRank tokens that one rank holds
 * @param hidden elements of one token
 * @param topK experts that a token is sent to
 * @param ranks ranks that share the experts
 * @param perDomain of them in one scale-up domain
 * @param bytesPerElement of what is sent, scales included (FP8 with a 4-byte scale per 128:
 *     1.03125)
 * @param groupLimit domains that one token may reach; 0 = no limit
 * @param dispatcher how it is done
 * @param imbalance busiest rank's load over the mean, at least 1
 */
public record MoeExchange(
    double tokensPerRank,
    double hidden,
    int topK,
    int ranks,
    int perDomain,
    double bytesPerElement,
    int groupLimit,
    Dispatcher dispatcher,
    double imbalance) {

  /** Ways to exchange tokens. */
  public enum Dispatcher implements Keyed {
    /** NCCL all-to-all: one copy per expert. */
    NAIVE,
    /** One copy per rank inside a domain, per domain over the network, then forwarded (DeepEP). */
    DEDUPE,
    /** Direct remote writes without forwarding, for few tokens. */
    LOW_LATENCY,
    /** Copies straight into the experts' buffers of one large domain, as {@code DEDUPE} across. */
    HYBRID
  }

  /** Bytes of all tokens of one rank, sent once. */
  public double tokenBytes() {
    return tokensPerRank * hidden * bytesPerElement;
  }

  /**
   * What published bandwidths of these kernels count: one copy per rank inside a domain, per domain
   * across, the own one included (github deepseek-ai/DeepEP tests).
   *
   * @return bytes of one rank
   */
  public double countedBytes() {
    int domains = (ranks + perDomain - 1) / perDomain;
    return tokenBytes() * distinct(domains > 1 ? domains : ranks, topK);
  }

  /**
   * Distinct places out of {@code places} that a token reaches with {@code draws} even draws.
   *
   * @return expected number, places (1 - (1 - 1/places)^draws)
   */
  static double distinct(int places, int draws) {
    return places * (1 - StrictMath.pow(1 - 1.0 / places, draws));
  }
}
