package dev.meshplan.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.plan.Catalog;
import dev.meshplan.units.Basis;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Collectives of each publisher predicted with constants fitted to all the others. Takes minutes:
 * mvn test -Plong -Dtest=CollectiveLeftOutTest.
 */
@Tag("long")
class CollectiveLeftOutTest {
  private static final int ITERATIONS = 15;
  private static final double MOVES = 0.02;

  private static CollectiveRefit refit;
  private static List<String> sources;

  @BeforeAll
  static void read() {
    refit =
        new CollectiveRefit(
            Catalog.open(null),
            MeasuredFile.read("collectives.csv", MeasuredRuns.text("collectives.csv")));
    sources = refit.rows().stream().map(MeasuredCollective::publisher).toList();
  }

  @Test
  void aPublisherThatNoConstantHasSeenIsPredicted() {
    double[] shipped = refit.shipped().values().stream().mapToDouble(k -> k.value()).toArray();
    double[] all = refit.predict(shipped, null);
    Map<String, List<Double>> inSample = new TreeMap<>();
    Map<String, List<Double>> leftOut = new TreeMap<>();
    for (String s : new TreeSet<>(sources)) {
      double[] others = refit.predict(refit.fit(sources, s, ITERATIONS), null);
      for (int i = 0; i < all.length; i++) {
        if (sources.get(i).equals(s)) {
          for (String group : List.of("source " + s, kind(i))) {
            inSample.computeIfAbsent(group, k -> new ArrayList<>()).add(error(all, i));
            leftOut.computeIfAbsent(group, k -> new ArrayList<>()).add(error(others, i));
          }
        }
      }
    }
    System.out.printf(
        Locale.ROOT, "%-50s %5s %17s %17s%n", "group", "rows", "in sample", "left out");
    inSample.forEach(
        (k, in) ->
            System.out.printf(
                Locale.ROOT,
                "%-50s %5d %7.1f%% %7.1f%% %7.1f%% %7.1f%%%n",
                k,
                in.size(),
                100 * quantile(in, 0.5),
                100 * quantile(in, 0.9),
                100 * quantile(leftOut.get(k), 0.5),
                100 * quantile(leftOut.get(k), 0.9)));
    within(leftOut, "inside a domain, from 1 MiB", 0.12, 0.36);
    within(leftOut, "inside a domain, below 1 MiB", 0.20, 0.46);
    within(leftOut, "across domains, from 1 MiB", 0.12, 0.38);
    within(leftOut, "across domains, below 1 MiB", 0.22, 0.36);
    within(leftOut, "kernels", 0.20, 0.50);
  }

  private static void within(
      Map<String, List<Double>> errors, String kind, double median, double p90) {
    List<Double> e = errors.get(kind);
    assertTrue(quantile(e, 0.5) <= median, kind + " median " + quantile(e, 0.5));
    assertTrue(quantile(e, 0.9) <= p90, kind + " p90 " + quantile(e, 0.9));
  }

  private static String kind(int i) {
    MeasuredCollective m = refit.rows().get(i);
    String size = m.bytes() >= Quantity.MIB ? "from 1 MiB" : "below 1 MiB";
    return m.kernel()
        ? "kernels"
        : (refit.across(i) ? "across domains, " : "inside a domain, ") + size;
  }

  private static double error(double[] predicted, int i) {
    return Math.abs(predicted[i] / refit.measured(i) - 1);
  }

  private static double quantile(List<Double> errors, double q) {
    return RunSummary.quantile(errors.stream().mapToDouble(e -> e).sorted().toArray(), q);
  }

  @Test
  void whatOnePublisherAloneKnowsIsMarkedSo() {
    double[][] slopes = refit.slopes();
    List<String> wrong = new ArrayList<>();
    int j = 0;
    for (var e : refit.shipped().entrySet()) {
      Set<String> know = new TreeSet<>();
      for (int i = 0; i < sources.size(); i++) {
        if (slopes[j][i] > MOVES) {
          know.add(sources.get(i));
        }
      }
      Basis basis = e.getValue().basis();
      boolean right = know.size() > 1 ? basis == Basis.FITTED : basis == Basis.FITTED_ON_ONE_SOURCE;
      if (!right || know.isEmpty()) {
        wrong.add(e.getKey() + " is " + basis.key() + ", known by " + know);
      }
      j++;
    }
    assertEquals(List.of(), wrong);
    assertTrue(j > 100);
  }
}
