package dev.meshplan.optimize;

import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Infeasible;
import dev.meshplan.plan.Limits;
import dev.meshplan.plan.Locality;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.PlanRequest;
import dev.meshplan.plan.Pool;
import dev.meshplan.plan.Problem;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import dev.meshplan.rules.Rules;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Why a request has no plan, by deletion over the search: a rule belongs to the core when the
 * others without it leave a plan. Pins and locality are rules like any other here.
 */
final class Diagnosis {
  private Diagnosis() {}

  /** Core, nearest miss and cure of an infeasible request. */
  static Infeasible of(Problem problem, Search.Progress progress) {
    Space space = new Space(problem, problem.machines().get(0));
    List<Rule> active = active(problem, space);
    // Choices come last, so that a core names them where it can: they are easiest to change.
    List<Rule> core = core(problem, List.of(), active, progress);
    Point near = nearest(problem, core, progress);
    List<Infeasible.CoreRule> rules = new ArrayList<>();
    Oracle oracle =
        new Oracle(problem, problem.machines().get(0), space, problem.request().locality());
    for (Rule r : core) {
      String sentence = near == null ? r.sentence() : r.at(oracle.facts, near);
      rules.add(new Infeasible.CoreRule(r.id(), r.kind(), sentence, r.source()));
    }
    return new Infeasible(
        rules,
        near == null ? null : miss(oracle, core, near),
        Cures.smallest(problem, core, progress));
  }

  /**
   * A smallest part of {@code open} that leaves nothing together with {@code kept}, where both
   * together leave nothing: halves are dropped whole while nothing is left without them.
   */
  private static List<Rule> core(
      Problem problem, List<Rule> kept, List<Rule> open, Search.Progress progress) {
    if (open.isEmpty() || !feasible(problem, kept, progress)) {
      return List.of();
    }
    if (open.size() == 1) {
      return open;
    }
    List<Rule> first = open.subList(0, open.size() / 2);
    List<Rule> second = open.subList(open.size() / 2, open.size());
    List<Rule> late = core(problem, joined(kept, first), second, progress);
    List<Rule> early = core(problem, joined(kept, late), first, progress);
    return joined(early, late);
  }

  private static List<Rule> joined(List<Rule> a, List<Rule> b) {
    List<Rule> all = new ArrayList<>(a);
    all.addAll(b);
    return all;
  }

  /** Every rule of a request: the framework's, what fits, and its pins; pins come last. */
  static List<Rule> active(Problem problem, Space space) {
    List<Rule> active = new ArrayList<>(Rules.of(problem.request().training().framework()));
    active.add(Pins.placeable());
    space
        .pins()
        .forEach(
            (axis, value) ->
                active.add(
                    axis == Axis.GPUS_USED
                        ? Pins.gpusUsed(value)
                        : Pins.axis(axis, value, problem.request().fix().get(axis.key()))));
    return active;
  }

  /** Whether a request has a plan at all. */
  static boolean feasible(Problem problem, Search.Progress progress) {
    return feasible(
        problem, active(problem, new Space(problem, problem.machines().get(0))), progress);
  }

  /** Whether any tuple obeys these rules; rules of pins that are missing open their axis. */
  static boolean feasible(Problem problem, List<Rule> rules, Search.Progress progress) {
    return first(problem, rules, progress) != null;
  }

  private static Point first(Problem problem, List<Rule> rules, Search.Progress progress) {
    Map<String, String> fix = new TreeMap<>(problem.request().fix());
    fix.keySet().removeIf(key -> rules.stream().noneMatch(r -> r.id().equals("pinned-" + key)));
    Problem open = with(problem, fix, problem.request().locality(), problem.machines());
    for (Machine m : open.machines()) {
      Space space = new Space(open, m);
      Oracle oracle = new Oracle(open, m, space, open.request().locality());
      Search.Result r =
          new Search(
                  space,
                  oracle,
                  rules,
                  1,
                  f -> true,
                  Double.POSITIVE_INFINITY,
                  open.request().limits().evaluations(),
                  Search.Goal.ANY,
                  progress)
              .run();
      if (!r.best().isEmpty()) {
        return r.best().get(0).point();
      }
    }
    return null;
  }

  /** A tuple that breaks only one rule of the core: memory where it can, by the least. */
  private static Point nearest(Problem problem, List<Rule> core, Search.Progress progress) {
    List<Rule> order = new ArrayList<>(core);
    order.sort(
        java.util.Comparator.comparing((Rule r) -> !r.id().equals("memory"))
            .thenComparing(r -> r.kind().ordinal()));
    Space space = new Space(problem, problem.machines().get(0));
    List<Rule> all = active(problem, space);
    for (Rule r : order) {
      if (r.id().equals("memory")) {
        Point least = Cures.leastMemory(problem, all, progress);
        if (least != null) {
          return least;
        }
        continue;
      }
      List<Rule> without = new ArrayList<>(all);
      without.remove(r);
      Point p = first(problem, without, progress);
      if (p != null) {
        return p;
      }
    }
    return null;
  }

  private static Infeasible.NearestMiss miss(Oracle oracle, List<Rule> core, Point p) {
    String broken = "";
    String text = "";
    for (Rule r : core) {
      if (!r.holds().test(oracle.facts, p)) {
        broken = r.id();
        text = r.at(oracle.facts, p);
      }
    }
    double over = Math.max(0, oracle.deviceBytes(p) - oracle.facts.limitBytes());
    return new Infeasible.NearestMiss(
        oracle.facts.candidate(p).dims(),
        oracle.facts.candidate(p).batch(),
        oracle.facts.memory(p),
        broken,
        text,
        over);
  }

  /** The problem with another set of pins, locality or machines. */
  static Problem with(
      Problem problem, Map<String, String> fix, Locality locality, List<Machine> machines) {
    PlanRequest r = problem.request();
    List<Pool> pools = machines.stream().map(Machine::pool).toList();
    return new Problem(
        new PlanRequest(
            r.model(),
            pools,
            r.training(),
            r.objective(),
            locality,
            fix,
            r.limits(),
            r.alternatives()),
        problem.model(),
        machines,
        problem.provenance());
  }

  /** The problem with another memory share. */
  static Problem withShare(Problem problem, double share) {
    PlanRequest r = problem.request();
    return new Problem(
        new PlanRequest(
            r.model(),
            r.cluster(),
            r.training(),
            r.objective(),
            r.locality(),
            r.fix(),
            new Limits(share, r.limits().evaluations()),
            r.alternatives()),
        problem.model(),
        problem.machines(),
        problem.provenance());
  }
}
