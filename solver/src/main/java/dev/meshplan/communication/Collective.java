package dev.meshplan.communication;

import dev.meshplan.config.Keyed;

/** What a group of ranks does together. Sizes are those that nccl-tests reports. */
public enum Collective implements Keyed {
  /** Every rank ends with the sum; size = the buffer. */
  ALL_REDUCE,
  /** Every rank ends with all shards; size = the full buffer. */
  ALL_GATHER,
  /** Every rank ends with its shard of the sum; size = the full buffer. */
  REDUCE_SCATTER,
  /** Every rank sends a different part to every other; size = what one rank holds for all. */
  ALL_TO_ALL,
  /** Neighbours exchange; size = one message. */
  SEND_RECV,
  /** One rank's buffer reaches all; size = the buffer. */
  BROADCAST;

  /**
   * Bytes that one rank puts on the wire.
   *
   * @param bytes size of the collective
   * @param ranks ranks of the group
   * @return bytes sent by one rank; 0 for one rank (NCCL's bus bandwidth divides it by the time)
   */
  public double wireBytes(double bytes, int ranks) {
    if (ranks <= 1) {
      return 0;
    }
    return switch (this) {
      case ALL_REDUCE -> 2.0 * (ranks - 1) / ranks * bytes;
      case ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL -> (ranks - 1.0) / ranks * bytes;
      case SEND_RECV, BROADCAST -> bytes;
    };
  }

  /** Number of neighbour steps of a ring. */
  public int ringSteps(int ranks) {
    return switch (this) {
      case ALL_REDUCE -> 2 * (ranks - 1);
      case ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, BROADCAST -> ranks - 1;
      case SEND_RECV -> 1;
    };
  }
}
