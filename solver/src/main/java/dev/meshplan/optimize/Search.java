package dev.meshplan.optimize;

import dev.meshplan.estimate.LayerSeconds;
import dev.meshplan.estimate.Spread;
import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Layout;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Best-first search over the degrees of one pool. Shapes (tp, cp, pp, dp) are opened in order of an
 * admissible bound; inside a shape axes are bound one by one and a rule prunes as soon as its last
 * axis is bound. The search ends when the next bound reaches the worst plan that is kept: that is
 * the proof. Every tuple of the space is counted once, by what ended it.
 */
final class Search {
  static final String BOUND = "bound";
  static final String DOMINATED = "dominated";
  static final String PRICED = "priced";
  static final String UNPLACEABLE = "blocks-available";
  private static final String LIMIT = "limit";
  private static final int SHAPE_AXES = 4;
  private static final int REPORT_EVERY = 20_000;

  /** How a search ended. {@code bound}: no tuple that was not priced is below it. */
  record Result(
      List<Found> best,
      Map<Found.Key, Found> columns,
      Map<String, Long> tally,
      long evaluated,
      boolean complete,
      double bound) {}

  /** A rule with the tuples it ended. */
  private static final class Counted {
    private final Rule rule;
    private long tuples;

    Counted(Rule rule) {
      this.rule = rule;
    }
  }

  private record Shape(int tp, int cp, int pp, int dp, double floor) {}

  private final Space space;
  private final Oracle oracle;
  private final List<List<Counted>> rulesAt = new ArrayList<>();
  private final int keep;
  private final Set<Found.Key> excluded;
  private final long limit;
  private final boolean firstOnly;
  private final Progress progress;
  private final Map<String, Long> tally = new HashMap<>();
  private final List<Found> best = new ArrayList<>();
  private final Map<Found.Key, Found> columns = new TreeMap<>(KEYS);
  private final List<Shape> shapes = new ArrayList<>();
  private final Point point = new Point();
  private final boolean[] tooLarge;
  private final boolean memoryActive;
  private double ceiling;
  private long evaluated;
  private boolean stopped;
  private double openBound = Double.POSITIVE_INFINITY;

  private static final java.util.Comparator<Found.Key> KEYS =
      java.util.Comparator.comparingLong(Found.Key::gpus)
          .thenComparingInt(Found.Key::block)
          .thenComparingLong(Found.Key::unit);

  /**
   * Prepares a search.
   *
   * @param rules the rules that hold; dropping some asks what they forbid
   * @param keep how many plans with different degrees to keep
   * @param excluded keys that no rack can carry
   * @param ceiling objective above which nothing is wanted
   * @param limit evaluations before giving up
   * @param firstOnly stop at the first feasible plan
   */
  Search(
      Space space,
      Oracle oracle,
      List<Rule> rules,
      int keep,
      Set<Found.Key> excluded,
      double ceiling,
      long limit,
      boolean firstOnly,
      Progress progress) {
    this.space = space;
    this.oracle = oracle;
    this.keep = keep;
    this.excluded = excluded;
    this.ceiling = ceiling;
    this.limit = limit;
    this.firstOnly = firstOnly;
    this.progress = progress;
    tooLarge = new boolean[space.values(Axis.SHARDING).length];
    for (int i = 0; i < Axis.values().length; i++) {
      rulesAt.add(new ArrayList<>());
    }
    boolean memory = false;
    for (Rule r : rules) {
      if (r.id().equals("memory")) {
        memory = true;
      } else {
        rulesAt.get(lastAxis(r).ordinal()).add(new Counted(r));
      }
    }
    memoryActive = memory;
  }

  private static Axis lastAxis(Rule r) {
    Axis last = Space.ORDER.get(0);
    for (Axis a : Space.ORDER) {
      if (r.scope().contains(a)) {
        last = a;
      }
    }
    return last;
  }

  Result run() {
    shapes(0);
    shapes.sort(
        java.util.Comparator.comparingDouble(Shape::floor)
            .thenComparingInt(Shape::tp)
            .thenComparingInt(Shape::cp)
            .thenComparingInt(Shape::pp)
            .thenComparingInt(Shape::dp));
    double bound = Double.POSITIVE_INFINITY;
    for (int i = 0; i < shapes.size(); i++) {
      Shape s = shapes.get(i);
      if (s.floor() >= threshold() || stopped) {
        bound = Math.min(bound, s.floor());
        count(stopped ? LIMIT : BOUND, (shapes.size() - i) * space.sizeFrom(SHAPE_AXES));
        break;
      }
      openBound = s.floor();
      point.set(Axis.TP, s.tp()).set(Axis.CP, s.cp()).set(Axis.PP, s.pp()).set(Axis.DP, s.dp());
      inside(SHAPE_AXES);
      if (stopped) {
        bound = Math.min(bound, s.floor());
      }
    }
    rulesAt.forEach(
        at ->
            at.forEach(
                c -> {
                  if (c.tuples > 0) {
                    count(c.rule.id(), c.tuples);
                  }
                }));
    double value = best.isEmpty() ? Double.POSITIVE_INFINITY : best.get(0).value();
    return new Result(
        List.copyOf(best),
        columns,
        tally,
        evaluated,
        !stopped,
        stopped ? Math.min(bound, value) : value);
  }

  private void shapes(int position) {
    if (position == SHAPE_AXES) {
      double floor = oracle.time.floorSeconds(point.tp(), point.cp(), point.pp(), point.dp());
      shapes.add(
          new Shape(
              point.tp(), point.cp(), point.pp(), point.dp(), oracle.floorValue(point, floor)));
      return;
    }
    Axis axis = Space.ORDER.get(position);
    for (int v : space.values(axis)) {
      point.set(axis, v);
      if (allowed(axis, position + 1)) {
        shapes(position + 1);
      }
    }
  }

  private void inside(int position) {
    if (stopped) {
      count(LIMIT, space.sizeFrom(position));
      return;
    }
    Axis axis = Space.ORDER.get(position);
    for (int v : space.values(axis)) {
      point.set(axis, v);
      if (axis == Axis.CP_INSIDE && v == 0 && point.cp() == 1 && space.values(axis).length > 1) {
        count(DOMINATED, space.sizeFrom(position + 1));
        continue;
      }
      if (!allowed(axis, position + 1)) {
        continue;
      }
      if (axis == Axis.ETP && memoryActive && statesTooLarge()) {
        count("memory", space.sizeFrom(position + 1));
      } else if (axis == Axis.MICRO_BATCH) {
        shardings(position + 1);
      } else {
        inside(position + 1);
      }
    }
  }

  /** Whether states alone exceed the limit under every sharding; notes under which they do. */
  private boolean statesTooLarge() {
    point.set(Axis.RECOMPUTE, 0);
    boolean all = true;
    int[] shardings = space.values(Axis.SHARDING);
    for (int i = 0; i < shardings.length; i++) {
      point.set(Axis.SHARDING, shardings[i]);
      tooLarge[i] = statesBytes() > oracle.facts.limitBytes();
      all &= tooLarge[i];
    }
    return all;
  }

  private double statesBytes() {
    return oracle.memory.statesFloorBytes(
        point.tp(),
        point.cp(),
        point.pp(),
        point.dp(),
        point.ep(),
        point.etp(),
        oracle.facts.memory(point));
  }

  /** Degrees, block and micro-batch are bound: sharding, virtual stages and recompute are left. */
  private void shardings(int position) {
    point.set(Axis.SHARDING, space.values(Axis.SHARDING)[0]);
    point.set(Axis.VPP, 1).set(Axis.RECOMPUTE, 0);
    Spread spread = oracle.spread(point);
    if (innerFloor(spread) >= threshold()) {
      count(BOUND, space.sizeFrom(position));
      return;
    }
    int[] shardings = space.values(Axis.SHARDING);
    for (int i = 0; i < shardings.length; i++) {
      point.set(Axis.SHARDING, shardings[i]);
      if (!allowed(Axis.SHARDING, position + 1)) {
        continue;
      }
      if (memoryActive && tooLarge[i]) {
        count("memory", space.sizeFrom(position + 1));
        continue;
      }
      for (int v : space.values(Axis.VPP)) {
        point.set(Axis.VPP, v);
        if (allowed(Axis.VPP, position + 2)) {
          recomputes(spread);
        }
      }
    }
  }

  /**
   * The layers' own time in the best layout with the most virtual stages: every other term of the
   * step adds to it, and recompute does too.
   */
  private double innerFloor(Spread spread) {
    LayerSeconds s = oracle.time.layerSeconds(oracle.facts.candidate(point), spread);
    double sum = s.head() + oracle.problem.model().mtpLayers() * s.mtp();
    double last = sum;
    double longest = 0;
    int[] counts = oracle.kindCounts();
    for (int k = 0; k < counts.length; k++) {
      sum += counts[k] * s.layer(k);
      longest = Math.max(longest, s.layer(k));
    }
    double slowest = Math.max(Math.max(sum / point.pp(), last), longest);
    int[] vpp = space.values(Axis.VPP);
    int m = point.microBatches(oracle.facts.training().globalBatch());
    double seconds = m * slowest + (sum - slowest) / vpp[vpp.length - 1];
    return oracle.floorValue(point, Math.min(seconds, m * sum));
  }

  private void recomputes(Spread spread) {
    int[] options = space.values(Axis.RECOMPUTE);
    Found.Key key = new Found.Key(oracle.unit(point), point.block(), point.gpus());
    if (excluded.contains(key)) {
      count(UNPLACEABLE, options.length);
      return;
    }
    for (int i = 0; i < options.length; i++) {
      point.set(Axis.RECOMPUTE, options[i]);
      if (!allowed(Axis.RECOMPUTE, Space.ORDER.size())) {
        continue;
      }
      Layout layout = oracle.fastestLayout(point, spread);
      double seconds = price(layout, spread);
      double value = oracle.value(point, seconds);
      if (value >= threshold()) {
        // No recompute comes first and is fastest: what it does not reach, no option reaches.
        if (i == 0) {
          count(BOUND, options.length);
          return;
        }
        count(BOUND, 1);
        continue;
      }
      if (stopped) {
        count(LIMIT, options.length - i);
        return;
      }
      if (memoryActive && !oracle.fits(point, layout)) {
        Layout fitting = oracle.layout(point);
        if (!oracle.fits(point, fitting)) {
          count("memory", 1);
          continue;
        }
        seconds = price(fitting, spread);
        value = oracle.value(point, seconds);
        if (value >= threshold()) {
          count(PRICED, 1);
          continue;
        }
      }
      count(PRICED, 1);
      add(new Found(point.copy(), value, seconds, key.unit()));
      if (i == 0 && options.length > 1 && options[0] == 0) {
        count(DOMINATED, options.length - 1);
        i = options.length;
      }
      if (firstOnly) {
        stopped = true;
      }
    }
  }

  private double price(Layout layout, Spread spread) {
    evaluated++;
    if (evaluated % REPORT_EVERY == 0) {
      progress.at(evaluated, best.isEmpty() ? Double.NaN : best.get(0).value(), openBound);
    }
    if (evaluated >= limit) {
      stopped = true;
    }
    return oracle.time.seconds(oracle.facts.candidate(point), layout, spread);
  }

  private void add(Found found) {
    columns.merge(found.key(), found, (a, b) -> Found.ORDER.compare(a, b) <= 0 ? a : b);
    int same = -1;
    for (int i = 0; i < best.size(); i++) {
      if (best.get(i).sameDegrees(found)) {
        same = i;
      }
    }
    if (same >= 0) {
      if (Found.ORDER.compare(found, best.get(same)) >= 0) {
        return;
      }
      best.remove(same);
    }
    int at = 0;
    while (at < best.size() && Found.ORDER.compare(best.get(at), found) <= 0) {
      at++;
    }
    best.add(at, found);
    if (best.size() > keep) {
      best.remove(best.size() - 1);
    }
  }

  /** A tuple at or above this can't be among the plans that are kept. */
  private double threshold() {
    double worst =
        best.size() < keep ? Double.POSITIVE_INFINITY : best.get(best.size() - 1).value();
    return Math.min(ceiling, Math.nextUp(worst));
  }

  private boolean allowed(Axis axis, int next) {
    for (Counted c : rulesAt.get(axis.ordinal())) {
      if (!c.rule.holds().test(oracle.facts, point)) {
        c.tuples += space.sizeFrom(next);
        return false;
      }
    }
    return true;
  }

  private void count(String id, long tuples) {
    tally.merge(id, tuples, Long::sum);
  }

  /** Hears of a long search from time to time. */
  interface Progress {
    /** Called every so many evaluations. */
    void at(long evaluated, double incumbent, double bound);
  }
}
