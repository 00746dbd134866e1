package dev.meshplan.optimize;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The plans that a search keeps: the best ones with different degrees, and the best by key. */
final class Kept {
  private static final Comparator<Found.Key> KEYS =
      Comparator.comparingLong(Found.Key::gpus)
          .thenComparingInt(Found.Key::block)
          .thenComparingLong(Found.Key::unit);

  private final int most;
  private final double ceiling;
  private final List<Found> best = new ArrayList<>();
  private final Map<Found.Key, Found> columns = new TreeMap<>(KEYS);
  private double threshold;

  /**
   * Keeps nothing yet.
   *
   * @param most how many plans with different degrees
   * @param ceiling objective from which on nothing is wanted
   */
  Kept(int most, double ceiling) {
    this.most = most;
    this.ceiling = ceiling;
    threshold = ceiling;
  }

  /** A tuple at or above this can't be among the plans that are kept. */
  double threshold() {
    return threshold;
  }

  /** Cheapest first. */
  List<Found> best() {
    return best;
  }

  Map<Found.Key, Found> columns() {
    return columns;
  }

  /** The cheapest value; NaN before the first plan. */
  double incumbent() {
    return best.isEmpty() ? Double.NaN : best.get(0).value();
  }

  void add(Found found) {
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
    if (best.size() > most) {
      best.remove(best.size() - 1);
    }
    if (best.size() == most) {
      threshold = Math.min(ceiling, Math.nextUp(best.get(most - 1).value()));
    }
  }
}
