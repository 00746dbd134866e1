package dev.meshplan.study;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.plan.Catalog;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The scored figure: each source predicted with constants fitted to all the others. Takes minutes:
 * mvn test -Plong -Dtest=LeftOutTest.
 */
@Tag("long")
class LeftOutTest {
  private static final Catalog CATALOG = Catalog.open(null);
  private static final int EVERY = 6;
  private static final int ITERATIONS = 12;

  @Test
  void aSourceThatNoConstantHasSeenIsPredictedWithinTheBars() throws Unpriced {
    List<Refit.Run> open = runs("runs.csv", 1);
    List<Refit.Run> small = runs("vtrain_single_node_runs.csv", EVERY);
    List<FitConstants.Constant> constants = FitConstants.list();
    Map<String, List<Double>> errors = new TreeMap<>();
    for (String family : open.stream().map(Refit.Run::family).distinct().sorted().toList()) {
      List<Refit.Run> others = new ArrayList<>(small);
      List<Refit.Run> left = new ArrayList<>();
      for (Refit.Run r : open) {
        if (r.family().equals(family)) {
          left.add(r);
        } else if (!sameLaboratory(r.family(), family)) {
          others.add(r);
        }
      }
      double[] fitted = new Refit(constants, others).fit(ITERATIONS);
      double[] predicted = Refit.predict(constants, fitted, left, null);
      List<Double> list = new ArrayList<>();
      for (int i = 0; i < predicted.length; i++) {
        list.add(Math.abs(predicted[i] / left.get(i).measured() - 1));
      }
      errors.put(family, list);
    }
    double korth = errors.get("korth").stream().mapToDouble(e -> e).average().orElse(1);
    List<List<Double>> counted = new ArrayList<>();
    List<Double> pooled = new ArrayList<>();
    errors.values().forEach(e -> (e.size() < 10 ? pooled : new ArrayList<Double>()).addAll(e));
    errors.values().stream().filter(e -> e.size() >= 10).forEach(counted::add);
    counted.add(pooled);
    double median = counted.stream().mapToDouble(e -> quantile(e, 0.5)).average().orElse(1);
    double p90 = counted.stream().mapToDouble(e -> quantile(e, 0.9)).average().orElse(1);
    String found = "median " + median + ", p90 " + p90 + ", korth mean " + korth;
    System.out.println("step time, each family left out: " + found);
    assertTrue(median <= 0.09 && p90 <= 0.24 && korth <= 0.04, found);
  }

  /** Two families that print the same runs of one laboratory teach nothing about each other. */
  private static boolean sameLaboratory(String a, String b) {
    return a.startsWith("mb") && b.startsWith("mb");
  }

  private static double quantile(List<Double> errors, double q) {
    return RunSummary.quantile(errors.stream().mapToDouble(e -> e).sorted().toArray(), q);
  }

  private static List<Refit.Run> runs(String file, int every) throws Unpriced {
    List<Refit.Run> runs = new ArrayList<>();
    int n = 0;
    for (RunRow row : MeasuredRuns.rows(file)) {
      if (!row.has("excluded") && n++ % every == 0) {
        runs.add(
            new Refit.Run(row.id(), row.family(), row.stepSeconds(), RunReplay.of(row, CATALOG)));
      }
    }
    return runs;
  }
}
