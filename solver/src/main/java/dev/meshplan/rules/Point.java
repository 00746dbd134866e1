package dev.meshplan.rules;

import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Dims;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Values of the axes while they are being bound. {@code RECOMPUTE} and {@code SHARDING} hold
 * indices into the option lists of {@link Facts}; {@code CP_INSIDE} is 0 or 1.
 */
public final class Point {
  private final int[] values = new int[Axis.values().length];

  /** The degrees of a plan; sharding and recompute are the first of their options. */
  public static Point of(Dims d) {
    return new Point()
        .set(Axis.TP, d.tp())
        .set(Axis.CP, d.cp())
        .set(Axis.PP, d.pp())
        .set(Axis.DP, d.dp())
        .set(Axis.EP, d.ep())
        .set(Axis.ETP, d.etp())
        .set(Axis.VPP, d.vpp());
  }

  public int get(Axis axis) {
    return values[axis.ordinal()];
  }

  /** Binds an axis. */
  public Point set(Axis axis, int value) {
    values[axis.ordinal()] = value;
    return this;
  }

  /** A copy that later binding does not change. */
  public Point copy() {
    Point p = new Point();
    System.arraycopy(values, 0, p.values, 0, values.length);
    return p;
  }

  /** Takes all values of another point. */
  public void from(Point other) {
    System.arraycopy(other.values, 0, values, 0, values.length);
  }

  public int tp() {
    return values[Axis.TP.ordinal()];
  }

  public int cp() {
    return values[Axis.CP.ordinal()];
  }

  public int pp() {
    return values[Axis.PP.ordinal()];
  }

  public int dp() {
    return values[Axis.DP.ordinal()];
  }

  public int ep() {
    return values[Axis.EP.ordinal()];
  }

  public int etp() {
    return values[Axis.ETP.ordinal()];
  }

  public int vpp() {
    return values[Axis.VPP.ordinal()];
  }

  public int microBatch() {
    return values[Axis.MICRO_BATCH.ordinal()];
  }

  public int block() {
    return values[Axis.BLOCK_GPUS.ordinal()];
  }

  public boolean cpInside() {
    return values[Axis.CP_INSIDE.ordinal()] != 0;
  }

  /** GPUs that work: tp x cp x pp x dp. */
  public long gpus() {
    return (long) tp() * cp() * pp() * dp();
  }

  /** Micro-batches per step, rounded down where the batch does not divide. */
  public int microBatches(int globalBatch) {
    return (int) Math.max(1, globalBatch / ((long) microBatch() * dp()));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Point p && Arrays.equals(values, p.values);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(values);
  }

  @Override
  public String toString() {
    return Arrays.stream(Axis.values())
        .map(a -> a.key() + " " + get(a))
        .collect(Collectors.joining(", "));
  }
}
