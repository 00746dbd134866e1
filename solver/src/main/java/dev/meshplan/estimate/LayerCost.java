package dev.meshplan.estimate;

import dev.meshplan.plan.Module;
import dev.meshplan.plan.Recompute;

/**
 * Seconds of one layer (or head) for one micro-batch on one rank, part by part, exposed; for
 * traffic also the seconds its link is busy. Filled once, then only read.
 */
final class LayerCost {
  final double[] forward = new double[Part.COUNT];
  final double[] backward = new double[Part.COUNT];
  final double[] link = new double[Part.COUNT];
  private final double[] module = new double[Module.values().length];

  /** Per step (per micro-batch where weights are gathered): casting weights to low precision. */
  double weightCastSeconds;

  /** Parameters of the layer on one rank. */
  double denseParameters;

  /** Parameters of the layer's routed experts on one rank. */
  double expertParameters;

  double forwardSeconds;
  double backwardSeconds;

  LayerCost() {}

  /** A copy to add to. */
  LayerCost(LayerCost other) {
    System.arraycopy(other.forward, 0, forward, 0, forward.length);
    System.arraycopy(other.backward, 0, backward, 0, backward.length);
    System.arraycopy(other.link, 0, link, 0, link.length);
    System.arraycopy(other.module, 0, module, 0, module.length);
    weightCastSeconds = other.weightCastSeconds;
    denseParameters = other.denseParameters;
    expertParameters = other.expertParameters;
    forwardSeconds = other.forwardSeconds;
    backwardSeconds = other.backwardSeconds;
  }

  void add(Part part, double forwardSeconds, double backwardSeconds) {
    forward[part.ordinal()] += forwardSeconds;
    backward[part.ordinal()] += backwardSeconds;
  }

  void addTraffic(Part part, double link, double forwardSeconds, double backwardSeconds) {
    this.link[part.ordinal()] += link;
    add(part, forwardSeconds, backwardSeconds);
  }

  /** Notes that so many seconds of the forward belong to a module that recompute may drop. */
  void belongs(Module m, double forwardSeconds) {
    module[m.ordinal()] += forwardSeconds;
  }

  double sum(double[] parts) {
    double sum = 0;
    for (double p : parts) {
      sum += p;
    }
    return sum;
  }

  /**
   * Adds recompute and the CPU's launch floor, and sums up.
   *
   * @param hostSeconds seconds the CPU needs to launch the forward; 0 = never limits
   */
  void finish(Recompute recompute, double hostSeconds) {
    double f = sum(forward);
    double again = recompute.full() ? recompute.share() * f : 0;
    if (recompute.granularity() == Recompute.Granularity.SELECTIVE) {
      for (Module m : recompute.modules()) {
        again += module[m.ordinal()];
      }
      again = Math.min(again, f);
    }
    add(Part.RECOMPUTE, 0, again);
    double b = sum(backward);
    double share = recompute.full() ? recompute.share() : 0;
    add(Part.LAUNCH_FLOOR, floor(f, hostSeconds), floor(b, (2 + share) * hostSeconds));
    forwardSeconds = sum(forward);
    backwardSeconds = sum(backward);
  }

  private static double floor(double gpu, double host) {
    if (host <= 0) {
      return 0;
    }
    double a = gpu * gpu;
    double c = host * host;
    return Math.sqrt(Math.sqrt(a * a + c * c)) - gpu;
  }
}
