package dev.meshplan.optimize;

import dev.meshplan.plan.Locality;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Problem;
import dev.meshplan.rules.Rule;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Proves the degrees of an answer again, by the constraint model of the compiled rules: no legal
 * tuple is cheaper than the answer, and the answer itself is legal.
 */
final class Verify {
  private static final int MOST_ROWS = 200_000;

  private Verify() {}

  /**
   * What the constraint model says, in one sentence.
   *
   * @param value the answer's objective; infinite when the answer is that there is no plan
   * @param found the answer; null when there is none
   */
  static String note(Problem problem, Locality locality, double value, ColumnModel.Entry found) {
    long rows = 0;
    long priced = 0;
    int compiled = 0;
    for (Machine m : problem.machines()) {
      Space space = new Space(problem, m);
      Oracle oracle = new Oracle(problem, m, space, locality);
      List<Rule> rules = new ArrayList<>(Outcomes.rules(problem, space));
      rules.add(Pins.placeable());
      PricedTuples tuples = new PricedTuples(space, oracle, rules, value, MOST_ROWS);
      List<PricedTuples.Row> cheaper = tuples.rows();
      if (cheaper == null) {
        return "Not verified: more than "
            + Quantity.count(MOST_ROWS)
            + " tuples, legal or not, are cheaper than the answer; pin an axis to verify.";
      }
      rows += cheaper.size();
      priced += tuples.priced();
      RuleTables tables = new RuleTables(space, oracle, rules, cheaper, Set.of(), false);
      compiled = tables.compiled();
      RuleTables.Verdict verdict = tables.solve();
      if (verdict == RuleTables.Verdict.UNDECIDED) {
        return "Not verified: the constraint model of the rules reached its limit.";
      }
      if (verdict == RuleTables.Verdict.FOUND) {
        throw new IllegalStateException(
            "the constraint model found a cheaper tuple than the search: "
                + oracle.facts.candidate(tables.solution()));
      }
      if (found != null && found.oracle().machine.equals(m)) {
        own(space, found.oracle(), rules, found.found());
      }
    }
    return "Verified: the constraint model of "
        + compiled
        + " compiled rules finds no legal tuple "
        + (found == null ? "at all" : "below the answer")
        + " among the "
        + Quantity.count(rows)
        + " that are cheaper, of "
        + Quantity.count(priced)
        + " priced"
        + (found == null ? "." : ", and holds the answer legal.");
  }

  private static void own(Space space, Oracle oracle, List<Rule> rules, Found found) {
    List<PricedTuples.Row> row = List.of(new PricedTuples.Row(found.point(), found.value()));
    RuleTables tables = new RuleTables(space, oracle, rules, row, Set.of(), false);
    if (tables.solve() != RuleTables.Verdict.FOUND) {
      throw new IllegalStateException("the constraint model holds the answer illegal: " + found);
    }
  }
}
