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
    List<Rule> active = new ArrayList<>();
    Space space = new Space(problem, problem.machines().get(0));
    active.addAll(Outcomes.rules(problem, space));
    active.add(Pins.placeable());
    space
        .pins()
        .forEach(
            (axis, value) -> {
              if (axis != Axis.GPUS_USED) {
                active.add(Pins.axis(axis, value, problem.request().fix().get(axis.key())));
              }
            });
    // Choices are dropped last, so that a core names them where it can: they are easiest to change.
    List<Rule> core = new ArrayList<>(active);
    for (Rule r : active) {
      List<Rule> without = new ArrayList<>(core);
      without.remove(r);
      if (!feasible(problem, without, progress)) {
        core = without;
      }
    }
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
    List<Rule> all = new ArrayList<>(Outcomes.rules(problem, space));
    all.add(Pins.placeable());
    space.pins().keySet().stream()
        .filter(a -> a != Axis.GPUS_USED)
        .forEach(
            a -> all.add(Pins.axis(a, space.pins().get(a), problem.request().fix().get(a.key()))));
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
