package dev.meshplan.study;

import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/** Errors by system, collective and size class. */
public final class AccuracySummary {
  private AccuracySummary() {}

  /**
   * One line of the table; errors are shares, and the bias has a sign.
   *
   * @param collective name, or "all" for a system's total
   * @param scope inside a domain, across domains, or kernels of other libraries
   * @param sizeClass below or from 1 MiB; "all" for kernels
   * @param rows scored rows
   * @param skipped rows that were not scored
   * @param median of the absolute relative error
   * @param p90 nine tenths of the rows are better
   * @param bias median of the relative error
   * @param ringMedian the plain ring on the same rows; NaN where it says nothing
   * @param ncclMedian NCCL's own model on the same rows; NaN where it says nothing
   */
  public record Line(
      String system,
      String collective,
      String scope,
      String sizeClass,
      int rows,
      int skipped,
      double median,
      double p90,
      double bias,
      double ringMedian,
      double ncclMedian) {}

  static List<Line> of(List<CollectiveAccuracy.Scored> scored) {
    Map<List<String>, List<CollectiveAccuracy.Scored>> groups =
        new TreeMap<>(Comparator.comparing(k -> String.join("\t", k)));
    for (CollectiveAccuracy.Scored s : scored) {
      String system = named(s.row().system());
      String scope = s.kernel() ? "kernels" : s.crosses() ? "across" : "inside";
      String size =
          s.kernel() ? "all" : s.row().bytes() >= Quantity.MIB ? "from_1_mib" : "below_1_mib";
      for (String collective : List.of("all", named(s.row().collective()))) {
        groups
            .computeIfAbsent(List.of(system, scope, size, collective), k -> new ArrayList<>())
            .add(s);
      }
    }
    List<Line> lines = new ArrayList<>();
    groups.forEach((key, members) -> lines.add(line(key, members)));
    return lines;
  }

  private static String named(String name) {
    return name.isEmpty() ? "(not named)" : name;
  }

  private static Line line(List<String> key, List<CollectiveAccuracy.Scored> members) {
    List<CollectiveAccuracy.Scored> scored =
        members.stream().filter(s -> s.row().skippedReason() == null).toList();
    double[] errors = sorted(scored, s -> s.row().relativeError());
    double[] sizes = sorted(scored, s -> Math.abs(s.row().relativeError()));
    return new Line(
        key.get(0),
        key.get(3),
        key.get(1),
        key.get(2),
        scored.size(),
        members.size() - scored.size(),
        quantile(sizes, 0.5),
        quantile(sizes, 0.9),
        quantile(errors, 0.5),
        quantile(sorted(scored, s -> Math.abs(s.ringError())), 0.5),
        quantile(sorted(scored, s -> Math.abs(s.ncclError())), 0.5));
  }

  private static double[] sorted(
      List<CollectiveAccuracy.Scored> rows, ToDoubleFunction<CollectiveAccuracy.Scored> value) {
    return rows.stream().mapToDouble(value).filter(v -> !Double.isNaN(v)).sorted().toArray();
  }

  /** Linear between ranks, as numpy does it; NaN of nothing. */
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
