package dev.meshplan.study;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How far two publishers are apart who measured the same: no estimator that knows kinds, not boxes,
 * can be closer.
 *
 * @param pairs of rows that differ in nothing but the publisher
 * @param median of the relative difference
 * @param p90 nine tenths of the pairs are closer
 */
public record LabSpread(int pairs, double median, double p90) {

  /** The same collective, size, ranks, domains, machine, network and forced algorithm. */
  static LabSpread of(List<MeasuredCollective> rows, List<CollectiveAccuracy.Scored> scored) {
    Map<List<Object>, List<Integer>> same = new HashMap<>();
    for (int i = 0; i < rows.size(); i++) {
      MeasuredCollective m = rows.get(i);
      if (scored.get(i).row().skippedReason() == null && !m.expertExchange()) {
        List<Object> key =
            List.of(
                m.system(), m.network(), m.domainGpus(), m.gpus(), m.name(), m.bytes(), m.ran());
        same.computeIfAbsent(key, k -> new ArrayList<>()).add(i);
      }
    }
    List<Double> differences = new ArrayList<>();
    for (List<Integer> group : same.values()) {
      for (int a = 0; a < group.size(); a++) {
        for (int b = 0; b < a; b++) {
          if (!rows.get(group.get(a)).publisher().equals(rows.get(group.get(b)).publisher())) {
            double x = scored.get(group.get(a)).row().measured();
            double y = scored.get(group.get(b)).row().measured();
            differences.add(Math.max(x, y) / Math.min(x, y) - 1);
          }
        }
      }
    }
    double[] sorted = differences.stream().mapToDouble(d -> d).sorted().toArray();
    return new LabSpread(
        sorted.length,
        AccuracySummary.quantile(sorted, 0.5),
        AccuracySummary.quantile(sorted, 0.9));
  }
}
