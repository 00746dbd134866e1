package dev.meshplan.study;

/**
 * Fits positive constants: Gauss-Newton on the logarithm of predicted over measured, large errors
 * counting linearly, every constant held near its value before the fit.
 */
final class GaussNewton {
  private static final double LINEAR_FROM = 0.06;
  private static final double PRIOR_WEIGHT = 0.002;
  private static final double NUDGE = 1.02;

  /** What the constants predict. */
  interface Model {
    /**
     * @param which rows to predict, others may be anything; null = all
     */
    double[] predict(double[] x, boolean[] which);
  }

  private final Model model;
  private final double[] measured;
  private final double[] weights;
  private final double[] priors;
  private final double[] sigmas;
  private final boolean[][] concerned;

  /**
   * @param weights of rows; 0 = the row teaches nothing
   * @param sigmas how far a constant may lie from its prior, as a share
   * @param concerned by constant, the rows that it can move
   */
  GaussNewton(
      Model model,
      double[] measured,
      double[] weights,
      double[] priors,
      double[] sigmas,
      boolean[][] concerned) {
    this.model = model;
    this.measured = measured;
    this.weights = weights;
    this.priors = priors;
    this.sigmas = sigmas;
    this.concerned = concerned;
  }

  /** The constants that fit best, from their values before the fit. */
  double[] fit(int iterations) {
    double[] x = priors.clone();
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

  /**
   * By constant and row: the relative change of the prediction for that of the constant.
   *
   * @param nudge by what constants are multiplied
   */
  double[][] slopes(double[] x, double nudge) {
    double[] f = model.predict(x, null);
    double[][] slopes = new double[x.length][f.length];
    for (int j = 0; j < x.length; j++) {
      double[] y = x.clone();
      y[j] *= nudge;
      double[] g = model.predict(y, concerned[j]);
      for (int i = 0; i < f.length; i++) {
        slopes[j][i] = concerned[j][i] ? Math.log(g[i] / f[i]) / Math.log(nudge) : 0;
      }
    }
    return slopes;
  }

  private void normalEquations(double[] x, double[][] a, double[] b) {
    int k = x.length;
    double[] f = model.predict(x, null);
    double[][] slope = slopes(x, NUDGE);
    for (int j = 0; j < k; j++) {
      double prior = PRIOR_WEIGHT / (sigmas[j] * sigmas[j]);
      for (int i = 0; i < f.length; i++) {
        if (weights[i] == 0 || slope[j][i] == 0) {
          continue;
        }
        double error = Math.log(f[i] / measured[i]);
        double w = weights[i] / Math.sqrt(1 + error * error / LINEAR_FROM / LINEAR_FROM);
        b[j] -= w * slope[j][i] * error;
        for (int l = 0; l <= j; l++) {
          a[j][l] += w * slope[j][i] * slope[l][i];
          a[l][j] = a[j][l];
        }
      }
      a[j][j] += prior;
      b[j] -= prior * Math.log(x[j] / priors[j]);
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
    double[] f = model.predict(x, null);
    double sum = 0;
    for (int i = 0; i < f.length; i++) {
      if (weights[i] > 0) {
        double r = Math.log(f[i] / measured[i]) / LINEAR_FROM;
        sum += weights[i] * LINEAR_FROM * LINEAR_FROM * (Math.sqrt(1 + r * r) - 1) * 2;
      }
    }
    for (int j = 0; j < x.length; j++) {
      double d = Math.log(x[j] / priors[j]) / sigmas[j];
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
