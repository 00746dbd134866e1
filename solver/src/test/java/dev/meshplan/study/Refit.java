package dev.meshplan.study;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Fits the constants of the step time, each source weighted by the square root of its rows. */
final class Refit {
  /** A run to fit. */
  record Run(String id, String family, double measured, RunReplay replay) {}

  private final List<FitConstants.Constant> constants;
  private final List<Run> runs;
  private final double[] weights;
  private final boolean[][] concerned;

  Refit(List<FitConstants.Constant> constants, List<Run> runs) {
    this.constants = constants;
    this.runs = runs;
    Map<String, Integer> rows = new HashMap<>();
    runs.forEach(r -> rows.merge(r.family(), 1, Integer::sum));
    weights = runs.stream().mapToDouble(r -> 1 / Math.sqrt(rows.get(r.family()))).toArray();
    concerned = new boolean[constants.size()][runs.size()];
    for (int j = 0; j < concerned.length; j++) {
      for (int i = 0; i < runs.size(); i++) {
        concerned[j][i] = constants.get(j).concerns(runs.get(i).replay());
      }
    }
  }

  /** The constants that fit best, from their values before the fit. */
  double[] fit(int iterations) {
    GaussNewton fit =
        new GaussNewton(
            (x, which) -> predict(constants, x, runs, which),
            runs.stream().mapToDouble(Run::measured).toArray(),
            weights,
            constants.stream().mapToDouble(FitConstants.Constant::prior).toArray(),
            constants.stream().mapToDouble(FitConstants.Constant::sigma).toArray(),
            concerned);
    return fit.fit(iterations);
  }

  static double[] predict(
      List<FitConstants.Constant> constants, double[] x, List<Run> runs, boolean[] which) {
    FitConstants values = new FitConstants(constants, x);
    return IntStream.range(0, runs.size())
        .parallel()
        .mapToDouble(i -> which == null || which[i] ? values.seconds(runs.get(i).replay()) : 0)
        .toArray();
  }
}
