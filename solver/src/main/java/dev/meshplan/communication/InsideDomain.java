package dev.meshplan.communication;

import static dev.meshplan.communication.LinkParameter.*;

import dev.meshplan.units.Quantity;

/**
 * Seconds of every algorithm for ranks that one domain or node joins.
 *
 * <p>S: size of the collective, bytes. n: ranks. W: bytes that one rank sends. B: bandwidth per
 * rank. Forms: NCCL's cost model (github NVIDIA/nccl src/graph/tuning.cc) with constants fitted to
 * measurements, NVLS by the law that its traffic per rank is S (1 + 1/n).
 */
final class InsideDomain {
  private static final double CHANNEL_BYTES = 16 * Quantity.MIB;
  private static final int SWITCHED = 8;
  private static final int RACK = 72;

  private InsideDomain() {}

  /**
   * @param out seconds by {@link Algorithm}; entries that don't apply stay as they are
   */
  static void price(double[] out, Wire w, Collective c, double bytes, int n) {
    if (w.constants().has(SYMMETRIC_SHARE)) {
      out[Algorithm.SYMMETRIC.ordinal()] = symmetric(w, c, bytes, n);
    }
    switch (c) {
      case ALL_REDUCE -> allReduce(out, w, bytes, n);
      case ALL_GATHER, REDUCE_SCATTER -> rings(out, w, c, bytes, n, copy(w, c, bytes, n));
      case ALL_TO_ALL -> out[Algorithm.PAIRWISE.ordinal()] = allToAll(w, bytes, n);
      case SEND_RECV -> out[Algorithm.DIRECT.ordinal()] = send(w, bytes);
      case BROADCAST -> rings(out, w, c, bytes, n, 0);
    }
  }

  private static void rings(double[] out, Wire w, Collective c, double bytes, int n, double copy) {
    double wire = c.wireBytes(bytes, n);
    int steps = c.ringSteps(n);
    out[Algorithm.RING_LL.ordinal()] = w.ring(c, 0, steps, wire) + copy;
    out[Algorithm.RING_LL128.ordinal()] = w.ring(c, 1, steps, wire) + copy;
    out[Algorithm.RING_SIMPLE.ordinal()] = w.ring(c, 2, steps, wire) + copy;
  }

  /** Out of place the own shard is copied: S/n at the speed of the memory. */
  static double copy(Wire w, Collective c, double bytes, int n) {
    return bytes
        / n
        / w.copyRate(
            c == Collective.ALL_GATHER ? ALL_GATHER_COPY_SHARE : REDUCE_SCATTER_COPY_SHARE);
  }

  private static void allReduce(double[] out, Wire w, double bytes, int n) {
    rings(out, w, Collective.ALL_REDUCE, bytes, n, 0);
    if (w.nvls() > 0 && n >= w.nvls()) {
      out[Algorithm.NVLS.ordinal()] =
          w.seconds(NVLS_BASE_US)
              + bytes / nvlsBandwidth(w, n)
              + w.seconds(NVLS_RANK_US) * n * ramp(bytes, w.constants().get(NVLS_RAMP_MIB));
    }
    double oneShot = (n - 1) * bytes / w.rate(CUSTOM_ONE_SHOT_SHARE);
    double twoShot =
        w.seconds(CUSTOM_TWO_SHOT_US)
            + Collective.ALL_REDUCE.wireBytes(bytes, n) / w.rate(CUSTOM_TWO_SHOT_SHARE);
    out[Algorithm.CUSTOM.ordinal()] =
        w.seconds(CUSTOM_BASE_US) + w.seconds(CUSTOM_RANK_US) * n + Math.min(oneShot, twoShot);
  }

  /**
   * Kernels that read and write the other ranks' registered buffers: one step for short messages,
   * else a reduce-scatter, an all-gather or both; infinite for other collectives.
   */
  private static double symmetric(Wire w, Collective c, double bytes, int n) {
    boolean reduce = c == Collective.ALL_REDUCE;
    if (!reduce && c != Collective.ALL_GATHER && c != Collective.REDUCE_SCATTER) {
      return Double.POSITIVE_INFINITY;
    }
    double wire = c.wireBytes(bytes, n);
    double received = reduce ? (n - 1) * bytes : wire;
    double first = w.seconds(SYMMETRIC_LL_BASE_US) + received / w.rate(SYMMETRIC_LL_SHARE);
    double stream = wire / w.rate(SYMMETRIC_SHARE);
    if (reduce && w.nvls() > 0 && n > 2) {
      stream = Math.min(stream, bytes * (1 + 1.0 / n) / w.rate(SYMMETRIC_MULTICAST_SHARE));
    }
    return Math.min(first, w.seconds(SYMMETRIC_BASE_US) + stream);
  }

  /** Bytes of all-reduce per second that the switch reduces, without delays. */
  static double nvlsBandwidth(Wire w, int n) {
    double share = w.constants().get(NVLS_SHARE);
    if (n > SWITCHED) {
      double rack = w.constants().get(NVLS_RACK_SHARE);
      share +=
          (rack - share)
              * StrictMath.log((double) n / SWITCHED)
              / StrictMath.log((double) RACK / SWITCHED);
    }
    return Math.max(share, w.constants().get(NVLS_RACK_SHARE) / 2) * w.bandwidth() * n / (n + 1.0);
  }

  /** Part of a pipeline's filling time that a message of this size pays: S / (S + S0). */
  static double ramp(double bytes, double mebibytes) {
    return bytes / (bytes + mebibytes * Quantity.MIB);
  }

  static double allToAll(Wire w, double bytes, int n) {
    double wire = Collective.ALL_TO_ALL.wireBytes(bytes, n);
    double floor =
        w.seconds(ALL_TO_ALL_FLOOR_US)
            + w.seconds(ALL_TO_ALL_RAMP_US) * ramp(bytes, w.constants().get(ALL_TO_ALL_RAMP_MIB));
    double stream =
        w.seconds(ALL_TO_ALL_BASE_US)
            + w.seconds(ALL_TO_ALL_PEER_US) * (n - 1)
            + wire / w.exchangeRate(ALL_TO_ALL_SHARE)
            + bytes / n / w.copyRate(ALL_TO_ALL_COPY_SHARE);
    return Math.max(floor, stream);
  }

  /**
   * NCCL starts with few channels and doubles them when one would carry more than 16 MiB: time is
   * linear, then flat, then linear at full bandwidth (github NVIDIA/nccl src/enqueue.cc).
   */
  static double send(Wire w, double bytes) {
    double channel = w.neighbourRate(SEND_CHANNEL_SHARE);
    double few = bytes / (w.constants().get(SEND_CHANNELS) * channel);
    double all = Math.max(bytes / w.neighbourRate(SEND_SHARE), CHANNEL_BYTES / channel);
    return w.seconds(SEND_BASE_US)
        + Math.max(bytes / w.neighbourRate(SEND_SHARE), Math.min(few, all));
  }
}
