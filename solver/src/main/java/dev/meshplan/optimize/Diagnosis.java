package dev.meshplan.optimize;

import dev.meshplan.plan.Infeasible;
import dev.meshplan.plan.Locality;
import dev.meshplan.plan.Problem;
import dev.meshplan.rules.Rule;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Why a request has no plan. What the framework refuses is taken as given first, so that a core
 * names what can be changed: pins, locality, GPUs, memory. Where those are not about memory, the
 * framework's rules that they clash with are named too.
 */
final class Diagnosis {
  /** What most requests without a plan lack. */
  private static final Set<String> USUAL = Set.of("gpus-available", Search.MEMORY);

  /**
   * What was found out.
   *
   * @param crossing the cheapest plan in which TP or EP leaves its domain; null where there is none
   */
  record Result(Infeasible infeasible, ColumnModel.Entry crossing) {}

  private Diagnosis() {}

  /** Core, nearest miss and cure of an infeasible request. */
  static Result of(Problem problem, Search.Progress progress) {
    Trials trials = new Trials(problem, Trials.MOST_EVALUATIONS, progress);
    Core cores = new Core(trials);
    List<Rule> core = core(trials, cores);
    Cures cures = new Cures(problem, trials, progress);
    // Without a rule of locality in the core, crossing leaves nothing either.
    boolean local = core.stream().anyMatch(r -> r.id().endsWith("-inside-block"));
    ColumnModel.Entry crossing =
        local && problem.request().locality() == Locality.STRICT
            ? Outcomes.crossing(problem, Double.POSITIVE_INFINITY, progress).chosen()
            : null;
    NearMisses misses = new NearMisses(trials, cures, crossing);
    Trials.Answer near = misses.nearest(core);
    List<Infeasible.CoreRule> named = new ArrayList<>();
    for (Rule r : core) {
      String sentence = sentence(r, core, trials, near);
      named.add(new Infeasible.CoreRule(r.id(), r.kind(), sentence, r.source()));
    }
    return new Result(
        new Infeasible(named, cores.minimal(), misses.of(near), cures.smallest(core)), crossing);
  }

  /** The rules that leave nothing. */
  private static List<Rule> core(Trials trials, Core cores) {
    List<Rule> illegal = trials.illegal();
    if (!cores.feasible(illegal)) {
      return cores.of(List.of(), illegal);
    }
    List<Rule> open = trials.open();
    List<Rule> usual = open.stream().filter(r -> USUAL.contains(r.id())).toList();
    boolean unusual = trials.any(new LinkedHashSet<>(Core.joined(illegal, usual))).unproven();
    List<Rule> core = cores.of(illegal, unusual ? open : usual);
    return aboutMemory(core) ? core : Core.joined(cores.of(core, illegal), core);
  }

  private static boolean aboutMemory(List<Rule> rules) {
    return rules.stream().anyMatch(r -> r.id().equals(Search.MEMORY));
  }

  /** A rule with the numbers of a tuple that obeys the others of the core. */
  private static String sentence(Rule rule, List<Rule> core, Trials trials, Trials.Answer near) {
    if (Pins.pin(rule)) {
      return rule.sentence();
    }
    Trials.Answer at = near;
    if (!aboutMemory(core)) {
      Set<Rule> others = new LinkedHashSet<>(core);
      others.remove(rule);
      at = trials.any(others);
    }
    return at.found() ? rule.at(at.oracle().facts, at.point()) : rule.sentence();
  }
}
