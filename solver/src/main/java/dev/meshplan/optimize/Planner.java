package dev.meshplan.optimize;

import dev.meshplan.estimate.ErrorBands;
import dev.meshplan.estimate.Estimator;
import dev.meshplan.estimate.Spread;
import dev.meshplan.plan.Alternative;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Estimate;
import dev.meshplan.plan.Locality;
import dev.meshplan.plan.LocalityNote;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Plan;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Proof;
import dev.meshplan.plan.RuleVerdict;
import dev.meshplan.plan.Tally;
import dev.meshplan.plan.TimeTerm;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import dev.meshplan.rules.Rules;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Answers a planning request: the cheapest feasible plan with its proof, or why there is none. */
public final class Planner {
  private final String version;
  private final Progress progress;
  private final boolean verify;

  /** Hears of a long search from time to time. */
  public interface Progress {
    /**
     * Called from time to time.
     *
     * @param evaluated candidates priced by the search that is going on
     * @param incumbent objective of the best plan so far; NaN before the first
     * @param bound no plan is below it; NaN while the answer is being explained
     */
    void at(long evaluated, double incumbent, double bound);
  }

  /**
   * A planner.
   *
   * @param version of the product, written into answers
   */
  public Planner(String version, Progress progress) {
    this(version, progress, false);
  }

  /**
   * A planner.
   *
   * @param verify whether to prove the degrees again by the constraint model of the compiled rules,
   *     and say so in the notes
   */
  public Planner(String version, Progress progress, boolean verify) {
    this.version = version;
    this.progress = progress;
    this.verify = verify;
  }

  /** The answer. */
  public Answer plan(Problem problem) {
    Cp.prepare();
    Outcomes.Placed placed =
        Outcomes.place(
            problem, problem.request().locality(), problem.request().alternatives(), progress::at);
    Space space = new Space(problem, problem.machines().get(0));
    if (placed.chosen() == null) {
      return none(problem, placed, space);
    }
    Oracle oracle = placed.chosen().oracle();
    Found found = placed.chosen().found();
    int domains = placed.domains().stream().mapToInt(i -> i).sum();
    Plan plan = Outcomes.plan(oracle, found, domains);
    Estimate estimate = estimate(oracle, found, plan);
    double value = found.value();
    boolean optimal = placed.complete();
    double bound = optimal ? value : Math.min(value, placed.bound());
    Proof proof =
        new Proof(
            optimal ? Proof.Status.OPTIMAL : Proof.Status.FEASIBLE,
            value,
            bound,
            oracle.objectives.unit(),
            (value - bound) / value,
            space.describe(),
            placed.candidates(),
            placed.evaluated());
    List<Alternative> alternatives = new ArrayList<>();
    for (ColumnModel.Entry e : placed.runnersUp()) {
      alternatives.add(alternative(problem, e, value, estimate));
    }
    return new Answer(
        version,
        problem.request(),
        Outcome.FOUND,
        proof,
        plan,
        estimate,
        alternatives,
        verdicts(problem, oracle, found.point()),
        null,
        problem.request().locality() == Locality.STRICT ? priced(problem, value) : null,
        tally(placed.tally()),
        problem.provenance(),
        notes(problem, placed, Notes.of(problem, oracle, found, plan, estimate)));
  }

  private static Estimate estimate(Oracle o, Found f, Plan plan) {
    return new Estimator(
            o.problem.model(), o.problem.request().training(), o.machine, o.time, o.memory)
        .estimate(
            plan,
            o.supply.workingPerDomain(f.point().gpus(), f.point().block(), f.unit()),
            o.facts.limitBytes());
  }

  private static Alternative alternative(
      Problem problem, ColumnModel.Entry e, double value, Estimate answer) {
    Oracle o = e.oracle();
    Point p = e.found().point();
    int domains = Math.max(1, o.supply.fewest(p.gpus(), p.block(), e.found().unit()));
    Plan plan = Outcomes.plan(o, e.found(), domains);
    Estimate estimate = estimate(o, e.found(), plan);
    String lostBy = "";
    double lost = 0;
    for (TimeTerm t : estimate.timeTerms()) {
      double other =
          answer.timeTerms().stream()
              .filter(x -> x.id().equals(t.id()))
              .mapToDouble(TimeTerm::exposedSeconds)
              .sum();
      if (t.exposedSeconds() - other > lost) {
        lost = t.exposedSeconds() - other;
        lostBy = t.id();
      }
    }
    double slower = e.found().value() / value - 1;
    return new Alternative(
        plan,
        e.found().value(),
        estimate.stepSeconds(),
        estimate.peakMemoryBytes(),
        slower,
        slower <= ErrorBands.paired(problem.model()),
        lostBy,
        lost);
  }

  private List<RuleVerdict> verdicts(Problem problem, Oracle oracle, Point point) {
    List<RuleVerdict> out = new ArrayList<>();
    for (Rule r : Rules.of(problem.request().training().framework())) {
      boolean holds = r.holds().test(oracle.facts, point);
      out.add(
          new RuleVerdict(
              r.id(),
              r.kind(),
              r.at(oracle.facts, point),
              r.source(),
              holds,
              Binding.slack(r, oracle, point),
              Binding.binds(r, oracle, point)));
    }
    return out;
  }

  /** What a strict answer leaves on the table; null when no group could gain by crossing. */
  private LocalityNote priced(Problem problem, double strict) {
    Outcomes.Placed free = Outcomes.crossing(problem, strict, explaining());
    if (free.chosen() == null) {
      return null;
    }
    return note(free.chosen(), free.chosen().found().value() / strict - 1);
  }

  private Search.Progress explaining() {
    Search.Progress own = progress::at;
    return own.explaining();
  }

  private static LocalityNote note(ColumnModel.Entry e, double change) {
    Point p = e.found().point();
    Spread spread = e.oracle().spread(p);
    String group =
        spread.ep() < p.ep()
            ? "EP " + p.ep()
            : spread.tp() < p.tp() ? "TP " + p.tp() : "TP x CP " + p.tp() * p.cp();
    return new LocalityNote(
        group, e.found().value(), -change, e.oracle().facts.candidate(p).dims());
  }

  private Answer none(Problem problem, Outcomes.Placed placed, Space space) {
    boolean proven = placed.complete();
    Diagnosis.Result why = proven ? Diagnosis.of(problem, explaining()) : null;
    String unit =
        new dev.meshplan.estimate.Objectives(
                problem.request().objective(),
                problem.request().training(),
                problem.machines().get(0))
            .unit();
    Proof proof =
        new Proof(
            proven ? Proof.Status.INFEASIBLE : Proof.Status.UNKNOWN,
            null,
            Double.isInfinite(placed.bound()) ? null : (Double) placed.bound(),
            unit,
            null,
            space.describe(),
            placed.candidates(),
            placed.evaluated());
    return new Answer(
        version,
        problem.request(),
        proven ? Outcome.INFEASIBLE : Outcome.UNKNOWN,
        proof,
        null,
        null,
        List.of(),
        List.of(),
        proven ? why.infeasible() : null,
        proven && why.crossing() != null ? note(why.crossing(), Double.NaN) : null,
        tally(placed.tally()),
        problem.provenance(),
        notes(problem, placed, List.of()));
  }

  private List<String> notes(Problem problem, Outcomes.Placed placed, List<String> notes) {
    List<String> all = new ArrayList<>(notes);
    long untried = placed.tally().getOrDefault(Search.UNTRIED, 0L);
    if (untried > 0) {
      all.add(
          untried
              + " candidates fit in no usual layout of layers and are not in the space: the constraint"
              + " model was asked for the most promising ones only.");
    }
    if (!verify) {
      return all;
    }
    ColumnModel.Entry chosen = placed.chosen();
    double value = chosen == null ? Double.POSITIVE_INFINITY : chosen.found().value();
    all.add(Verify.note(problem, problem.request().locality(), value, chosen));
    return all;
  }

  private static List<Tally> tally(Map<String, Long> counts) {
    List<Tally> out = new ArrayList<>();
    counts.forEach((id, n) -> out.add(new Tally(id, kind(id), n)));
    out.sort(Comparator.comparingLong(Tally::candidates).reversed().thenComparing(Tally::id));
    return out;
  }

  private static String kind(String id) {
    return Rules.all().stream()
        .filter(r -> r.id().equals(id))
        .map(r -> r.kind().key())
        .findFirst()
        .orElse(id.startsWith("pinned") || id.equals(Search.UNPLACEABLE) ? "does_not_fit" : id);
  }
}
