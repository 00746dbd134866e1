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
  // Layer times depend on sharding only by whether weights are gathered per micro-batch. By bit.
  private static final int KEEPS = 1;
  private static final int GATHERS = 2;

  private final Oracle oracle;
  private final Census census;
  private final int[] vpp;
  private final int[] microBatches;
  private final int[] shardings;
  private final int domain;

  Bounds(Oracle oracle, Space space, Census census) {
    this.oracle = oracle;
    this.census = census;
    vpp = space.values(Axis.VPP);
    microBatches = space.values(Axis.MICRO_BATCH);
    shardings = space.values(Axis.SHARDING);
    domain = oracle.machine.system().domain().size();
  }

  /** TP, CP, PP and DP are bound. */
  double shape(Point p) {
    return oracle.floorValue(p, oracle.time.floorSeconds(p.tp(), p.cp(), p.pp(), p.dp()));
  }

  /**
   * EP and ETP too: over the micro-batches that are legal, with every group as near as can be.
   *
   * @param fits shardings to look at, by bit
   */
  double experts(Point p, long fits) {
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
    int levels = levels(p, fits);
    double least = Double.POSITIVE_INFINITY;
    for (int b : microBatches) {
      p.set(Axis.MICRO_BATCH, b);
      if (census.permits(Axis.MICRO_BATCH, p)) {
        least = Math.min(least, layers(p, best, mostVirtual(p), levels));
      }
    }
    return least;
  }

  /** All but sharding, virtual stages and recompute are bound. */
  double inner(Point p, Spread spread, long fits) {
    return layers(p, spread, mostVirtual(p), levels(p, fits));
  }

  /** All but recompute is bound; for at most so many virtual stages. */
  double layers(Point p, Spread spread, int virtual) {
    return layers(p, spread, virtual, level(oracle.facts.sharding(p)));
  }

  private double layers(Point p, Spread spread, int virtual, int levels) {
    double least = Double.POSITIVE_INFINITY;
    Dims dims = new Dims(p.tp(), p.cp(), p.pp(), p.dp(), p.ep(), p.etp(), virtual);
    Batch batch = new Batch(p.microBatch(), p.microBatches(oracle.facts.training().globalBatch()));
    for (int level = KEEPS; level <= GATHERS; level++) {
      if ((levels & level) == 0) {
        continue;
      }
      MemoryPlan memory = new MemoryPlan(level == KEEPS ? 1 : 3, 0, 0, Recompute.NONE, 0);
      Candidate c =
          new Candidate(dims, batch, Schedule.ONE_F_ONE_B, memory, p.block(), p.cpInside());
      least = Math.min(least, oracle.time.floorSeconds(c, spread));
    }
    return oracle.floorValue(p, least);
  }

  private static int level(ShardingOptions.Option sharding) {
    return sharding.level() >= 3 ? GATHERS : KEEPS;
  }

  /**
   * What shardings do that the rules leave of some; all of those where none is left, so that a rule
   * ends them.
   */
  private int levels(Point p, long fits) {
    int levels = 0;
    int all = 0;
    for (int i = 0; i < shardings.length; i++) {
      if ((fits >> i & 1) != 0) {
        int level = level(oracle.facts.shardings().get(shardings[i]));
        p.set(Axis.SHARDING, shardings[i]);
        all |= level;
        levels |= census.permits(Axis.SHARDING, p) ? level : 0;
      }
    }
    return levels == 0 ? all : levels;
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
