package dev.meshplan.estimate;

import dev.meshplan.plan.Machine;

/** Seconds of collectives on one machine, by group size and members per scale-up domain. */
class Links {
  final double inside;
  final double outside;
  private final boolean reducesInSwitch;

  Links(Machine machine) {
    this(machine, Double.POSITIVE_INFINITY);
  }

  /**
   * @param mostOutside bytes per second and GPU that the software reaches at most between domains
   */
  Links(Machine machine, double mostOutside) {
    inside = machine.system().domain().bandwidth();
    double port = machine.network().perGpuBandwidth(machine.system());
    outside = Math.min(port > 0 ? port : inside, mostOutside);
    reducesInSwitch = machine.gpu().architecture().atLeastHopper();
  }

  /** All-gather or reduce-scatter of a buffer whose full size is given. Seconds. */
  double gather(double bytes, int n, int perDomain) {
    return ring(bytes, n, perDomain, n - 1, bytes * (n - 1) / n);
  }

  /** All-reduce. Seconds. */
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

  /** All-to-all of a buffer per rank. Seconds. */
  double allToAll(double bytes, int n, int perDomain) {
    if (n <= 1 || bytes <= 0) {
      return 0;
    }
    int g = Math.min(n, perDomain);
    double across = bytes * (n - g) / n / (0.86 * outside);
    double within = bytes * (g - 1) / n / (0.775 * inside);
    return 15e-6 + (n > g ? 25e-6 : 0) + Math.max(across, within);
  }

  /**
   * One exchange of expert tokens that sends one copy per destination (DeepEP). Seconds.
   *
   * @param tokens per rank
   * @param tokenBytes of one token
   * @param topK experts per token
   * @param nodeLimit domains a token may reach; 0 = no limit
   */
  double dispatch(double tokens, double tokenBytes, int topK, int n, int perDomain, int nodeLimit) {
    if (n <= 1) {
      return 0;
    }
    int g = Math.min(n, perDomain);
    int k = (n + g - 1) / g;
    double domains = k * (1 - Math.pow(1 - 1.0 / k, topK));
    if (nodeLimit > 0) {
      domains = Math.min(domains, nodeLimit);
    }
    double ranks = n * (1 - Math.pow(1 - 1.0 / n, topK));
    if (k > 1) {
      ranks = Math.min(ranks, topK);
    }
    double across = tokens * tokenBytes * domains * (k - 1) / k / (0.95 * outside);
    double within = tokens * tokenBytes * ranks * (g - 1) / g / (0.775 * inside);
    return 40e-6 + Math.max(k > 1 ? across : 0, within);
  }

  /** A send between neighbouring pipeline stages. Seconds. */
  double send(double bytes, boolean crosses) {
    return 15e-6 + bytes / (crosses ? 0.8 * outside : 0.75 * inside);
  }

  /** Bandwidth of a ring of point-to-point sends, bytes per second. */
  double ringBandwidth(boolean crosses) {
    return crosses ? 0.8 * outside : 0.7 * inside;
  }
}
