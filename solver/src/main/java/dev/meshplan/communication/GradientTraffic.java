package dev.meshplan.communication;

import dev.meshplan.config.Keyed;

/**
 * How data-parallel ranks agree on gradients.
 *
 * @param parameters elements whose gradients are summed
 * @param format what travels
 * @param method how it travels
 */
public record GradientTraffic(double parameters, Format format, Method method) {

  /** What one gradient element weighs on the wire. */
  public enum Format implements Keyed {
    FP32(4),
    BF16(2),
    /** FP32 gradients rounded for the exchange. */
    FP16_COMPRESSED(2),
    /** One byte and a 4-byte scale for every 128 elements. */
    INT8_COMPRESSED(1 + 4.0 / 128);

    private final double bytes;

    Format(double bytes) {
      this.bytes = bytes;
    }

    public double bytes() {
      return bytes;
    }
  }

  /** Ways of the sum. */
  public enum Method implements Keyed {
    /** Every rank gets every sum. */
    ALL_REDUCE,
    /** Every rank gets the sum of its shard, updates it and gathers 16-bit parameters. */
    REDUCE_SCATTER_ALL_GATHER,
    /** Reduce-scatter in the domain, all-reduce of the shards between domains, all-gather. */
    HIERARCHICAL
  }

  private static final double PARAMETER_BYTES = 2;

  /** Bytes of all gradients of one rank in this format. */
  public double gradientBytes() {
    return parameters * format.bytes();
  }

  /**
   * Bytes that one rank sends.
   *
   * @param g the data-parallel group
   */
  public double wireBytes(Group g) {
    return switch (method) {
      case ALL_REDUCE, HIERARCHICAL -> Collective.ALL_REDUCE.wireBytes(gradientBytes(), g.size());
      case REDUCE_SCATTER_ALL_GATHER ->
          Collective.REDUCE_SCATTER.wireBytes(gradientBytes(), g.size())
              + Collective.ALL_GATHER.wireBytes(parameters * PARAMETER_BYTES, g.size());
    };
  }

  /**
   * Time of one exchange, nothing overlapped.
   *
   * @return seconds of one step
   */
  public double seconds(Communication c, Group g) {
    double bytes = gradientBytes();
    return switch (method) {
      case ALL_REDUCE -> c.seconds(Collective.ALL_REDUCE, bytes, g);
      case REDUCE_SCATTER_ALL_GATHER ->
          c.seconds(Collective.REDUCE_SCATTER, bytes, g)
              + c.seconds(Collective.ALL_GATHER, parameters * PARAMETER_BYTES, g);
      case HIERARCHICAL ->
          g.domains() > 1 && g.perDomain() > 1
              ? c.seconds(Collective.ALL_REDUCE, bytes, g, Algorithm.HIERARCHICAL)
              : c.seconds(Collective.ALL_REDUCE, bytes, g);
    };
  }
}
