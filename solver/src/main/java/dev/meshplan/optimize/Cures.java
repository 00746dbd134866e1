package dev.meshplan.optimize;

import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Infeasible;
import dev.meshplan.plan.Locality;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Pool;
import dev.meshplan.plan.Problem;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The smallest change of a request that makes a plan possible; every one offered was tried. */
final class Cures {
  private static final int MOST_DOUBLINGS = 14;

  /** Tuples whose memory is looked at for the nearest miss. */
  private static final long MOST_TRIALS = 20_000;

  private Cures() {}

  /** Tried in order: one pin fewer, priced locality, memory to the brim, more domains. */
  static Infeasible.Cure smallest(Problem problem, List<Rule> core, Search.Progress progress) {
    for (Rule r : core) {
      if (r.id().startsWith("pinned-")) {
        Infeasible.Cure c = unpin(problem, r.id().substring("pinned-".length()), progress);
        if (c != null) {
          return c;
        }
      }
    }
    if (core.stream().anyMatch(r -> r.id().endsWith("-inside-block"))) {
      Problem priced =
          Diagnosis.with(problem, problem.request().fix(), Locality.PRICED, problem.machines());
      Outcomes.Placed p = tryOut(priced, progress);
      if (p.chosen() != null) {
        return new Infeasible.Cure(
            "let the group cross its domain, at the price of the network",
            "locality",
            "priced",
            result(p));
      }
    }
    if (core.stream().anyMatch(r -> r.id().equals("memory"))
        && problem.request().limits().memoryShare() < 1) {
      Outcomes.Placed p = tryOut(Diagnosis.withShare(problem, 1.0), progress);
      if (p.chosen() != null) {
        return new Infeasible.Cure(
            "use all usable memory (TIGHT: runs were reported to fail from 93% on)",
            "limits.memory_share", "1.0", result(p));
      }
    }
    return moreDomains(problem, progress);
  }

  private static Infeasible.Cure unpin(Problem problem, String key, Search.Progress progress) {
    Map<String, String> fix = new TreeMap<>(problem.request().fix());
    fix.remove(key);
    Problem open = Diagnosis.with(problem, fix, problem.request().locality(), problem.machines());
    Outcomes.Placed p = tryOut(open, progress);
    if (p.chosen() == null) {
      return null;
    }
    Axis axis =
        java.util.Arrays.stream(Axis.values()).filter(a -> a.key().equals(key)).findFirst().get();
    Oracle o = p.chosen().oracle();
    Point point = p.chosen().found().point();
    String value =
        switch (axis) {
          case GPUS_USED -> String.valueOf(point.gpus());
          case RECOMPUTE, SHARDING -> o.facts.memory(point).recompute().text();
          default -> String.valueOf(point.get(axis));
        };
    return new Infeasible.Cure("leave " + key + " free", "fix." + key, value, result(p));
  }

  /** The fewest domains that suffice, by doubling and bisection. */
  private static Infeasible.Cure moreDomains(Problem problem, Search.Progress progress) {
    Machine m = problem.machines().get(0);
    int low = m.pool().domains();
    int high = low;
    boolean fits = false;
    for (int i = 0; i < MOST_DOUBLINGS && !fits && high < 1 << 17; i++) {
      low = high;
      high *= 2;
      fits = Diagnosis.feasible(sized(problem, high), progress);
    }
    if (!fits) {
      return null;
    }
    while (high - low > 1) {
      int middle = (low + high) >>> 1;
      if (Diagnosis.feasible(sized(problem, middle), progress)) {
        high = middle;
      } else {
        low = middle;
      }
    }
    Outcomes.Placed at = tryOut(sized(problem, high), progress);
    int gpus = high * (m.system().domain().size() - m.pool().sparesPerDomain());
    return new Infeasible.Cure(
        "use " + gpus + " GPUs (" + high + " domains)", "cluster.gpus", "" + gpus, result(at));
  }

  private static Problem sized(Problem problem, int domains) {
    Machine m = problem.machines().get(0);
    Pool p = m.pool();
    int gpus = domains * (m.system().domain().size() - p.sparesPerDomain());
    Pool more =
        new Pool(
            p.system(),
            p.network(),
            gpus,
            domains,
            p.sparesPerDomain(),
            List.of(),
            p.blocks(),
            p.cut(),
            p.dollarsPerGpuHour());
    return Diagnosis.with(
        problem,
        problem.request().fix(),
        problem.request().locality(),
        List.of(new Machine(more, m.system(), m.gpu(), m.network())));
  }

  private static Outcomes.Placed tryOut(Problem problem, Search.Progress progress) {
    return Outcomes.place(problem, problem.request().locality(), 0, progress);
  }

  private static String result(Outcomes.Placed p) {
    if (p.chosen() == null) {
      return "a plan exists; the limit of evaluations ended the search for the best";
    }
    Found f = p.chosen().found();
    Oracle o = p.chosen().oracle();
    return o.facts.candidate(f.point()).dims().text()
        + " at "
        + dev.meshplan.units.Quantity.digits(f.value())
        + " "
        + o.objectives.unit();
  }

  /** The tuple that obeys all rules but memory and needs least of it; null when there is none. */
  static Point leastMemory(Problem problem, List<Rule> rules, Search.Progress progress) {
    List<Rule> others = new ArrayList<>(rules);
    others.removeIf(r -> r.id().equals(Search.MEMORY));
    Machine m = problem.machines().get(0);
    Space space = new Space(problem, m);
    Oracle oracle = new Oracle(problem, m, space, problem.request().locality());
    Search.Result r =
        new Search(
                space,
                oracle,
                others,
                1,
                f -> true,
                Double.POSITIVE_INFINITY,
                Math.min(MOST_TRIALS, problem.request().limits().evaluations()),
                Search.Goal.SMALLEST,
                progress)
            .run();
    return r.best().isEmpty() ? null : r.best().get(0).point();
  }
}
