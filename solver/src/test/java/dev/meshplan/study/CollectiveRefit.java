package dev.meshplan.study;

import dev.meshplan.communication.Collective;
import dev.meshplan.hardware.Known;
import dev.meshplan.plan.Catalog;
import dev.meshplan.units.Basis;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Fits the constants of collectives to measured rows. Every constant starts from what the library's
 * own cost model says (github NVIDIA/nccl src/graph/tuning.cc), and stays there where no row moves
 * it.
 */
final class CollectiveRefit {
  private static final Set<String> COUNTS =
      Set.of("nvls_ranks", "send_channels", "ring_nics", "gather_nics");
  private static final double UP = 1.02;
  private static final Set<String> NETWORKS = Set.of("infiniband", "roce", "efa", "tcpx");

  private final Catalog catalog;
  private final List<MeasuredCollective> rows = new ArrayList<>();
  private final List<Boolean> across = new ArrayList<>();
  private final double[] measured;
  private final List<String> keys;
  private final Map<String, Known> shipped = new TreeMap<>();
  private final double[] priors;
  private final double[] sigmas;
  private final boolean[][] concerned;

  CollectiveRefit(Catalog catalog, List<MeasuredCollective> all) {
    this.catalog = catalog;
    CollectiveAccuracy accuracy = new CollectiveAccuracy(catalog, Map.of());
    List<Double> times = new ArrayList<>();
    List<Map<String, Known>> constants = new ArrayList<>();
    for (MeasuredCollective m : all) {
      CollectiveAccuracy.Scored s = accuracy.score(m);
      if (s.row().skippedReason() == null) {
        rows.add(m);
        across.add(s.crosses());
        times.add(s.row().measured());
        constants.add(accuracy.machine(m).fabric().constants());
      }
    }
    measured = times.stream().mapToDouble(t -> t).toArray();
    constants.forEach(shipped::putAll);
    // No row has registered buffers.
    shipped
        .keySet()
        .removeIf(
            k ->
                COUNTS.contains(key(k))
                    || key(k).startsWith("symmetric")
                    || !fitted(shipped.get(k).basis()));
    keys = List.copyOf(shipped.keySet());
    priors = new double[keys.size()];
    sigmas = new double[keys.size()];
    concerned = new boolean[keys.size()][rows.size()];
    Map<String, double[]> table = priors();
    for (int j = 0; j < keys.size(); j++) {
      double[] p = prior(table, keys.get(j));
      priors[j] = p[0];
      sigmas[j] = p[1];
      for (int i = 0; i < rows.size(); i++) {
        concerned[j][i] = constants.get(i).containsKey(keys.get(j)) && concerns(keys.get(j), i);
      }
    }
  }

  List<MeasuredCollective> rows() {
    return rows;
  }

  boolean across(int row) {
    return across.get(row);
  }

  double measured(int row) {
    return measured[row];
  }

  /** The constants that are fitted, with their shipped values. */
  Map<String, Known> shipped() {
    return shipped;
  }

  /**
   * Values that fit best.
   *
   * @param source by row
   * @param left rows of this source teach nothing; null = all teach
   */
  double[] fit(List<String> source, String left, int iterations) {
    Map<String, Integer> counts = new HashMap<>();
    source.forEach(s -> counts.merge(s, 1, Integer::sum));
    double[] weights = new double[rows.size()];
    for (int i = 0; i < weights.length; i++) {
      String s = source.get(i);
      weights[i] = s.equals(left) ? 0 : 1 / Math.sqrt(counts.get(s));
    }
    return new GaussNewton(this::predict, measured, weights, priors, sigmas, concerned)
        .fit(iterations);
  }

  /**
   * By constant, in the order of {@link #shipped}, and row: what the constant moves, up or down,
   * because the cheapest of two algorithms feels only one of them.
   */
  double[][] slopes() {
    double[] values = shipped.values().stream().mapToDouble(Known::value).toArray();
    GaussNewton fit =
        new GaussNewton(this::predict, measured, new double[0], values, sigmas, concerned);
    double[][] slopes = fit.slopes(values, UP);
    double[][] down = fit.slopes(values, 1 / UP);
    for (int j = 0; j < slopes.length; j++) {
      for (int i = 0; i < slopes[j].length; i++) {
        slopes[j][i] = Math.max(Math.abs(slopes[j][i]), Math.abs(down[j][i]));
      }
    }
    return slopes;
  }

  double[] predict(double[] x, boolean[] which) {
    Map<String, Double> tuning = new HashMap<>();
    for (int j = 0; j < x.length; j++) {
      tuning.put(keys.get(j), x[j]);
    }
    CollectiveAccuracy accuracy = new CollectiveAccuracy(catalog, tuning);
    double[] predicted = new double[rows.size()];
    for (int i = 0; i < predicted.length; i++) {
      if (which == null || which[i]) {
        predicted[i] = accuracy.score(rows.get(i)).row().predicted();
      }
    }
    return predicted;
  }

  private boolean concerns(String name, int row) {
    String key = key(name);
    MeasuredCollective m = rows.get(row);
    if (network(name) && !across.get(row)) {
      return false;
    }
    if (m.expertExchange()) {
      return key.startsWith("expert") || key.startsWith("all_to_all");
    }
    Collective c = m.collective();
    boolean custom = m.algorithm().equals("custom-ar");
    return switch (key.split("_", 2)[0]) {
      case "expert" -> false;
      case "custom" -> custom;
      case "nvls" -> c == Collective.ALL_REDUCE && !custom;
      case "send" -> c == Collective.SEND_RECV;
      case "reduce" -> c == Collective.REDUCE_SCATTER;
      case "all" ->
          key.startsWith("all_reduce")
              ? c == Collective.ALL_REDUCE && !custom
              : key.startsWith("all_gather")
                  ? c == Collective.ALL_GATHER
                  : c == Collective.ALL_TO_ALL;
      default -> true;
    };
  }

  private static boolean fitted(Basis b) {
    return b == Basis.FITTED || b == Basis.FITTED_ON_ONE_SOURCE;
  }

  private static String key(String name) {
    return name.substring(name.indexOf('.') + 1);
  }

  private static boolean network(String name) {
    return NETWORKS.contains(name.substring(0, name.indexOf('.')));
  }

  private static double[] prior(Map<String, double[]> table, String name) {
    String scope = network(name) ? "network." : "";
    for (String k : List.of(name, scope + key(name), key(name))) {
      if (table.containsKey(k)) {
        return table.get(k);
      }
    }
    throw new IllegalStateException("no prior for " + name);
  }

  private static Map<String, double[]> priors() {
    Map<String, double[]> table = new HashMap<>();
    for (String line : MeasuredRuns.text("collective_priors.csv").lines().skip(1).toList()) {
      String[] c = line.split(",", -1);
      table.put(c[0], new double[] {Double.parseDouble(c[1]), Double.parseDouble(c[2])});
    }
    return table;
  }
}
