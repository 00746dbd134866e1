package dev.meshplan.optimize;

import dev.meshplan.estimate.Spread;
import dev.meshplan.plan.Axis;
import dev.meshplan.plan.RuleKind;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/**
 * Exact prices of tuples, for the constraint model: shapes whose floor is below a value, completed
 * in every way that can be priced, kept where the price is below it. Only rules that make a tensor
 * or a rank grid whole are asked here; without them there is no price.
 */
final class PricedTuples {
  private static final EnumSet<Axis> GRID =
      EnumSet.of(Axis.TP, Axis.CP, Axis.PP, Axis.DP, Axis.EP, Axis.ETP);
  private static final int SHAPE = 4;
  private static final int INNER = 9;

  /** A tuple and its objective. */
  record Row(Point at, double value) {
    /** Values in the order of {@link Space#ORDER}, with room for as many more. */
    int[] values(int more) {
      int[] values = new int[Space.ORDER.size() + more];
      for (int i = 0; i < Space.ORDER.size(); i++) {
        values[i] = at.get(Space.ORDER.get(i));
      }
      return values;
    }
  }

  private final Space space;
  private final Oracle oracle;
  private final Bounds bounds;
  private final Census grid;
  private final double below;
  private final int most;
  private final List<Row> rows = new ArrayList<>();
  private final Point point = new Point();
  private long priced;

  /**
   * Prepares the table.
   *
   * @param rules all rules; of them, those of the rank grid are asked
   * @param below only prices below it are kept
   * @param most rows before giving up
   */
  PricedTuples(Space space, Oracle oracle, List<Rule> rules, double below, int most) {
    this.space = space;
    this.oracle = oracle;
    this.below = below;
    this.most = most;
    grid =
        new Census(
            oracle.facts,
            rules.stream().filter(r -> GRID.containsAll(r.scope())).filter(this::needed).toList());
    bounds = new Bounds(oracle, space, new Census(oracle.facts, List.of()));
  }

  private boolean needed(Rule r) {
    return r.kind() == RuleKind.ILLEGAL || r.id().equals("gpus-available");
  }

  /** The rows; null when there are more than wanted. */
  List<Row> rows() {
    fill(0);
    return rows.size() > most ? null : rows;
  }

  /** Tuples that were priced. */
  long priced() {
    return priced;
  }

  private void fill(int position) {
    if (rows.size() > most) {
      return;
    }
    if (position == SHAPE && bounds.shape(point) >= below) {
      return;
    }
    if (position == INNER && bounds.inner(point, oracle.spread(point), -1) >= below) {
      return;
    }
    if (position == Space.ORDER.size()) {
      price();
      return;
    }
    Axis axis = Space.ORDER.get(position);
    for (int v : space.values(axis)) {
      point.set(axis, v);
      if (grid.permits(axis, point)) {
        fill(position + 1);
      }
    }
  }

  private void price() {
    priced++;
    Spread spread = oracle.spread(point);
    double value = oracle.value(point, oracle.layers.closedSeconds(point, spread));
    if (value < below) {
      value = oracle.value(point, oracle.layers.lay(point, spread).seconds());
    }
    if (value < below) {
      rows.add(new Row(point.copy(), value));
    }
  }
}
