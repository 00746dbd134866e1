package dev.meshplan.estimate;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Precision;

/**
 * Seconds of matrix products of one GPU in one precision: the slower of math in waves of output
 * tiles and memory traffic. M, N, K as in C (M x N) = A (M x K) B (K x N). Sources: tile and wave
 * quantisation as in NVIDIA's matrix multiplication guide; saturation in K and M fitted to the
 * measured set.
 */
final class Gemm {
  private static final double[][] HOPPER = {
    {256, 128, 1}, {128, 256, 1}, {128, 128, .93}, {64, 256, .85}, {128, 64, .78}, {64, 64, .60}
  };
  private static final double[][] BLACKWELL = {
    {256, 256, 1}, {256, 128, .97}, {128, 256, .95}, {128, 128, .85}, {128, 64, .70}, {64, 64, .50}
  };

  private final double flopPerSecond;
  private final double kHalf;
  private final double mHalf;
  private final int sms;
  private final double[][] tiles;
  private final double bytes;
  private final double memoryBytesPerSecond;
  private final double grouped;
  private final boolean ideal;

  /**
   * @param ideal a lower bound: no quantisation, no memory limit, grouped as fast as plain
   * @throws IllegalArgumentException when the GPU has no such format
   */
  Gemm(Gpu gpu, Precision precision, StepConstants.Gemms constants, boolean ideal) {
    double peak = gpu.peak(precision);
    if (Double.isNaN(peak)) {
      throw new IllegalArgumentException(gpu.id() + " has no " + precision.key());
    }
    double c =
        switch (precision) {
          case BF16, FP16 -> 1;
          case FP8, MXFP8 -> 2;
          case NVFP4 -> 4;
        };
    flopPerSecond = peak * gpu.efficiency().gemm().get(precision).value();
    kHalf = gpu.efficiency().kHalf().value() * c;
    mHalf = gpu.efficiency().mHalf().value();
    sms = gpu.sms();
    tiles = gpu.architecture().blackwell() ? BLACKWELL : HOPPER;
    bytes = precision.bytes();
    memoryBytesPerSecond = gpu.memoryBandwidth() * gpu.efficiency().memory().value();
    grouped = constants.grouped();
    this.ideal = ideal;
  }

  /** Seconds of {@code groups} products of M x N x K each, operands read and results written. */
  double seconds(double m, double n, double k, double groups) {
    if (m <= 0 || n <= 0 || k <= 0) {
      return 0;
    }
    if (ideal) {
      double edge = groups > 1 ? 0 : mHalf / m;
      return (1 + edge) / flopPerSecond * 2 * m * n * (k + kHalf) * groups;
    }
    double memory = groups * (m * k * bytes + k * n * bytes + 2 * m * n) / memoryBytesPerSecond;
    return Math.max(math(m, n, k, groups), memory);
  }

  private double math(double m, double n, double k, double groups) {
    double share = groups > 1 ? grouped : 1;
    double saturation = (1 + mHalf / m) / (flopPerSecond * share);
    if (sms <= 0) {
      return saturation * 2 * m * n * (k + kHalf) * groups;
    }
    double best = Double.POSITIVE_INFINITY;
    for (double[] tile : tiles) {
      double r = groups * Math.ceil(m / tile[0]) * Math.ceil(n / tile[1]) / sms;
      double t = waves(r, k) * tile[0] * tile[1] / tile[2];
      if (t < best) {
        best = t;
      }
    }
    return saturation * best * 2 * (k + kHalf) * sms;
  }

  private static double waves(double r, double k) {
    if (r > 4) {
      return .4 * r + .6 * Math.ceil(r);
    }
    if (r > 1) {
      return .15 * r + .85 * Math.ceil(r);
    }
    return k > 2048 ? Math.min(1, Math.max(r / .8, 512 / k)) : 1;
  }
}
