package dev.meshplan.optimize;

import com.google.ortools.sat.BoolVar;
import com.google.ortools.sat.CpModel;
import com.google.ortools.sat.CpSolver;
import com.google.ortools.sat.CpSolverStatus;
import com.google.ortools.sat.IntVar;
import com.google.ortools.sat.TableConstraint;
import com.google.ortools.util.Domain;
import dev.meshplan.plan.Axis;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The rules compiled for CP-SAT: one variable per axis, one table of allowed assignments per rule,
 * tabulated from the rule's own predicate over the values of its scope and switched by the rule's
 * own literal, and one table of the tuples that are priced. Nothing of the search is used: what
 * they agree on, two ways of reading the same rules and the same prices agree on.
 */
final class RuleTables {
  /** Larger products are tabulated over the priced tuples alone. */
  private static final long MOST_PRODUCT = 20_000;

  /** What the model says. */
  enum Verdict {
    NONE,
    FOUND,
    UNDECIDED
  }

  private final Space space;
  private final Oracle oracle;
  private final List<Rule> rules;
  private final List<PricedTuples.Row> rows;
  private final CpModel model = Cp.model();
  private final IntVar[] vars = new IntVar[Space.ORDER.size()];
  private final Map<Rule, BoolVar> literals = new LinkedHashMap<>();
  private final List<Double> prices;
  private IntVar rank;
  private Point solution;

  /**
   * Builds the tables.
   *
   * @param rules to compile, memory included
   * @param rows priced tuples, the only ones the model may choose from
   * @param dropped ids of rules that are switched off
   * @param cheapest whether to look for the cheapest tuple; else any will do
   */
  RuleTables(
      Space space,
      Oracle oracle,
      List<Rule> rules,
      List<PricedTuples.Row> rows,
      Set<String> dropped,
      boolean cheapest) {
    this.space = space;
    this.oracle = oracle;
    this.rules = rules;
    this.rows = rows;
    prices = rows.stream().map(PricedTuples.Row::value).distinct().sorted().toList();
    for (int i = 0; i < vars.length; i++) {
      Axis axis = Space.ORDER.get(i);
      long[] values = new long[space.values(axis).length];
      for (int j = 0; j < values.length; j++) {
        values[j] = space.values(axis)[j];
      }
      vars[i] = model.newIntVarFromDomain(Domain.fromValues(values), axis.key());
    }
    priced(cheapest);
    for (Rule r : rules) {
      BoolVar literal = model.newBoolVar(r.id());
      literals.put(r, literal);
      model.addEquality(literal, dropped.contains(r.id()) ? 0 : 1);
      table(r, literal);
    }
    if (cheapest) {
      model.minimize(rank);
    }
  }

  /** The priced tuples; where the cheapest is wanted, with the rank of their price. */
  private void priced(boolean cheapest) {
    IntVar[] columns = vars;
    if (cheapest) {
      rank = model.newIntVar(0, Math.max(0, prices.size() - 1), "price_rank");
      columns = java.util.Arrays.copyOf(vars, vars.length + 1);
      columns[vars.length] = rank;
    }
    TableConstraint table = model.addAllowedAssignments(columns);
    for (PricedTuples.Row row : rows) {
      int[] tuple = row.values(columns.length - vars.length);
      if (cheapest) {
        tuple[vars.length] = java.util.Collections.binarySearch(prices, row.value());
      }
      table.addTuple(tuple);
    }
  }

  private void table(Rule rule, BoolVar literal) {
    List<Integer> scope = new ArrayList<>();
    for (int i = 0; i < vars.length; i++) {
      if (rule.scope().contains(Space.ORDER.get(i))) {
        scope.add(i);
      }
    }
    if (scope.isEmpty()) {
      if (!rule.holds().test(oracle.facts, new Point())) {
        model.addEquality(literal, 0);
      }
      return;
    }
    IntVar[] columns = scope.stream().map(i -> vars[i]).toArray(IntVar[]::new);
    TableConstraint table = model.addAllowedAssignments(columns);
    table.onlyEnforceIf(literal);
    boolean any = false;
    for (int[] tuple : assignments(scope)) {
      if (rule.holds().test(oracle.facts, point(scope, tuple))) {
        table.addTuple(tuple);
        any = true;
      }
    }
    if (!any) {
      model.addEquality(literal, 0);
    }
  }

  /** Only the axes of the scope are set: a predicate that read another one would show. */
  private Point point(List<Integer> scope, int[] tuple) {
    Point p = new Point();
    for (int i = 0; i < tuple.length; i++) {
      p.set(Space.ORDER.get(scope.get(i)), tuple[i]);
    }
    return p;
  }

  private List<int[]> assignments(List<Integer> scope) {
    long product = 1;
    for (int i : scope) {
      product *= space.values(Space.ORDER.get(i)).length;
    }
    List<int[]> out = new ArrayList<>();
    if (product <= MOST_PRODUCT) {
      product(scope, 0, new int[scope.size()], out);
      return out;
    }
    Set<List<Integer>> seen = new HashSet<>();
    for (PricedTuples.Row row : rows) {
      int[] tuple = new int[scope.size()];
      List<Integer> key = new ArrayList<>();
      for (int i = 0; i < tuple.length; i++) {
        tuple[i] = row.at().get(Space.ORDER.get(scope.get(i)));
        key.add(tuple[i]);
      }
      if (seen.add(key)) {
        out.add(tuple);
      }
    }
    return out;
  }

  private void product(List<Integer> scope, int at, int[] tuple, List<int[]> out) {
    if (at == tuple.length) {
      out.add(tuple.clone());
      return;
    }
    for (int v : space.values(Space.ORDER.get(scope.get(at)))) {
      tuple[at] = v;
      product(scope, at + 1, tuple, out);
    }
  }

  /** Asks the model. */
  Verdict solve() {
    if (rows.isEmpty()) {
      return Verdict.NONE;
    }
    String invalid = model.validate();
    if (!invalid.isEmpty()) {
      throw new IllegalStateException("rule tables: " + invalid);
    }
    CpSolver solver = Cp.solver();
    CpSolverStatus status = solver.solve(model);
    if (status == CpSolverStatus.INFEASIBLE) {
      return Verdict.NONE;
    }
    if (status != CpSolverStatus.OPTIMAL && !(status == CpSolverStatus.FEASIBLE && rank == null)) {
      return Verdict.UNDECIDED;
    }
    solution = new Point();
    for (int i = 0; i < vars.length; i++) {
      solution.set(Space.ORDER.get(i), (int) solver.value(vars[i]));
    }
    return Verdict.FOUND;
  }

  /** The tuple of the last {@link Verdict#FOUND}. */
  Point solution() {
    return solution;
  }

  /** Rules that were compiled. */
  int compiled() {
    return rules.size();
  }
}
