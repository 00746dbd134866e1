package dev.meshplan.optimize;

import com.google.ortools.sat.BoolVar;
import com.google.ortools.sat.CpModel;
import com.google.ortools.sat.CpSolver;
import com.google.ortools.sat.CpSolverStatus;
import com.google.ortools.sat.IntVar;
import com.google.ortools.sat.LinearExpr;
import com.google.ortools.sat.LinearExprBuilder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The constraint model of columns, blocks and pools: exactly one column, the domains of its pool
 * cut into its blocks, as many working ranks as it needs, at the least cost. Linear, one worker,
 * proven. Domains with equally many usable GPUs are one class, so racks are counted, never named.
 */
final class ColumnModel {
  /** Steps into which the cheapest column's value is divided. */
  private static final long SCALE = 1 << 20;

  private static final int MOST_COLUMNS = 4000;

  /** A column of one pool. */
  record Entry(Found found, Oracle oracle) {}

  /**
   * The column that was taken.
   *
   * @param column index in the list that was given
   * @param domains touched domains of each class of its pool's supply
   */
  record Choice(int column, List<Integer> domains) {}

  private record Cut(Oracle oracle, int block) {}

  private final List<Entry> entries;
  private final CpModel model = Cp.model();
  private final Map<Cut, IntVar[]> cuts = new LinkedHashMap<>();
  private final BoolVar[] take;
  private long domains;

  /**
   * Builds the model.
   *
   * @param entries columns of all pools, cheapest first
   */
  ColumnModel(List<Entry> entries) {
    this.entries = entries.subList(0, Math.min(entries.size(), MOST_COLUMNS));
    take = new BoolVar[this.entries.size()];
    LinearExpr touched = cutDomains();
    IntVar cost = model.newIntVar(0, SCALE * 1024, "cost");
    double least = entries.get(0).found().value();
    for (int i = 0; i < take.length; i++) {
      Entry e = this.entries.get(i);
      take[i] = model.newBoolVar("column_" + i);
      model.addGreaterOrEqual(working(e), e.found().point().gpus()).onlyEnforceIf(take[i]);
      // Columns come cheapest first; the index keeps that order where values tie in SCALE steps.
      double ratio = e.found().value() / least;
      long price = Math.min(SCALE * 1023, Math.round((ratio - 1) * SCALE) + i);
      model.addGreaterOrEqual(cost, price).onlyEnforceIf(take[i]);
    }
    model.addExactlyOne(take);
    // Cost first, then as few domains as possible.
    model.minimize(LinearExpr.newBuilder().addTerm(cost, domains + 1).add(touched).build());
  }

  /** The cheapest column that can be placed; null when none can. */
  Choice solve() {
    String invalid = model.validate();
    if (!invalid.isEmpty()) {
      throw new IllegalStateException("column model: " + invalid);
    }
    CpSolver solver = Cp.solver();
    CpSolverStatus status = solver.solve(model);
    if (status != CpSolverStatus.OPTIMAL && status != CpSolverStatus.FEASIBLE) {
      return null;
    }
    for (int i = 0; i < take.length; i++) {
      if (solver.booleanValue(take[i])) {
        IntVar[] cut = cuts.get(cut(entries.get(i)));
        List<Integer> used = new ArrayList<>();
        for (int c = 0; c < cut.length; c++) {
          used.add((int) solver.value(cut[c]));
        }
        return new Choice(i, used);
      }
    }
    throw new IllegalStateException("column model: no column taken");
  }

  /** Variables: domains of each class cut into blocks of each size. Returns their sum. */
  private LinearExpr cutDomains() {
    Map<Oracle, LinearExprBuilder[]> used = new LinkedHashMap<>();
    LinearExprBuilder touched = LinearExpr.newBuilder();
    for (Entry e : entries) {
      if (cuts.containsKey(cut(e))) {
        continue;
      }
      List<Supply.DomainClass> classes = e.oracle().supply.classes();
      LinearExprBuilder[] sums =
          used.computeIfAbsent(e.oracle(), o -> new LinearExprBuilder[classes.size()]);
      IntVar[] vars = new IntVar[classes.size()];
      for (int c = 0; c < vars.length; c++) {
        vars[c] =
            model.newIntVar(
                0,
                classes.get(c).count(),
                "domains_" + c + "_in_blocks_of_" + e.found().point().block());
        if (sums[c] == null) {
          sums[c] = LinearExpr.newBuilder();
        }
        sums[c].add(vars[c]);
        touched.add(vars[c]);
      }
      cuts.put(cut(e), vars);
    }
    used.forEach(
        (oracle, sums) -> {
          for (int c = 0; c < sums.length; c++) {
            int count = oracle.supply.classes().get(c).count();
            model.addLessOrEqual(sums[c], count);
            domains += count;
          }
        });
    return touched.build();
  }

  private LinearExpr working(Entry e) {
    LinearExprBuilder sum = LinearExpr.newBuilder();
    IntVar[] cut = cuts.get(cut(e));
    List<Supply.DomainClass> classes = e.oracle().supply.classes();
    for (int c = 0; c < cut.length; c++) {
      sum.addTerm(
          cut[c],
          e.oracle()
              .supply
              .working(classes.get(c).usable(), e.found().point().block(), e.found().unit()));
    }
    return sum.build();
  }

  private static Cut cut(Entry e) {
    return new Cut(e.oracle(), e.found().point().block());
  }
}
