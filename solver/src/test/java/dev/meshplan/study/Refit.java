package dev.meshplan.study;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Fits the constants of the step time: Gauss-Newton on the logarithm of predicted over measured,
 * large errors counting linearly, each source weighted by the square root of its rows, every
 * constant held near its value before the fit.
 */
final class Refit {
  private static final double LINEAR_FROM = 0.06;
  private static final double PRIOR_WEIGHT = 0.002;
  private static final double NUDGE = 1.02;

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
    double[] x = constants.stream().mapToDouble(FitConstants.Constant::prior).toArray();
    double damping = 1e-3;
    double cost = cost(x);
    for (int n = 0; n < iterations; n++) {
      double[][] a = new double[x.length][x.length];
      double[] b = new double[x.length];
      normalEquations(x, a, b);
      boolean better = false;
      for (int tries = 0; tries < 5 && !better; tries++) {
        double[] y = step(x, a, b, damping);
        double c = cost(y);
        if (c < cost) {
          better = cost - c > 1e-5 * cost;
          cost = c;
          x = y;
          damping = Math.max(1e-6, damping / 5);
          break;
        }
        damping = Math.max(10 * damping, 1e-2);
      }
      if (!better) {
        return x;
      }
    }
    return x;
  }

  static double[] predict(
      List<FitConstants.Constant> constants, double[] x, List<Run> runs, boolean[] which) {
    FitConstants values = new FitConstants(constants, x);
    return IntStream.range(0, runs.size())
        .parallel()
        .mapToDouble(i -> which == null || which[i] ? values.seconds(runs.get(i).replay()) : 0)
        .toArray();
  }

  private void normalEquations(double[] x, double[][] a, double[] b) {
    int k = x.length;
    double[] f = predict(constants, x, runs, null);
    double[][] slope = new double[k][runs.size()];
    for (int j = 0; j < k; j++) {
      double[] y = x.clone();
      y[j] *= NUDGE;
      double[] g = predict(constants, y, runs, concerned[j]);
      for (int i = 0; i < f.length; i++) {
        slope[j][i] = concerned[j][i] ? Math.log(g[i] / f[i]) / Math.log(NUDGE) : 0;
      }
    }
    for (int j = 0; j < k; j++) {
      FitConstants.Constant c = constants.get(j);
      double prior = PRIOR_WEIGHT / (c.sigma() * c.sigma());
      for (int i = 0; i < f.length; i++) {
        double error = Math.log(f[i] / runs.get(i).measured());
        double w = weights[i] / Math.sqrt(1 + error * error / LINEAR_FROM / LINEAR_FROM);
        b[j] -= w * slope[j][i] * error;
        for (int l = 0; l <= j; l++) {
          a[j][l] += w * slope[j][i] * slope[l][i];
          a[l][j] = a[j][l];
        }
      }
      a[j][j] += prior;
      b[j] -= prior * Math.log(x[j] / c.prior());
    }
  }

  private static double[] step(double[] x, double[][] a, double[] b, double damping) {
    double[][] m = new double[x.length][];
    for (int j = 0; j < m.length; j++) {
      m[j] = a[j].clone();
      m[j][j] *= 1 + damping;
    }
    double[] d = solve(m, b.clone());
    double[] y = new double[x.length];
    for (int j = 0; j < y.length; j++) {
      y[j] = x[j] * Math.exp(Math.max(-0.5, Math.min(0.5, d[j])));
    }
    return y;
  }

  private double cost(double[] x) {
    double[] f = predict(constants, x, runs, null);
    double sum = 0;
    for (int i = 0; i < f.length; i++) {
      double r = Math.log(f[i] / runs.get(i).measured()) / LINEAR_FROM;
      sum += weights[i] * LINEAR_FROM * LINEAR_FROM * (Math.sqrt(1 + r * r) - 1) * 2;
    }
    for (int j = 0; j < x.length; j++) {
      FitConstants.Constant c = constants.get(j);
      double d = Math.log(x[j] / c.prior()) / c.sigma();
      sum += PRIOR_WEIGHT * d * d;
    }
    return sum;
  }

  private static double[] solve(double[][] a, double[] b) {
    int n = b.length;
    for (int i = 0; i < n; i++) {
      for (int r = i + 1; r < n; r++) {
        double f = a[r][i] / a[i][i];
        for (int c = i; c < n; c++) {
          a[r][c] -= f * a[i][c];
        }
        b[r] -= f * b[i];
      }
    }
    double[] x = new double[n];
    for (int i = n - 1; i >= 0; i--) {
      double s = b[i];
      for (int c = i + 1; c < n; c++) {
        s -= a[i][c] * x[c];
      }
      x[i] = s / a[i][i];
    }
    return x;
  }
}
