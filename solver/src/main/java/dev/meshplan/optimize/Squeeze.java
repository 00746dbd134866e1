package dev.meshplan.optimize;

import dev.meshplan.estimate.Spread;
import dev.meshplan.rules.Point;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/**
 * Tuples with virtual stages that fit in no usual layout of layers. After the search they are asked
 * as long as their bound is below the best plan: first what memory makes the slowest rank hold at
 * least, then the constraint model of the layers for those that are nearest to fitting.
 */
final class Squeeze {
  /** Deterministic time for constraint models per search: a quarter of a second, or so. */
  private static final double WORK = 0.024;

  /** The same while there is no plan at all. */
  private static final double WORK_WITHOUT_PLAN = 0.3;

  private record Tight(Point point, Spread spread, double bound, double over) {
    static final Comparator<Tight> ORDER = Comparator.comparingDouble(Tight::bound);
  }

  private final Oracle oracle;
  private final Census census;
  private final Kept kept;
  private final Predicate<Found> carried;
  private final List<Tight> tight = new ArrayList<>();

  /**
   * Nothing to ask yet.
   *
   * @param carried whether the domains can carry a plan
   */
  Squeeze(Oracle oracle, Census census, Kept kept, Predicate<Found> carried) {
    this.oracle = oracle;
    this.census = census;
    this.kept = kept;
    this.carried = carried;
  }

  /** No tuple noted is below this; infinite where none is. */
  double least() {
    return tight.stream().mapToDouble(Tight::bound).min().orElse(Double.POSITIVE_INFINITY);
  }

  /** Notes a tuple that no usual layout fits. */
  void add(Point point, Spread spread) {
    double bound = oracle.value(point, oracle.layers.closedSeconds(point, spread));
    tight.add(new Tight(point.copy(), spread, bound, 0));
  }

  /**
   * Asks for the tuples noted that could still be the best.
   *
   * @param stopped whether the search reached its limit, so that nothing more may be asked
   * @return whether nothing that could be the only plan was left untried
   */
  boolean run(boolean stopped) {
    tight.sort(Tight.ORDER);
    List<Tight> roomy = new ArrayList<>();
    for (Tight t : tight) {
      if (stopped || t.bound() >= best()) {
        census.count(stopped ? Search.LIMIT : Search.MEMORY, 1);
        continue;
      }
      double floor = oracle.layers.squeezedFloor(t.point(), t.spread());
      double bound = floor == Double.POSITIVE_INFINITY ? floor : oracle.value(t.point(), floor);
      if (bound < best()) {
        roomy.add(
            new Tight(
                t.point(), t.spread(), bound, oracle.layers.leastBytes(t.point(), t.spread())));
      } else {
        census.count(Search.MEMORY, 1);
      }
    }
    // What is nearly in needs the least unevenness, which is what costs time.
    roomy.sort(Comparator.comparingDouble(Tight::over).thenComparing(Tight.ORDER));
    double before = oracle.layers.work();
    int untried = 0;
    for (Tight t : roomy) {
      if (t.bound() >= best()) {
        census.count(Search.BOUND, 1);
      } else if (oracle.layers.work() - before > allowance()) {
        census.count(Search.UNTRIED, 1);
        untried++;
      } else {
        solve(t);
      }
    }
    return untried == 0 || !kept.best().isEmpty();
  }

  private double allowance() {
    return best() == Double.POSITIVE_INFINITY ? WORK_WITHOUT_PLAN : WORK;
  }

  private void solve(Tight t) {
    Layers.Laid laid = oracle.layers.squeeze(t.point(), t.spread());
    if (laid == null) {
      census.count(Search.MEMORY, 1);
      return;
    }
    double value = oracle.value(t.point(), laid.seconds());
    Found found = new Found(t.point(), value, laid.seconds(), oracle.unit(t.point()));
    if (value >= kept.threshold()) {
      census.count(Search.BOUND, 1);
    } else if (!carried.test(found)) {
      census.count(Search.UNPLACEABLE, 1);
    } else {
      census.count(Search.PRICED, 1);
      kept.add(found);
    }
  }

  private double best() {
    return kept.best().isEmpty() ? kept.threshold() : kept.best().get(0).value();
  }
}
