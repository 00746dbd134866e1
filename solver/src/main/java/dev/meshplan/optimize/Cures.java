package dev.meshplan.optimize;

import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Infeasible;
import dev.meshplan.plan.Limits;
import dev.meshplan.plan.Locality;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Problem;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import dev.meshplan.units.Quantity;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The smallest change of a request that makes a plan possible; every one offered was tried. */
final class Cures {
  /** GPUs of the largest cluster that is offered. */
  private static final int MOST_GPUS = 1 << 17;

  /** Evaluations spent on how good a cured request can be. */
  private static final long MOST_EVALUATIONS = 5_000;

  private static final Set<String> SUPPLY =
      Set.of("gpus-available", Search.UNPLACEABLE, Search.MEMORY);

  private final Problem problem;
  private final Trials trials;
  private final Search.Progress progress;
  private final Map<String, Outcomes.Placed> unpinned = new HashMap<>();

  Cures(Problem problem, Trials trials, Search.Progress progress) {
    this.problem = problem;
    this.trials = trials;
    this.progress = progress;
  }

  /** Tried in order: one pin fewer, priced locality, memory to the brim, more GPUs. */
  Infeasible.Cure smallest(List<Rule> core) {
    for (Rule r : core) {
      ColumnModel.Entry free = Pins.pin(r) ? unpinned(r) : null;
      if (free != null) {
        String key = Pins.key(r);
        Outcomes.Placed p = unpinned.get(key);
        return new Infeasible.Cure(
            "leave " + key + " free", "fix." + key, value(free, key), text(p));
      }
    }
    if (core.stream().anyMatch(r -> r.id().endsWith("-inside-block"))) {
      String result =
          result(
              Variants.with(problem, problem.request().fix(), Locality.PRICED, problem.machines()));
      if (result != null) {
        return new Infeasible.Cure(
            "let the group cross its domain, at the price of the network",
            "locality",
            "priced",
            result);
      }
    }
    Limits limits = problem.request().limits();
    if (core.stream().anyMatch(r -> r.id().equals(Search.MEMORY)) && limits.memoryShare() < 1) {
      Problem brim = Variants.limited(problem, new Limits(1.0, limits.evaluations()));
      String result = any(brim).unproven() ? result(brim) : null;
      if (result != null) {
        return new Infeasible.Cure(
            "use all usable memory (TIGHT: runs were reported to fail from 93% on)",
            "limits.memory_share", "1.0", result);
      }
    }
    return core.stream().anyMatch(r -> SUPPLY.contains(r.id())) ? moreGpus() : null;
  }

  /** The best plan that is known without a pin; null when there is none. */
  ColumnModel.Entry unpinned(Rule pin) {
    String key = Pins.key(pin);
    Set<Rule> others = new LinkedHashSet<>(trials.illegal());
    others.addAll(trials.open());
    others.remove(pin);
    if (!trials.any(others).unproven()) {
      return null;
    }
    return unpinned
        .computeIfAbsent(
            key,
            k -> {
              Map<String, String> fix = new TreeMap<>(problem.request().fix());
              fix.remove(k);
              return tryOut(
                  Variants.with(problem, fix, problem.request().locality(), problem.machines()));
            })
        .chosen();
  }

  private static String value(ColumnModel.Entry e, String key) {
    Axis axis = Arrays.stream(Axis.values()).filter(a -> a.key().equals(key)).findFirst().get();
    Point point = e.found().point();
    return switch (axis) {
      case GPUS_USED -> String.valueOf(point.gpus());
      case RECOMPUTE, SHARDING -> e.oracle().space.name(axis, point.get(axis));
      case CP_INSIDE -> String.valueOf(point.cpInside());
      default -> String.valueOf(point.get(axis));
    };
  }

  /**
   * The fewest GPUs that suffice, in whole nodes: those of the plan on the fewest, on as many
   * domains as carry it; where other plans, on more GPUs, stand on fewer domains, all of those.
   */
  private Infeasible.Cure moreGpus() {
    Machine m = problem.machines().get(0);
    int usable = m.system().domain().size() - m.pool().sparesPerDomain();
    int most = Math.max(1, MOST_GPUS / usable);
    Problem largest = Variants.sized(problem, most, most * usable);
    Trials.Answer a =
        new Trials(largest, MOST_EVALUATIONS, progress)
            .search(new LinkedHashSet<>(Trials.rules(largest)), Search.Goal.FEWEST);
    if (!a.found() && a.proven()) {
      return null;
    }
    int node = m.system().gpusPerNode();
    int low = a.found() ? (int) ((a.point().gpus() - 1) / usable) : m.pool().domains();
    int high = a.found() ? domains(a) : suffices(low, most, usable);
    int gpus = high * usable;
    if (a.found()) {
      // At least what makes a request have so many domains.
      int least = (int) Math.max(a.point().gpus(), (high - 1L) * usable + 1);
      gpus = Math.min(gpus, (least + node - 1) / node * node);
    }
    while (high - low > 1) {
      int middle = (low + high) >>> 1;
      if (feasible(Variants.sized(problem, middle, middle * usable))) {
        high = middle;
        gpus = high * usable;
      } else {
        low = middle;
      }
    }
    String result = high > most ? null : result(Variants.sized(problem, high, gpus));
    return result == null
        ? null
        : new Infeasible.Cure(
            "use "
                + gpus
                + " GPUs ("
                + high
                + " domains"
                + (m.pool().healthy().isEmpty() ? ")" : ", all healthy)"),
            "cluster.gpus",
            "" + gpus,
            result);
  }

  private static int domains(Trials.Answer a) {
    return a.oracle()
        .supply
        .fewest(a.point().gpus(), a.point().block(), a.oracle().unit(a.point()));
  }

  /** By doubling, some number of domains that suffices; more than the most where none does. */
  private int suffices(int from, int most, int usable) {
    int domains = Math.max(1, from);
    do {
      domains *= 2;
    } while (domains <= most && !feasible(Variants.sized(problem, domains, domains * usable)));
    return domains;
  }

  private boolean feasible(Problem changed) {
    return any(changed).found();
  }

  private Trials.Answer any(Problem changed) {
    return new Trials(changed, MOST_EVALUATIONS, progress).any();
  }

  private Outcomes.Placed tryOut(Problem changed) {
    Limits l = changed.request().limits();
    Limits few = new Limits(l.memoryShare(), Math.min(MOST_EVALUATIONS, l.evaluations()));
    Problem limited = Variants.limited(changed, few);
    return Outcomes.place(limited, limited.request().locality(), 0, progress);
  }

  /** The cheapest plan of a changed request, as far as it is known; null where none is. */
  private String result(Problem changed) {
    Outcomes.Placed p = tryOut(changed);
    if (p.chosen() != null) {
      return text(p);
    }
    Trials.Answer a = p.complete() ? null : any(changed);
    if (a == null || !a.found()) {
      return null;
    }
    Oracle o = a.oracle();
    double seconds = o.seconds(a.point());
    return text(o, a.point(), o.value(a.point(), seconds)) + " or better";
  }

  private static String text(Outcomes.Placed p) {
    Found f = p.chosen().found();
    return text(p.chosen().oracle(), f.point(), f.value()) + (p.complete() ? "" : " or better");
  }

  private static String text(Oracle o, Point p, double value) {
    return o.facts.candidate(p).dims().text()
        + " at "
        + Quantity.digits(value)
        + " "
        + o.objectives.unit();
  }
}
