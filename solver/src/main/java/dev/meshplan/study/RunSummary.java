package dev.meshplan.study;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Errors of replayed runs by family, system, kind, precision and memory reading. */
public final class RunSummary {
  private static final int SMALL = 10;

  private RunSummary() {}

  /**
   * One line of the table. Errors are shares; the bias has a sign.
   *
   * @param quantity time or memory
   * @param by what is grouped: all, family, families (their mean, small ones pooled), system, kind,
   *     precision, reading
   * @param group its value
   * @param rows scored
   * @param skipped not scored
   * @param median of the absolute relative error
   * @param p90 nine tenths of the rows are better
   * @param bias median of the relative error
   */
  public record Line(
      String quantity,
      String by,
      String group,
      int rows,
      int skipped,
      double median,
      double p90,
      double bias) {}

  static List<Line> of(List<RunScore> scores) {
    List<Line> lines = new ArrayList<>();
    for (String quantity : List.of("time", "memory")) {
      Map<String, List<Double>> groups = new TreeMap<>();
      for (RunScore s : scores) {
        for (RunAccuracy.Row r : s.rows()) {
          if (r.quantity().equals(quantity)) {
            for (String key : keys(s, r)) {
              groups.computeIfAbsent(key, k -> new ArrayList<>()).add(r.relativeError());
            }
          }
        }
      }
      groups.forEach((key, errors) -> lines.add(line(quantity, key, errors)));
      if (!groups.isEmpty()) {
        lines.add(families(quantity, groups));
      }
    }
    return lines;
  }

  private static List<String> keys(RunScore s, RunAccuracy.Row r) {
    List<String> keys = new ArrayList<>();
    keys.add("all\tall");
    keys.add("family\t" + s.row().family());
    keys.add("system\t" + s.row().text("system"));
    if (r.reading() != null) {
      keys.add("reading\t" + r.reading());
    } else {
      boolean moe = s.row().number("experts") > 0;
      keys.add("kind\t" + (moe ? "moe" : "dense"));
      String precision = s.row().text("precision");
      keys.add("precision\t" + (precision.isEmpty() ? "(not stated)" : precision));
    }
    return keys;
  }

  private static Line line(String quantity, String key, List<Double> errors) {
    String[] k = key.split("\t", 2);
    double[] signed =
        errors.stream().mapToDouble(e -> e).filter(e -> !Double.isNaN(e)).sorted().toArray();
    double[] sizes = errors.stream().mapToDouble(Math::abs).filter(e -> !Double.isNaN(e)).toArray();
    java.util.Arrays.sort(sizes);
    return new Line(
        quantity,
        k[0],
        k[1],
        signed.length,
        errors.size() - signed.length,
        quantile(sizes, 0.5),
        quantile(sizes, 0.9),
        quantile(signed, 0.5));
  }

  /** The mean over families of their median and p90, families under ten rows pooled into one. */
  private static Line families(String quantity, Map<String, List<Double>> groups) {
    List<Double> small = new ArrayList<>();
    List<Line> lines = new ArrayList<>();
    groups.forEach(
        (key, errors) -> {
          if (key.startsWith("family\t")) {
            List<Double> scored = errors.stream().filter(e -> !Double.isNaN(e)).toList();
            if (scored.size() < SMALL) {
              small.addAll(scored);
            } else {
              lines.add(line(quantity, key, scored));
            }
          }
        });
    if (!small.isEmpty()) {
      lines.add(line(quantity, "family\tpooled", small));
    }
    return new Line(
        quantity,
        "families",
        "mean, each family counting once",
        lines.size(),
        0,
        lines.stream().mapToDouble(Line::median).average().orElse(Double.NaN),
        lines.stream().mapToDouble(Line::p90).average().orElse(Double.NaN),
        lines.stream().mapToDouble(Line::bias).average().orElse(Double.NaN));
  }

  /** Linear between ranks; NaN of nothing. */
  static double quantile(double[] sorted, double q) {
    if (sorted.length == 0) {
      return Double.NaN;
    }
    double at = q * (sorted.length - 1);
    int low = (int) Math.floor(at);
    int high = Math.min(low + 1, sorted.length - 1);
    return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
  }
}
