package dev.meshplan.optimize;

import dev.meshplan.rules.Rule;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * A smallest set of rules that leaves nothing, by deletion: halves are dropped whole while nothing
 * is left without them (Junker, QuickXplain, AAAI 2004).
 */
final class Core {
  private final Trials trials;
  private boolean minimal = true;

  Core(Trials trials) {
    this.trials = trials;
  }

  /** Whether every question had a proven answer, so that no rule of the cores can be left out. */
  boolean minimal() {
    return minimal;
  }

  /**
   * A smallest part of {@code open} that leaves nothing together with {@code kept}, where both
   * together leave nothing.
   */
  List<Rule> of(List<Rule> kept, List<Rule> open) {
    if (open.isEmpty() || !feasible(kept)) {
      return List.of();
    }
    if (open.size() == 1) {
      return open;
    }
    List<Rule> first = open.subList(0, open.size() / 2);
    List<Rule> second = open.subList(open.size() / 2, open.size());
    List<Rule> late = of(joined(kept, first), second);
    List<Rule> early = of(joined(kept, late), first);
    return joined(early, late);
  }

  /** Whether some tuple obeys the rules; yes where the budget of the question ended first. */
  boolean feasible(List<Rule> rules) {
    Trials.Answer a = trials.any(new LinkedHashSet<>(rules));
    minimal &= a.found() || a.proven();
    return a.unproven();
  }

  static List<Rule> joined(List<Rule> a, List<Rule> b) {
    List<Rule> all = new ArrayList<>(a);
    all.addAll(b);
    return all;
  }
}
