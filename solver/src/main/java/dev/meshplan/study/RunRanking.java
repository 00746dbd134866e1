package dev.meshplan.study;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Whether predictions put the layouts of a sweep into the right order. A sweep is the runs of one
 * source, model, system, GPU count, sequence and precision; they are compared by time per token, or
 * by the source's own MFU where it gives nothing else.
 */
public final class RunRanking {
  private static final int FEWEST = 4;
  private static final double APART = 0.02;

  private RunRanking() {}

  /**
   * One sweep.
   *
   * @param set what its runs share
   * @param rows of it
   * @param spread slowest over fastest, measured
   * @param spearman rank correlation of predicted and measured
   * @param pairs share of the pairs more than 2% apart that are in the right order
   * @param regret loss of the predicted best against the measured best, a share
   * @param regretTopThree loss of the best of the three predicted best
   */
  public record Line(
      String set,
      int rows,
      double spread,
      double spearman,
      double pairs,
      double regret,
      double regretTopThree) {}

  private record Point(double measured, double predicted) {}

  static List<Line> of(List<RunScore> scores) {
    Map<String, List<Point>> sets = new TreeMap<>();
    Map<String, java.util.Set<Object>> plans = new TreeMap<>();
    for (RunScore s : scores) {
      double measured = measured(s.row());
      if (s.replay() == null || Double.isNaN(s.seconds()) || !(measured > 0)) {
        continue;
      }
      String key =
          String.join(
              " ",
              s.row().family(),
              s.row().text("model"),
              s.row().text("system"),
              s.row().text("gpus") + " GPUs",
              "sequence " + s.row().text("seq_len"),
              s.row().text("precision"),
              s.row().stepSeconds() > 0 ? "" : "by MFU");
      double tokens =
          (double) s.replay().training().globalBatch() * s.replay().training().sequence();
      sets.computeIfAbsent(key.trim(), k -> new ArrayList<>())
          .add(new Point(measured, s.seconds() / tokens));
      plans.computeIfAbsent(key.trim(), k -> new java.util.HashSet<>()).add(s.replay().candidate());
    }
    List<Line> lines = new ArrayList<>();
    sets.forEach(
        (key, points) -> {
          if (points.size() >= FEWEST && plans.get(key).size() >= FEWEST) {
            lines.add(line(key, points));
          }
        });
    return lines;
  }

  /** Time per token; where nobody timed, the reciprocal of MFU, which orders alike. */
  private static double measured(RunRow row) {
    String excluded = row.text("excluded");
    if (excluded.startsWith("all:")) {
      return Double.NaN;
    }
    double step = row.stepSeconds();
    if (step > 0) {
      return excluded.isEmpty() ? step / (row.number("gbs") * row.number("seq_len")) : Double.NaN;
    }
    return row.number("mfu") > 0 ? 1 / row.number("mfu") : Double.NaN;
  }

  private static Line line(String set, List<Point> points) {
    double best = points.stream().mapToDouble(Point::measured).min().orElse(1);
    double worst = points.stream().mapToDouble(Point::measured).max().orElse(1);
    List<Point> byPrediction = new ArrayList<>(points);
    byPrediction.sort(Comparator.comparingDouble(Point::predicted));
    double top = byPrediction.get(0).measured();
    double three = byPrediction.stream().limit(3).mapToDouble(Point::measured).min().orElse(top);
    int right = 0;
    int apart = 0;
    for (int i = 0; i < points.size(); i++) {
      for (int j = 0; j < i; j++) {
        Point a = points.get(i);
        Point b = points.get(j);
        if (Math.abs(a.measured() / b.measured() - 1) > APART) {
          apart++;
          right += (a.measured() < b.measured()) == (a.predicted() < b.predicted()) ? 1 : 0;
        }
      }
    }
    return new Line(
        set,
        points.size(),
        worst / best,
        spearman(points),
        apart == 0 ? Double.NaN : (double) right / apart,
        top / best - 1,
        three / best - 1);
  }

  private static double spearman(List<Point> points) {
    double[] a = ranks(points.stream().mapToDouble(Point::measured).toArray());
    double[] b = ranks(points.stream().mapToDouble(Point::predicted).toArray());
    double mean = (a.length + 1) / 2.0;
    double ab = 0;
    double aa = 0;
    double bb = 0;
    for (int i = 0; i < a.length; i++) {
      ab += (a[i] - mean) * (b[i] - mean);
      aa += (a[i] - mean) * (a[i] - mean);
      bb += (b[i] - mean) * (b[i] - mean);
    }
    return ab / Math.sqrt(aa * bb);
  }

  /** Ranks from 1; equal values share the mean of theirs. */
  private static double[] ranks(double[] values) {
    double[] ranks = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      int below = 0;
      int equal = 0;
      for (double v : values) {
        below += v < values[i] ? 1 : 0;
        equal += v == values[i] ? 1 : 0;
      }
      ranks[i] = below + (equal + 1) / 2.0;
    }
    return ranks;
  }
}
