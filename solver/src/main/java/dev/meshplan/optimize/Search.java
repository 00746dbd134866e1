package dev.meshplan.optimize;

import dev.meshplan.estimate.Spread;
import dev.meshplan.plan.Axis;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Best-first search over the degrees of one pool. What is open is kept in order of an admissible
 * bound and refined in three steps: shapes (tp, cp, pp, dp), experts (ep, etp), and the rest down
 * to the micro-batch, whose few completions are priced one by one. A rule prunes as soon as its
 * last axis is bound. The search ends when the next bound reaches the worst plan that is kept: that
 * is the proof. Every tuple of the space is counted once, by what ended it.
 */
final class Search {
  static final String BOUND = "bound";
  static final String DOMINATED = "dominated";
  static final String PRICED = "priced";
  static final String UNPLACEABLE = "blocks-available";
  static final String MEMORY = "memory";
  static final String LIMIT = "limit";

  /** Tuples that fit no usual layout of layers and were not given to the constraint model. */
  static final String UNTRIED = "layouts-untried";

  private static final int SHAPE = 4;
  private static final int REPORT_EVERY = 1024;
  private static final int EXPERTS = 6;
  static final int INNER = 9;

  /** More bytes than any rank holds. */
  private static final double DEEP = 1e18;

  /** What is looked for. */
  enum Goal {
    /** The cheapest plans. */
    CHEAPEST,
    /** Any plan: those that hold least are asked first. */
    ANY,
    /** The plan on the fewest GPUs. */
    FEWEST,
    /** The tuple that needs least memory. */
    SMALLEST
  }

  /** How a search ended. {@code bound}: no tuple that was not priced is below it. */
  record Result(
      List<Found> best,
      Map<Found.Key, Found> columns,
      Map<String, Long> tally,
      long evaluated,
      boolean complete,
      double bound) {}

  /** Tuples that share their first axes. {@code fits}: shardings whose states fit, by bit. */
  private record Node(double bound, int order, int position, Point at, long fits) {}

  private final Space space;
  private final Oracle oracle;
  private final Census census;
  private final Bounds bounds;
  private final Kept kept;
  private final Leaves leaves;
  private final Squeeze squeeze;
  private final Set<Found.Key> excluded = new HashSet<>();
  private final Predicate<Found> placed;
  private final Set<Found.Key> carried = new HashSet<>();
  private final Goal goal;
  private final Progress progress;
  private final PriorityQueue<Node> open =
      new PriorityQueue<>(Comparator.comparingDouble(Node::bound).thenComparingInt(Node::order));
  private final Point point = new Point();
  private int order;

  /** Bound of the part that is open: none below it is left. NaN before the first. */
  private double reached = Double.NaN;

  /**
   * Prepares a search.
   *
   * @param rules the rules that hold; dropping some asks what they forbid
   * @param keep how many plans with different degrees to keep
   * @param placed whether the domains can carry a plan; asked once per key
   * @param ceiling objective above which nothing is wanted
   * @param limit evaluations before giving up
   */
  Search(
      Space space,
      Oracle oracle,
      List<Rule> rules,
      int keep,
      Predicate<Found> placed,
      double ceiling,
      long limit,
      Goal goal,
      Progress progress) {
    this.space = space;
    this.oracle = oracle;
    this.goal = goal;
    census = new Census(oracle.facts, rules);
    bounds = new Bounds(oracle, space, census);
    kept = new Kept(keep, ceiling);
    squeeze = new Squeeze(oracle, census, kept, this::carried);
    leaves = new Leaves(space, oracle, census, bounds, kept, squeeze, this::carried, goal, limit);
    this.progress = progress;
    this.placed = placed;
  }

  Result run() {
    shapes(0);
    while (!open.isEmpty() && !leaves.stopped() && open.peek().bound() < kept.threshold()) {
      Node n = open.poll();
      reached = n.bound();
      point.from(n.at());
      switch (n.position()) {
        case SHAPE -> experts(n);
        case EXPERTS -> inner(n);
        default -> leaves.price(point, n.fits());
      }
    }
    boolean stopped = leaves.stopped();
    boolean tried = squeeze.run(stopped);
    for (Node n : open) {
      census.count(stopped ? LIMIT : BOUND, space.sizeFrom(n.position()));
    }
    double value = kept.best().isEmpty() ? Double.POSITIVE_INFINITY : kept.best().get(0).value();
    double bound = stopped ? Math.min(value, Math.min(reached, squeeze.least())) : value;
    // A limit that is reached after the bound has met the value has only cut runners-up off.
    boolean whole = !stopped || (bound >= value && !kept.best().isEmpty());
    return new Result(
        List.copyOf(kept.best()),
        kept.columns(),
        census.tally(),
        leaves.evaluated(),
        whole && tried,
        bound);
  }

  /** Keys shown unplaceable prune from then on like a rule. */
  private boolean carried(Found found) {
    Found.Key key = found.key();
    if (!carried.contains(key) && !excluded.contains(key)) {
      (placed.test(found) ? carried : excluded).add(key);
    }
    return carried.contains(key);
  }

  private void push(double bound, int position, long fits) {
    if (bound >= kept.threshold()) {
      census.count(BOUND, space.sizeFrom(position));
    } else {
      open.add(new Node(bound, order++, position, point.copy(), fits));
      if (order % REPORT_EVERY == 0 && !Double.isNaN(reached)) {
        progress.at(leaves.evaluated(), kept.incumbent(), reached);
      }
    }
  }

  private void shapes(int position) {
    if (position == SHAPE) {
      push(
          switch (goal) {
            case CHEAPEST -> bounds.shape(point);
            case ANY -> 1.0 / point.gpus();
            case FEWEST -> point.gpus();
            case SMALLEST -> 0;
          },
          SHAPE,
          -1);
      return;
    }
    Axis axis = Space.ORDER.get(position);
    for (int v : space.values(axis)) {
      point.set(axis, v);
      if (census.allowed(axis, point, space.sizeFrom(position + 1))) {
        shapes(position + 1);
      }
    }
  }

  private void experts(Node n) {
    for (int ep : space.values(Axis.EP)) {
      point.set(Axis.EP, ep);
      if (!census.allowed(Axis.EP, point, space.sizeFrom(SHAPE + 1))) {
        continue;
      }
      for (int etp : space.values(Axis.ETP)) {
        point.set(Axis.ETP, etp);
        if (!census.allowed(Axis.ETP, point, space.sizeFrom(EXPERTS))) {
          continue;
        }
        long fits = -1;
        if (census.memory() || goal == Goal.SMALLEST) {
          fits = bounds.fitting(point, bounds.leastMicroBatch());
          if (census.memory() && fits == 0) {
            census.count(MEMORY, space.sizeFrom(EXPERTS));
            continue;
          }
        }
        double bound =
            switch (goal) {
              case CHEAPEST -> Math.max(n.bound(), bounds.experts(point, fits));
              // Any plan will do: go down before the next shape is opened.
              case ANY, FEWEST -> (census.memory() ? bounds.leastBytes : 0) - DEEP;
              case SMALLEST -> bounds.leastBytes;
            };
        push(bound, EXPERTS, census.memory() ? fits : -1);
      }
    }
  }

  private void inner(Node n) {
    int[] blocks = space.values(Axis.BLOCK_GPUS);
    Spread[] spreads = new Spread[blocks.length];
    int[] domains = new int[blocks.length];
    for (int inside : space.values(Axis.CP_INSIDE)) {
      point.set(Axis.CP_INSIDE, inside);
      if (inside == 0 && point.cp() == 1 && space.values(Axis.CP_INSIDE).length > 1) {
        census.count(DOMINATED, space.sizeFrom(EXPERTS + 1));
        continue;
      }
      if (!census.allowed(Axis.CP_INSIDE, point, space.sizeFrom(EXPERTS + 1))) {
        continue;
      }
      for (int i = 0; i < blocks.length; i++) {
        point.set(Axis.BLOCK_GPUS, blocks[i]);
        spreads[i] = null;
        if (!census.allowed(Axis.BLOCK_GPUS, point, space.sizeFrom(EXPERTS + 2))) {
          continue;
        }
        long unit = oracle.unit(point);
        if (excluded.contains(new Found.Key(unit, blocks[i], point.gpus()))) {
          census.count(UNPLACEABLE, space.sizeFrom(EXPERTS + 2));
          continue;
        }
        spreads[i] = oracle.spread(point);
        domains[i] = oracle.supply.fewest(point.gpus(), blocks[i], unit);
        if (smallerDoes(spreads, domains, i)) {
          census.count(DOMINATED, space.sizeFrom(EXPERTS + 2));
        } else {
          microBatches(n, spreads[i]);
        }
      }
    }
  }

  /** Whether a smaller block spreads the groups alike and touches no more domains. */
  private static boolean smallerDoes(Spread[] spreads, int[] domains, int i) {
    for (int j = 0; j < i; j++) {
      if (spreads[i].equals(spreads[j])
          && domains[j] > 0
          && (domains[i] < 0 || domains[j] <= domains[i])) {
        return true;
      }
    }
    return false;
  }

  private void microBatches(Node n, Spread spread) {
    for (int b : space.values(Axis.MICRO_BATCH)) {
      point.set(Axis.MICRO_BATCH, b);
      if (!census.allowed(Axis.MICRO_BATCH, point, space.sizeFrom(INNER))) {
        continue;
      }
      double bound =
          goal == Goal.CHEAPEST
              ? Math.max(n.bound(), bounds.inner(point, spread, n.fits()))
              : n.bound();
      long fits = n.fits();
      if (bound < kept.threshold() && b > bounds.leastMicroBatch() && census.memory()) {
        fits &= bounds.fitting(point, b);
        if (fits == 0) {
          census.count(MEMORY, space.sizeFrom(INNER));
          continue;
        }
      }
      push(bound, INNER, fits);
    }
  }

  /** Hears of a long search from time to time. */
  interface Progress {
    /** The same while an answer is being explained: what is best and bounded there is no answer. */
    default Progress explaining() {
      return (evaluated, incumbent, bound) -> at(evaluated, Double.NaN, Double.NaN);
    }

    /** Called every so many parts into which the space was cut. */
    void at(long evaluated, double incumbent, double bound);
  }
}
