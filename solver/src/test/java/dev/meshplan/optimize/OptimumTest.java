package dev.meshplan.optimize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.ortools.sat.BoolVar;
import com.google.ortools.sat.CpModel;
import com.google.ortools.sat.CpSolver;
import com.google.ortools.sat.CpSolverStatus;
import com.google.ortools.sat.LinearExpr;
import com.google.ortools.sat.Literal;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OptimumTest {
  private static final int SPACES = 320;

  @Test
  void bruteForceSearchAndConstraintModelAgreeOnSmallSpaces() {
    Random random = new Random(20260823);
    int feasible = 0;
    for (int i = 0; i < SPACES; i++) {
      SmallCase c = SmallCase.random(random);
      Found brute = c.brute();
      Search.Result search = c.search();
      Found best = search.best().isEmpty() ? null : search.best().get(0);
      String at = "space " + i + ": " + c.problem().request();
      assertEquals(brute == null, best == null, at);
      long counted = search.tally().values().stream().mapToLong(n -> n).sum();
      assertEquals(c.space().size(), counted, at + search.tally());
      PricedTuples tuples =
          new PricedTuples(
              c.space(), c.oracle(), c.rules(), Double.POSITIVE_INFINITY, Integer.MAX_VALUE);
      RuleTables tables =
          new RuleTables(c.space(), c.oracle(), c.rules(), tuples.rows(), Set.of(), true);
      RuleTables.Verdict verdict = tables.solve();
      if (brute == null) {
        assertEquals(RuleTables.Verdict.NONE, verdict, at);
        continue;
      }
      feasible++;
      assertEquals(brute.value(), best.value(), at);
      assertEquals(0, Found.ORDER.compare(brute, best), at + brute + best);
      assertEquals(RuleTables.Verdict.FOUND, verdict, at);
      var p = tables.solution();
      double value = c.oracle().value(p, c.oracle().seconds(p));
      assertEquals(brute.value(), value, at);
    }
    assertTrue(feasible > SPACES / 5 && feasible < SPACES, feasible + " feasible");
  }

  /**
   * Without {@code presolve_inclusion_work_limit = 0} the solver loses solutions when coefficients
   * add up to more than 2^31.
   */
  @Test
  void solverSettingsKeepSolutionsOfModelsWithLargeCoefficients() {
    Random random = new Random(5293);
    for (int i = 0; i < 400; i++) {
      long[][] weight = new long[3][12];
      long[] cap = new long[3];
      long[] gain = new long[12];
      int[] group = new int[12];
      int[] switches = new int[3];
      for (int j = 0; j < 12; j++) {
        group[j] = random.nextInt(3);
        gain[j] = 1L + random.nextInt(100);
        for (int k = 0; k < 3; k++) {
          weight[k][j] = 1 + (long) (random.nextDouble() * 5e9);
        }
      }
      for (int k = 0; k < 3; k++) {
        cap[k] = (long) (random.nextDouble() * 1e10);
        switches[k] = random.nextInt(12);
      }
      assertEquals(
          brute(weight, cap, gain, group, switches), solved(weight, cap, gain, group, switches));
    }
  }

  private static long brute(long[][] weight, long[] cap, long[] gain, int[] group, int[] on) {
    long best = 0;
    for (int set = 0; set < 1 << 12; set++) {
      int[] members = new int[3];
      long value = 0;
      boolean legal = true;
      for (int j = 0; j < 12; j++) {
        if ((set >> j & 1) != 0) {
          legal &= ++members[group[j]] <= 1;
          value += gain[j];
        }
      }
      for (int k = 0; k < 3 && legal; k++) {
        long sum = 0;
        for (int j = 0; j < 12; j++) {
          sum += (set >> j & 1) * weight[k][j];
        }
        legal = (set >> on[k] & 1) == 0 || sum <= cap[k];
      }
      best = legal ? Math.max(best, value) : best;
    }
    return best;
  }

  private static long solved(long[][] weight, long[] cap, long[] gain, int[] group, int[] on) {
    CpModel model = Cp.model();
    BoolVar[] x = new BoolVar[12];
    for (int j = 0; j < 12; j++) {
      x[j] = model.newBoolVar("x" + j);
    }
    for (int g = 0; g < 3; g++) {
      int id = g;
      Literal[] members =
          java.util.stream.IntStream.range(0, 12)
              .filter(j -> group[j] == id)
              .mapToObj(j -> x[j])
              .toArray(Literal[]::new);
      model.addAtMostOne(members);
    }
    for (int k = 0; k < 3; k++) {
      model.addLessOrEqual(LinearExpr.weightedSum(x, weight[k]), cap[k]).onlyEnforceIf(x[on[k]]);
    }
    model.maximize(LinearExpr.weightedSum(x, gain));
    CpSolver solver = Cp.solver();
    assertEquals(CpSolverStatus.OPTIMAL, solver.solve(model));
    long value = 0;
    for (int j = 0; j < 12; j++) {
      value += solver.booleanValue(x[j]) ? gain[j] : 0;
    }
    return value;
  }

  @Test
  void boundsNeverExceedWhatAPlanCosts() {
    Random random = new Random(7);
    List<String> models =
        List.of(
            "llama-3.1-8b",
            "llama-3.1-70b",
            "mixtral-8x22b",
            "deepseek-v3",
            "qwen3-235b-a22b",
            "gpt3-175b");
    int priced = 0;
    for (int i = 0; i < 60; i++) {
      String system = random.nextBoolean() ? "hgx-h100" : "gb200-nvl72";
      var problem =
          SmallCase.request(
              """
              model: %s
              cluster: {system: %s, gpus: %d}
              training: {global_batch: %d, sequence: %d}
              locality: %s
              """
                  .formatted(
                      models.get(random.nextInt(models.size())),
                      system,
                      72 << random.nextInt(5),
                      64 << random.nextInt(5),
                      2048 << random.nextInt(3),
                      random.nextBoolean() ? "strict" : "priced"));
      priced += Admissible.check(problem, random, 400);
    }
    assertTrue(priced > 1000, priced + " points");
  }
}
