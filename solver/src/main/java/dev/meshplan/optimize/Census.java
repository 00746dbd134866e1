package dev.meshplan.optimize;

import dev.meshplan.plan.Axis;
import dev.meshplan.rules.Facts;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Asks the rules as soon as their last axis is bound, and counts every tuple by what ended it. */
final class Census {
  /** A rule with the tuples it ended. */
  private static final class Counted {
    private final Rule rule;
    private long tuples;

    Counted(Rule rule) {
      this.rule = rule;
    }
  }

  private final Facts facts;
  private final Counted[][] rulesAt = new Counted[Axis.values().length][];
  private final boolean memory;
  private final Map<String, Long> counts = new TreeMap<>();

  /** Counts under these rules; memory is asked last, by the search itself. */
  Census(Facts facts, List<Rule> rules) {
    this.facts = facts;
    boolean found = false;
    List<List<Counted>> lists = new ArrayList<>();
    for (int i = 0; i < rulesAt.length; i++) {
      lists.add(new ArrayList<>());
    }
    for (Rule r : rules) {
      if (r.id().equals("memory")) {
        found = true;
      } else {
        lists.get(lastAxis(r).ordinal()).add(new Counted(r));
      }
    }
    memory = found;
    for (int i = 0; i < rulesAt.length; i++) {
      rulesAt[i] = lists.get(i).toArray(new Counted[0]);
    }
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

  /** Whether memory is among the rules. */
  boolean memory() {
    return memory;
  }

  /** Whether the rules that end at an axis hold; if not, so many tuples are counted. */
  boolean allowed(Axis axis, Point point, long tuples) {
    for (Counted c : rulesAt[axis.ordinal()]) {
      if (!c.rule.holds().test(facts, point)) {
        c.tuples += tuples;
        return false;
      }
    }
    return true;
  }

  /** The same without counting. */
  boolean permits(Axis axis, Point point) {
    for (Counted c : rulesAt[axis.ordinal()]) {
      if (!c.rule.holds().test(facts, point)) {
        return false;
      }
    }
    return true;
  }

  void count(String id, long tuples) {
    if (tuples > 0) {
      counts.merge(id, tuples, Long::sum);
    }
  }

  /** Tuples by what ended them. */
  Map<String, Long> tally() {
    Map<String, Long> all = new TreeMap<>(counts);
    for (Counted[] at : rulesAt) {
      for (Counted c : at) {
        if (c.tuples > 0) {
          all.merge(c.rule.id(), c.tuples, Long::sum);
        }
      }
    }
    return all;
  }
}
