package dev.meshplan.study;

import dev.meshplan.estimate.MemoryBand;
import dev.meshplan.estimate.MemoryVerdict;
import dev.meshplan.plan.Catalog;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Measured runs against the memory predicted for them: errors by reading and source, and whether
 * runs that ran, and runs that failed, are called so. Readings are never compared with each other.
 *
 * @param runs in the order of the file
 * @param errors by reading and source, then by reading ({@code source} empty)
 */
public record MemoryAccuracy(List<Run> runs, List<Summary> errors) {

  /**
   * One run.
   *
   * @param measuredBytes as printed; NaN where the run gives none
   * @param predictedBytes in the run's own reading, with what its stack usually does
   * @param relativeError predicted / measured - 1; NaN where it is not scored
   * @param lowBytes over what the run leaves open
   * @param highBytes over what the run leaves open
   * @param failed whether it ran out of memory
   * @param recomputeKnown whether it says what is recomputed
   * @param verdict on the most saving plan that it leaves open
   * @param usualVerdict on what its stack usually does
   * @param skippedReason why there is no prediction; empty where there is one
   */
  public record Run(
      String id,
      String source,
      String system,
      String reading,
      double measuredBytes,
      double predictedBytes,
      double relativeError,
      double lowBytes,
      double highBytes,
      boolean failed,
      boolean recomputeKnown,
      MemoryVerdict verdict,
      MemoryVerdict usualVerdict,
      List<String> assumed,
      String skippedReason) {}

  /** Errors of a group; shares, such as 0.04. {@code bias} is the signed median. */
  public record Summary(
      String reading, String source, int runs, double median, double p90, double bias) {}

  public MemoryAccuracy {
    runs = List.copyOf(runs);
    errors = List.copyOf(errors);
  }

  /** Replays runs given as their cells by column. */
  public static MemoryAccuracy of(List<Map<String, String>> rows, Catalog catalog) {
    List<Run> runs = new ArrayList<>();
    for (Map<String, String> cells : rows) {
      runs.add(run(new RunRow(cells), catalog));
    }
    return new MemoryAccuracy(runs, summaries(runs));
  }

  private static Run run(RunRow row, Catalog catalog) {
    double measured = row.number("peak_mem_gib") * Quantity.GIB;
    boolean failed = row.text("oom").equals("yes");
    String reading = row.text("memory_reading");
    if (row.text("excluded").startsWith("all:") && !failed) {
      return skipped(row, measured, "excluded: " + row.text("excluded"));
    }
    try {
      MemoryReplay m = MemoryReplay.of(row, catalog);
      boolean scored = measured > 0 && row.has("mbs");
      return new Run(
          row.id(),
          row.family(),
          row.text("system"),
          reading,
          measured,
          m.predictedBytes(),
          scored ? m.predictedBytes() / measured - 1 : Double.NaN,
          m.lowBytes(),
          m.highBytes(),
          failed,
          m.recomputeKnown(),
          MemoryVerdict.of(m.deviceShare(), 1),
          MemoryVerdict.of(m.usualShare(), 1),
          m.assumed(),
          "");
    } catch (Unpriced e) {
      return skipped(row, measured, e.getMessage());
    }
  }

  private static Run skipped(RunRow row, double measured, String reason) {
    return new Run(
        row.id(),
        row.family(),
        row.text("system"),
        row.text("memory_reading"),
        measured,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        row.text("oom").equals("yes"),
        false,
        null,
        null,
        row.assumed(),
        reason);
  }

  private static List<Summary> summaries(List<Run> runs) {
    Map<String, List<Double>> bySource = new TreeMap<>();
    Map<String, List<Double>> byReading = new TreeMap<>();
    for (Run r : runs) {
      if (!Double.isNaN(r.relativeError())) {
        bySource
            .computeIfAbsent(r.reading() + "/" + r.source(), k -> new ArrayList<>())
            .add(r.relativeError());
        byReading.computeIfAbsent(r.reading(), k -> new ArrayList<>()).add(r.relativeError());
      }
    }
    List<Summary> all = new ArrayList<>();
    bySource.forEach(
        (key, errors) -> {
          int slash = key.indexOf('/');
          all.add(summary(key.substring(0, slash), key.substring(slash + 1), errors));
        });
    byReading.forEach((reading, errors) -> all.add(summary(reading, "", errors)));
    return all;
  }

  private static Summary summary(String reading, String source, List<Double> errors) {
    List<Double> absolute = new ArrayList<>();
    errors.forEach(e -> absolute.add(Math.abs(e)));
    return new Summary(
        reading,
        source,
        errors.size(),
        quantile(absolute, 0.5),
        quantile(absolute, 0.9),
        quantile(errors, 0.5));
  }

  /** Linear between neighbours. */
  static double quantile(List<Double> values, double share) {
    List<Double> sorted = new ArrayList<>(values);
    Collections.sort(sorted);
    double at = (sorted.size() - 1) * share;
    int low = (int) at;
    int high = Math.min(low + 1, sorted.size() - 1);
    return sorted.get(low) + (sorted.get(high) - sorted.get(low)) * (at - low);
  }

  /** Runs that ran but are called out of memory, whatever their empty cells hold. */
  public List<Run> falseAlarms() {
    return runs.stream()
        .filter(r -> !r.failed() && r.verdict() == MemoryVerdict.OUT_OF_MEMORY)
        .toList();
  }

  /** Runs that failed for memory. */
  public List<Run> failures() {
    return runs.stream().filter(Run::failed).toList();
  }

  /** Runs that ran and have a verdict. */
  public long judged() {
    return runs.stream().filter(r -> !r.failed() && r.verdict() != null).count();
  }

  /**
   * Runs with open cells whose measured value lies in the predicted range widened by the band of
   * its reading, and all of them.
   */
  public int[] inRange() {
    int in = 0;
    int all = 0;
    for (Run r : runs) {
      if (r.measuredBytes() > 0 && r.highBytes() > r.lowBytes()) {
        all++;
        MemoryBand band = MemoryBand.of(r.reading());
        boolean inside =
            r.measuredBytes() >= r.lowBytes() * (1 + band.low())
                && r.measuredBytes() <= r.highBytes() * (1 + band.high());
        in += inside ? 1 : 0;
      }
    }
    return new int[] {in, all};
  }
}
