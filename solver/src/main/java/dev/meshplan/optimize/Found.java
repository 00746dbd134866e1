package dev.meshplan.optimize;

import dev.meshplan.plan.Axis;
import dev.meshplan.rules.Point;
import java.util.Comparator;

/**
 * A candidate that obeys every rule, priced.
 *
 * @param point its axes
 * @param value the objective
 * @param seconds of a step
 * @param unit ranks that stay together in a block
 */
record Found(Point point, double value, double seconds, long unit) {
  /**
   * Cheapest first; at equal cost the fewest axes in use, then the smallest degrees, then the
   * smallest block.
   */
  static final Comparator<Found> ORDER =
      Comparator.comparingDouble(Found::value)
          .thenComparingInt(Found::axes)
          .thenComparing(Found::compareDegrees);

  /** What racks see of it. */
  record Key(long unit, int block, long gpus) {}

  Key key() {
    return new Key(unit, point.block(), point.gpus());
  }

  /** Degrees only: two candidates with equal ones are one alternative, whatever their vpp. */
  boolean sameDegrees(Found other) {
    return point.tp() == other.point.tp()
        && point.cp() == other.point.cp()
        && point.pp() == other.point.pp()
        && point.dp() == other.point.dp()
        && point.ep() == other.point.ep()
        && point.etp() == other.point.etp();
  }

  private int axes() {
    int n = 0;
    for (Axis a : Space.ORDER) {
      boolean index = a == Axis.RECOMPUTE || a == Axis.SHARDING || a == Axis.CP_INSIDE;
      n += !index && a != Axis.BLOCK_GPUS && point.get(a) > 1 ? 1 : 0;
    }
    return n;
  }

  private int compareDegrees(Found other) {
    for (Axis a : Space.ORDER) {
      if (a != Axis.BLOCK_GPUS) {
        int c = Integer.compare(point.get(a), other.point.get(a));
        if (c != 0) {
          // Context groups inside a block come before those that cross.
          return a == Axis.CP_INSIDE ? -c : c;
        }
      }
    }
    return Integer.compare(point.block(), other.point.block());
  }
}
