package dev.meshplan.optimize;

import dev.meshplan.estimate.Spread;
import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Batch;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Schedule;
import dev.meshplan.plan.ShardingOptions;
import dev.meshplan.rules.Point;

/**
 * Admissible bounds of the objective and of memory while the axes of a point are being bound. None
 * exceeds what any completion of the point costs.
 */
final class Bounds {
  private final Oracle oracle;
  private final Census census;
  private final int[] vpp;
  private final int[] microBatches;
  private final int[] shardings;
  private final int[] levels;
  private final int domain;

  Bounds(Oracle oracle, Space space, Census census) {
    this.oracle = oracle;
    this.census = census;
    vpp = space.values(Axis.VPP);
    microBatches = space.values(Axis.MICRO_BATCH);
    shardings = space.values(Axis.SHARDING);
    boolean gathers = false;
    boolean keeps = false;
    for (int i : shardings) {
      gathers |= oracle.facts.shardings().get(i).level() >= 3;
      keeps |= oracle.facts.shardings().get(i).level() < 3;
    }
    // Layer times depend on sharding only by whether weights are gathered per micro-batch.
    levels = keeps && gathers ? new int[] {1, 3} : new int[] {gathers ? 3 : 1};
    domain = oracle.machine.system().domain().size();
  }

  /** TP, CP, PP and DP are bound. */
  double shape(Point p) {
    return oracle.floorValue(p, oracle.time.floorSeconds(p.tp(), p.cp(), p.pp(), p.dp()));
  }

  /** EP and ETP too: over the micro-batches that are legal, with every group as near as can be. */
  double experts(Point p) {
    int tp = Math.min(p.tp(), domain);
    int ep = Math.min(p.ep(), Math.max(1, domain / p.etp()));
    Spread best =
        new Spread(
            tp,
            Math.max(1, Math.min(p.cp(), domain / tp)),
            p.cp() * p.dp(),
            ep,
            1,
            p.gpus() > domain ? 1 : 0);
    double least = Double.POSITIVE_INFINITY;
    for (int b : microBatches) {
      p.set(Axis.MICRO_BATCH, b);
      if (census.permits(Axis.MICRO_BATCH, p)) {
        least = Math.min(least, layers(p, best, mostVirtual(p)));
      }
    }
    return least;
  }

  /** All but sharding, virtual stages and recompute are bound. */
  double inner(Point p, Spread spread) {
    return layers(p, spread, mostVirtual(p));
  }

  /** A bound for at most so many virtual stages. */
  double layers(Point p, Spread spread, int virtual) {
    double least = Double.POSITIVE_INFINITY;
    Dims dims = new Dims(p.tp(), p.cp(), p.pp(), p.dp(), p.ep(), p.etp(), virtual);
    Batch batch = new Batch(p.microBatch(), p.microBatches(oracle.facts.training().globalBatch()));
    for (int level : levels) {
      Candidate c =
          new Candidate(
              dims,
              batch,
              Schedule.ONE_F_ONE_B,
              new MemoryPlan(level, 0, 0, Recompute.NONE, 0),
              p.block(),
              p.cpInside());
      least = Math.min(least, oracle.time.floorSeconds(c, spread));
    }
    return oracle.floorValue(p, least);
  }

  private int mostVirtual(Point p) {
    for (int i = vpp.length - 1; i > 0; i--) {
      p.set(Axis.VPP, vpp[i]);
      if (census.permits(Axis.VPP, p)) {
        return vpp[i];
      }
    }
    return vpp[0];
  }

  /**
   * Which shardings (bit by position) leave room for the states and the least of what is kept for
   * the backward pass, and in {@link #leastBytes} the least that they take together. The axes down
   * to ETP are bound, or those down to the micro-batch.
   */
  long fitting(Point p, int microBatch) {
    long fits = 0;
    leastBytes = Double.POSITIVE_INFINITY;
    Batch batch = new Batch(microBatch, microBatches(p, microBatch));
    for (int i = 0; i < shardings.length; i++) {
      double bytes =
          floorBytes(p, batch, oracle.facts.shardings().get(shardings[i]), Recompute.FULL);
      leastBytes = Math.min(leastBytes, bytes);
      fits |= bytes <= oracle.facts.limitBytes() ? 1L << i : 0;
    }
    return fits;
  }

  /** The smallest micro-batch that is searched. */
  int leastMicroBatch() {
    return microBatches[0];
  }

  /** Whether a point bound down to its recompute can fit in any layout. */
  boolean mayFit(Point p) {
    Batch batch = new Batch(p.microBatch(), microBatches(p, p.microBatch()));
    Recompute recompute = oracle.facts.recomputes().get(p.get(Axis.RECOMPUTE));
    return floorBytes(p, batch, oracle.facts.sharding(p), recompute) <= oracle.facts.limitBytes();
  }

  private int microBatches(Point p, int microBatch) {
    return (int) Math.max(1, oracle.facts.training().globalBatch() / ((long) microBatch * p.dp()));
  }

  private double floorBytes(
      Point p, Batch batch, ShardingOptions.Option sharding, Recompute recompute) {
    Dims dims = new Dims(p.tp(), p.cp(), p.pp(), p.dp(), p.ep(), p.etp(), 1);
    return oracle.memory.floorBytes(
        new Candidate(
            dims, batch, Schedule.ONE_F_ONE_B, sharding.with(recompute), p.block(), p.cpInside()));
  }

  /** Least bytes per GPU in the last call of {@link #fitting}. */
  double leastBytes;
}
