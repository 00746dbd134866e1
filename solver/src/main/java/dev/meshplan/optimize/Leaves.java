package dev.meshplan.optimize;

import dev.meshplan.estimate.Spread;
import dev.meshplan.plan.Axis;
import dev.meshplan.rules.Point;
import java.util.function.Predicate;

/**
 * Prices the few completions of a point that is bound down to its micro-batch: shardings, virtual
 * stages and recompute.
 */
final class Leaves {
  private final Space space;
  private final Oracle oracle;
  private final Census census;
  private final Bounds bounds;
  private final Kept kept;
  private final Squeeze squeeze;
  private final Predicate<Found> carried;
  private final Search.Goal goal;
  private final long limit;
  private Point point;
  private long evaluated;
  private boolean stopped;

  Leaves(
      Space space,
      Oracle oracle,
      Census census,
      Bounds bounds,
      Kept kept,
      Squeeze squeeze,
      Predicate<Found> carried,
      Search.Goal goal,
      long limit) {
    this.space = space;
    this.oracle = oracle;
    this.census = census;
    this.bounds = bounds;
    this.kept = kept;
    this.squeeze = squeeze;
    this.carried = carried;
    this.goal = goal;
    this.limit = limit;
  }

  long evaluated() {
    return evaluated;
  }

  /** Whether the search is over: by its limit, or because one plan is enough. */
  boolean stopped() {
    return stopped;
  }

  /**
   * Prices what completes a point.
   *
   * @param fits shardings whose states fit, by bit
   */
  void price(Point point, long fits) {
    this.point = point;
    Spread spread = oracle.spread(point);
    int[] shardings = space.values(Axis.SHARDING);
    for (int i = 0; i < shardings.length; i++) {
      point.set(Axis.SHARDING, shardings[i]);
      if (!census.allowed(Axis.SHARDING, point, space.sizeFrom(Search.INNER + 1))) {
        continue;
      }
      if ((fits >> i & 1) == 0) {
        census.count(Search.MEMORY, space.sizeFrom(Search.INNER + 1));
        continue;
      }
      for (int v : space.values(Axis.VPP)) {
        point.set(Axis.VPP, v);
        if (!census.allowed(Axis.VPP, point, space.sizeFrom(Search.INNER + 2))) {
          continue;
        }
        if (stopped) {
          census.count(Search.LIMIT, space.sizeFrom(Search.INNER + 2));
        } else if (goal != Search.Goal.CHEAPEST) {
          smallest(spread);
        } else if (bounds.layers(point, spread, v) >= kept.threshold()) {
          census.count(Search.BOUND, space.sizeFrom(Search.INNER + 2));
        } else {
          recomputes(spread);
        }
      }
    }
  }

  private void recomputes(Spread spread) {
    int[] options = space.values(Axis.RECOMPUTE);
    for (int i = 0; i < options.length; i++) {
      point.set(Axis.RECOMPUTE, options[i]);
      if (!census.allowed(Axis.RECOMPUTE, point, 1)) {
        continue;
      }
      if (options[i] > 0 && census.memory() && !bounds.mayFit(point)) {
        census.count(Search.MEMORY, 1);
        continue;
      }
      // No recompute comes first and is fastest: what it does not reach, no option reaches.
      int left = options[i] == 0 ? options.length - i : 1;
      if (oracle.value(point, closed(spread)) >= kept.threshold()) {
        census.count(Search.BOUND, left);
        if (left > 1) {
          return;
        }
        continue;
      }
      boolean mayFit = !census.memory() || bounds.mayFit(point);
      Layers.Laid laid = mayFit ? oracle.layers.lay(point, spread, census.memory()) : null;
      if (laid == null) {
        if (mayFit && point.vpp() > 1 && oracle.layers.squeezable()) {
          squeeze.add(point, spread);
        } else {
          census.count(Search.MEMORY, 1);
        }
        continue;
      }
      double value = oracle.value(point, laid.seconds());
      if (value >= kept.threshold()) {
        census.count(Search.BOUND, laid.fastest() ? left : 1);
        if (laid.fastest() && left > 1) {
          return;
        }
        continue;
      }
      Found found = new Found(point.copy(), value, laid.seconds(), oracle.unit(point));
      if (!carried.test(found)) {
        census.count(Search.UNPLACEABLE, options.length - i);
        return;
      }
      census.count(Search.PRICED, 1);
      kept.add(found);
      if (stopped || (laid.fastest() && options[i] == 0)) {
        census.count(stopped ? Search.LIMIT : Search.DOMINATED, options.length - i - 1);
        return;
      }
    }
  }

  /** For questions about memory: the options that hold least come first. */
  private void smallest(Spread spread) {
    int[] options = space.values(Axis.RECOMPUTE);
    for (int i = options.length - 1; i >= 0; i--) {
      point.set(Axis.RECOMPUTE, options[i]);
      if (!census.allowed(Axis.RECOMPUTE, point, 1)) {
        continue;
      }
      if (!census.memory() && goal != Search.Goal.SMALLEST) {
        // Nothing is asked about memory: the first tuple will do, and need not be laid out.
        census.count(Search.PRICED, 1);
        kept.add(new Found(point.copy(), point.gpus(), 0, oracle.unit(point)));
        stopped = true;
        census.count(Search.LIMIT, i);
        return;
      }
      if (census.memory() && !bounds.mayFit(point)) {
        census.count(Search.MEMORY, 1);
        continue;
      }
      Layers.Laid laid = oracle.layers.lay(point, spread);
      double bytes = oracle.bytes(point, laid.layout());
      evaluated++;
      if (census.memory() && bytes > oracle.facts.limitBytes()) {
        census.count(Search.MEMORY, 1);
      } else {
        census.count(Search.PRICED, 1);
        double value = goal == Search.Goal.SMALLEST ? bytes : point.gpus();
        kept.add(new Found(point.copy(), value, laid.seconds(), oracle.unit(point)));
        stopped |= goal != Search.Goal.SMALLEST;
      }
      stopped |= evaluated >= limit;
      if (stopped) {
        census.count(Search.LIMIT, i);
        return;
      }
    }
  }

  private double closed(Spread spread) {
    evaluated++;
    if (evaluated >= limit) {
      stopped = true;
    }
    return oracle.layers.closedSeconds(point, spread);
  }
}
