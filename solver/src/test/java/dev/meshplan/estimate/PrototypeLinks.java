package dev.meshplan.estimate;

import dev.meshplan.plan.Dispatcher;
import dev.meshplan.plan.Machine;

/** The closed collectives that the worked examples were computed with. */
final class PrototypeLinks extends Links {
  private final double inside;
  private final double outside;
  private final boolean reducesInSwitch;

  PrototypeLinks(Machine machine, double mostOutside) {
    super(null, false);
    inside = machine.system().domain().bandwidth();
    outside = Math.min(machine.network().perGpuBandwidth(machine.system()), mostOutside);
    reducesInSwitch = machine.gpu().architecture().atLeastHopper();
  }

  @Override
  double allGather(double bytes, int n, int perDomain) {
    return ring(bytes, n, perDomain, n - 1, bytes * (n - 1) / n);
  }

  @Override
  double reduceScatter(double bytes, int n, int perDomain) {
    return ring(bytes, n, perDomain, n - 1, bytes * (n - 1) / n);
  }

  @Override
  double allReduce(double bytes, int n, int perDomain) {
    if (n >= 5 && n <= perDomain && reducesInSwitch) {
      return 45e-6 + bytes * (1 + 1.0 / n) / (0.64 * inside);
    }
    return ring(bytes, n, perDomain, 2 * (n - 1), 2 * bytes * (n - 1) / n);
  }

  private double ring(double bytes, int n, int perDomain, int steps, double wire) {
    if (n <= 1 || bytes <= 0) {
      return 0;
    }
    int g = Math.min(n, perDomain);
    int k = (n + g - 1) / g;
    if (k == 1) {
      return 25e-6 + 1.5e-6 * Math.min(steps, 32) + wire / (0.78 * inside);
    }
    return 30e-6
        + Math.min(14e-6 * (k - 1), 400e-6)
        + wire / Math.min(0.78 * inside, 0.82 * g * outside);
  }

  @Override
  double allToAll(double bytes, int n, int perDomain) {
    if (n <= 1 || bytes <= 0) {
      return 0;
    }
    int g = Math.min(n, perDomain);
    double across = bytes * (n - g) / n / (0.86 * outside);
    double within = bytes * (g - 1) / n / (0.775 * inside);
    return 15e-6 + (n > g ? 25e-6 : 0) + Math.max(across, within);
  }

  @Override
  double exchange(
      Dispatcher dispatcher,
      double tokens,
      double width,
      int topK,
      int n,
      int perDomain,
      int domainLimit,
      double imbalance) {
    if (dispatcher == Dispatcher.NAIVE) {
      return 2 * imbalance * allToAll(2 * tokens * width * topK, n, perDomain);
    }
    int g = Math.min(n, perDomain);
    int k = (n + g - 1) / g;
    double domains = k * (1 - Math.pow(1 - 1.0 / k, topK));
    if (domainLimit > 0) {
      domains = Math.min(domains, domainLimit);
    }
    double ranks = n * (1 - Math.pow(1 - 1.0 / n, topK));
    if (k > 1) {
      ranks = Math.min(ranks, topK);
    }
    double bytes = 2 * tokens * width;
    double across = bytes * domains * (k - 1) / k / (0.95 * outside);
    double within = bytes * ranks * (g - 1) / g / (0.775 * inside);
    return 2 * imbalance * (40e-6 + Math.max(k > 1 ? across : 0, within));
  }

  @Override
  double send(double bytes, boolean crosses) {
    return 15e-6 + bytes / (crosses ? 0.8 * outside : 0.75 * inside);
  }
}
