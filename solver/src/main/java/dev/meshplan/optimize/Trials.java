package dev.meshplan.optimize;

import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.RuleKind;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import dev.meshplan.rules.Rules;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Asks whether any tuple obeys some of the rules of a request. Questions without memory are about
 * the axes that their rules speak of, and nothing is priced. What was shown to leave nothing
 * answers every question with more rules.
 */
final class Trials {
  /** Evaluations after which a question of a diagnosis stays open. */
  static final long MOST_EVALUATIONS = 20_000;

  /** An answer: a tuple and where it stands; without a tuple, whether it is proven. */
  record Answer(Point point, Oracle oracle, boolean proven) {
    boolean found() {
      return point != null;
    }

    /** Whether there is a tuple, or may be one. */
    boolean unproven() {
      return found() || !proven;
    }
  }

  /** A pool with the spaces of its axes. */
  private record Pool(Space space, Oracle oracle) {}

  private final Problem problem;
  private final long most;
  private final Search.Progress progress;
  private final List<Rule> all;
  private final Map<Set<String>, List<Pool>> pools = new HashMap<>();
  private final List<Set<Rule>> nothing = new ArrayList<>();
  private final Map<Set<Rule>, Answer> asked = new HashMap<>();

  /**
   * Prepares questions about a request.
   *
   * @param most evaluations after which a question stays open; the limit of the request holds too
   */
  Trials(Problem problem, long most, Search.Progress progress) {
    this.problem = problem;
    this.most = Math.min(most, problem.request().limits().evaluations());
    this.progress = progress;
    all = rules(problem);
  }

  /** Every rule of a request: the framework's, what fits, its pins; memory, the dearest, last. */
  static List<Rule> rules(Problem problem) {
    Space space = new Space(problem, problem.machines().get(0));
    List<Rule> rules = new ArrayList<>(Rules.of(problem.request().training().framework()));
    Rule memory = rules.remove(rules.size() - 1);
    rules.add(Pins.placeable());
    space.pins().forEach((axis, value) -> rules.add(Pins.rule(problem, axis, value)));
    rules.add(memory);
    return rules;
  }

  /** What the framework refuses: nobody can wish it away. */
  List<Rule> illegal() {
    return all.stream().filter(r -> r.kind() == RuleKind.ILLEGAL).toList();
  }

  /** What a user can change: what fits, what is kept apart, pins. */
  List<Rule> open() {
    return all.stream().filter(r -> r.kind() != RuleKind.ILLEGAL).toList();
  }

  /** A tuple that obeys every rule. */
  Answer any() {
    return any(Set.copyOf(all));
  }

  /** A tuple that obeys the rules; rules of pins that are missing open their axis. */
  Answer any(Set<Rule> rules) {
    for (Set<Rule> none : nothing) {
      if (rules.containsAll(none)) {
        return new Answer(null, null, true);
      }
    }
    Answer known = asked.get(rules);
    if (known == null) {
      known = search(rules, Search.Goal.ANY);
      asked.put(Set.copyOf(rules), known);
      if (!known.found() && known.proven()) {
        nothing.add(Set.copyOf(rules));
      }
    }
    return known;
  }

  /** The best tuple in the sense of a goal that obeys the rules. */
  Answer search(Set<Rule> rules, Search.Goal goal) {
    boolean memory = rules.stream().anyMatch(r -> r.id().equals(Search.MEMORY));
    boolean proven = true;
    List<Rule> ordered = all.stream().filter(rules::contains).toList();
    Found best = null;
    Oracle where = null;
    for (Pool pool : pools(rules)) {
      boolean whole = memory || goal == Search.Goal.SMALLEST;
      Search.Result r =
          new Search(
                  whole ? pool.space() : spoken(pool.space(), ordered),
                  pool.oracle(),
                  ordered,
                  1,
                  f -> true,
                  Double.POSITIVE_INFINITY,
                  most,
                  goal,
                  progress)
              .run();
      proven &= r.complete();
      if (!r.best().isEmpty() && (best == null || r.best().get(0).value() < best.value())) {
        best = r.best().get(0);
        where = pool.oracle();
        if (goal == Search.Goal.ANY) {
          break;
        }
      }
    }
    return new Answer(best == null ? null : best.point(), where, proven);
  }

  /** The numbers of a pool as the request asks. */
  Oracle oracle(Machine machine) {
    return pools(Set.copyOf(all)).get(problem.machines().indexOf(machine)).oracle();
  }

  /** The space with one value on every axis that no rule speaks of. */
  private static Space spoken(Space space, List<Rule> rules) {
    Set<Axis> axes = new HashSet<>();
    rules.forEach(r -> axes.addAll(r.scope()));
    Map<Axis, int[]> first = new EnumMap<>(Axis.class);
    for (Axis axis : Space.ORDER) {
      if (!axes.contains(axis)) {
        first.put(axis, new int[] {space.values(axis)[0]});
      }
    }
    return space.narrowed(first);
  }

  private List<Pool> pools(Set<Rule> rules) {
    Map<String, String> fix = new TreeMap<>(problem.request().fix());
    fix.keySet().removeIf(key -> rules.stream().noneMatch(r -> r.id().equals(Pins.id(key))));
    return pools.computeIfAbsent(
        Set.copyOf(fix.keySet()),
        keys -> {
          Problem open =
              Variants.with(problem, fix, problem.request().locality(), problem.machines());
          List<Pool> list = new ArrayList<>();
          for (Machine m : open.machines()) {
            Space space = new Space(open, m);
            list.add(new Pool(space, new Oracle(open, m, space, open.request().locality())));
          }
          return list;
        });
  }
}
