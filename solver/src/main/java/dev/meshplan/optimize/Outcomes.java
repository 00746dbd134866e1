package dev.meshplan.optimize;

import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Locality;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Placement;
import dev.meshplan.plan.Plan;
import dev.meshplan.plan.Problem;
import dev.meshplan.rules.Facts;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import dev.meshplan.rules.Rules;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Search and placement together: the cheapest column that the racks can carry. The search asks
 * whether the domains can carry a key that would become its incumbent; keys that none can carry
 * prune like a rule, so the search runs on until no placed column is left below its bound. The
 * constraint model takes one of all columns of all pools and cuts the domains.
 */
final class Outcomes {
  /**
   * What planning on all pools found.
   *
   * @param chosen the placed column; null without a plan
   * @param domains touched domains by class
   * @param runnersUp other degrees, cheapest first
   * @param bound no plan is below it
   * @param complete whether every search ended by its proof
   */
  record Placed(
      ColumnModel.Entry chosen,
      List<Integer> domains,
      List<ColumnModel.Entry> runnersUp,
      Map<String, Long> tally,
      long candidates,
      long evaluated,
      double bound,
      boolean complete) {}

  private Outcomes() {}

  /** Plans with all rules of the framework. */
  static Placed place(
      Problem problem, Locality locality, int alternatives, Search.Progress progress) {
    return place(problem, locality, List.of(), Double.POSITIVE_INFINITY, alternatives, progress);
  }

  /** The cheapest plan below {@code ceiling} in which TP or EP leaves its domain. */
  static Placed crossing(Problem problem, double ceiling, Search.Progress progress) {
    return place(problem, Locality.PRICED, Pins.crosses(), ceiling, 0, progress);
  }

  private static Placed place(
      Problem problem,
      Locality locality,
      List<Rule> more,
      double ceiling,
      int alternatives,
      Search.Progress progress) {
    List<Oracle> oracles = new ArrayList<>();
    List<Space> spaces = new ArrayList<>();
    for (Machine m : problem.machines()) {
      Space space = new Space(problem, m);
      spaces.add(space);
      oracles.add(new Oracle(problem, m, space, locality));
    }
    List<Rule> rules = rules(problem, spaces.get(0));
    rules.addAll(more);
    List<ColumnModel.Entry> columns = new ArrayList<>();
    List<ColumnModel.Entry> best = new ArrayList<>();
    Map<String, Long> tally = new TreeMap<>();
    double bound = Double.POSITIVE_INFINITY;
    boolean complete = true;
    long evaluated = 0;
    long candidates = 0;
    for (int i = 0; i < oracles.size(); i++) {
      Oracle o = oracles.get(i);
      Search.Result r =
          new Search(
                  spaces.get(i),
                  o,
                  rules,
                  alternatives + 1,
                  f -> o.facts.placeable().test(f.point()),
                  ceiling,
                  Math.max(1, problem.request().limits().evaluations() - evaluated),
                  Search.Goal.CHEAPEST,
                  progress)
              .run();
      r.columns().values().forEach(f -> columns.add(new ColumnModel.Entry(f, o)));
      r.best().forEach(f -> best.add(new ColumnModel.Entry(f, o)));
      r.tally().forEach((id, n) -> tally.merge(id, n, Long::sum));
      evaluated += r.evaluated();
      candidates = Math.addExact(candidates, spaces.get(i).size());
      bound = Math.min(bound, r.bound());
      complete &= r.complete();
    }
    columns.sort((a, b) -> Found.ORDER.compare(a.found(), b.found()));
    best.sort((a, b) -> Found.ORDER.compare(a.found(), b.found()));
    ColumnModel.Choice choice = columns.isEmpty() ? null : new ColumnModel(columns).solve();
    ColumnModel.Entry chosen = choice == null ? null : columns.get(choice.column());
    List<ColumnModel.Entry> others =
        best.stream()
            .filter(e -> chosen != null && !e.found().sameDegrees(chosen.found()))
            .limit(alternatives)
            .toList();
    return new Placed(
        chosen,
        choice == null ? List.of() : choice.domains(),
        others,
        tally,
        candidates,
        evaluated,
        chosen == null ? bound : Math.min(bound, chosen.found().value()),
        complete);
  }

  /** The rules of a request: the framework's, and one for the pinned number of GPUs. */
  static List<Rule> rules(Problem problem, Space space) {
    List<Rule> rules = new ArrayList<>(Rules.of(problem.request().training().framework()));
    Integer used = space.pins().get(dev.meshplan.plan.Axis.GPUS_USED);
    if (used != null) {
      rules.add(Pins.gpusUsed(used));
    }
    return rules;
  }

  /** The plan of a column. */
  static Plan plan(Oracle oracle, Found found, int domainsUsed) {
    Point p = found.point();
    Facts f = oracle.facts;
    Layout layout = oracle.layout(p);
    int used = (int) p.gpus();
    int paid = domainsUsed * oracle.supply.size();
    int pool = oracle.problem.machines().indexOf(oracle.machine);
    String system = oracle.machine.system().id();
    Placement placement =
        new Placement(
            paid,
            used,
            paid - used,
            p.block(),
            domainsUsed,
            List.of(new Placement.PoolUse(pool, system, p.block(), domainsUsed, used)),
            "tp-cp-ep-dp-pp");
    return new Plan(
        f.candidate(p).dims(),
        f.candidate(p).batch(),
        Facts.schedule(p),
        f.memory(p),
        layout.stages(),
        p.cpInside(),
        placement);
  }
}
