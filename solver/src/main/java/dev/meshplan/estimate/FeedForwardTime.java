package dev.meshplan.estimate;

import dev.meshplan.model.FeedForward;
import dev.meshplan.plan.CudaGraph;
import dev.meshplan.plan.Era;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Routing;

/** Adds the time of the feed-forward half of a layer: dense MLP, or router, exchange, experts. */
final class FeedForwardTime {
  private final LayerTime time;
  private final Shape s;
  private final LayerCost c;
  private final double tokens;
  private final double hidden;

  FeedForwardTime(LayerTime time, Shape s, LayerCost c) {
    this.time = time;
    this.s = s;
    this.c = c;
    tokens = time.tokens(s);
    hidden = time.model.hidden();
  }

  /**
   * Adds it.
   *
   * @param summed its output joins a sum that is exchanged elsewhere
   */
  void add(FeedForward f, boolean summed) {
    if (f == null) {
      return;
    }
    if (!f.moe()) {
      double t = dense(f, Part.GEMM, Part.ELEMENTWISE, f.width());
      c.belongs(Module.MLP, t);
      if (!summed) {
        Mixer.tensorTraffic(time, s, c, tokens * hidden);
      }
      return;
    }
    double before = c.sum(c.forward);
    double beside = f.width() + f.sharedWidth();
    if (beside > 0) {
      double t = dense(f, Part.SHARED_EXPERTS, Part.SHARED_EXPERTS, beside);
      c.belongs(Module.SHARED_EXPERTS, t);
      Mixer.tensorTraffic(time, s, c, tokens * hidden);
    }
    experts(f);
    c.belongs(Module.MOE, c.sum(c.forward) - before);
  }

  private double dense(FeedForward f, Part gemm, Part activation, double width) {
    double w = width / s.tp();
    double t = time.product(c, s, gemm, tokens, f.firstOutputs() * w, hidden, 1);
    t += time.product(c, s, gemm, tokens, hidden, w, 1);
    return t + activation(f, activation, tokens * w * time.era.elementwise());
  }

  private double activation(FeedForward f, Part part, double elements) {
    StepConstants.Bytes x = time.constants.bytes();
    double forward = f.gated() ? x.gatedForward() : x.plainForward();
    time.bytes(c, part, elements, forward, f.gated() ? x.gatedBackward() : x.plainBackward());
    return elements * forward / time.memoryBytesPerSecond;
  }

  private void experts(FeedForward f) {
    StepConstants.Bytes x = time.constants.bytes();
    double era = time.era.expert();
    double own = tokens / s.tp();
    double routed = own * f.topK();
    double imbalance =
        time.training.routing() == Routing.NATURAL ? time.constants.host().imbalance() : 1;
    double rows = routed * s.etp() * imbalance;
    double local = (double) f.experts() / s.ep();
    double width = (double) f.expertWidth() / s.etp();
    double input = f.latentWidth() > 0 ? f.latentWidth() : hidden;
    double perExpert = rows / local;

    double router = 2 * own * hidden * f.experts();
    double routerSeconds = router / (time.constants.gemms().router() * time.gpu.peak16());
    c.add(Part.ROUTER, routerSeconds, 2 * routerSeconds);
    time.bytes(c, Part.ROUTER, own * f.experts() * era, x.routerForward(), x.routerBackward());

    time.product(c, s, Part.EXPERT_GEMM, perExpert, f.firstOutputs() * width, input, local, era);
    time.product(c, s, Part.EXPERT_GEMM, perExpert, input, width, local, era);
    if (f.latentWidth() > 0) {
      time.product(c, s, Part.EXPERT_GEMM, own, input, hidden, 1, era);
      time.product(c, s, Part.EXPERT_GEMM, own, hidden, input, 1, era);
    }
    double act = activation(f, Part.EXPERT_ACTIVATION, rows * width * time.era.elementwise() * era);
    if (clamped(f)) {
      time.bytes(
          c, Part.EXPERT_ACTIVATION, rows * width * era, x.clampForward(), x.clampBackward());
    }
    c.belongs(Module.MOE_ACT, act);
    double permute = routed * input * era;
    time.bytes(
        c, Part.PERMUTE, permute, x.permuteForward(), x.permuteForward() * x.permuteBackward());
    exchange(f, own, routed, input, imbalance);
  }

  /** Biased gated experts run their clamped activation unfused unless the graph is whole. */
  private boolean clamped(FeedForward f) {
    return f.bias()
        && f.gated()
        && time.training.cudaGraph() != CudaGraph.FULL
        && time.training.era().compareTo(Era.MEGATRON_2025) <= 0;
  }

  private void exchange(FeedForward f, double own, double routed, double input, double imbalance) {
    double both = 0;
    if (s.ep() > 1) {
      both =
          time.links.exchange(
              time.training.dispatcher(),
              own,
              input,
              f.topK(),
              s.ep(),
              s.spread().ep(),
              f.routerTopGroups(),
              imbalance);
    }
    double rows = 2 * routed * s.etp() * input;
    // ETP is the fastest rank axis: it leaves a domain only when it is larger than one.
    int inside = Math.min(s.etp(), time.domain);
    double gather =
        s.etp() > 1
            ? time.links.allGather(rows, s.etp(), inside)
                + time.links.reduceScatter(rows, s.etp(), inside)
            : 0;
    double link = both + gather;
    double shown = time.training.a2aOverlap() ? time.constants.overlap().expert() : 1;
    if (link > 0) {
      c.addTraffic(Part.EXPERT_TRAFFIC, 2 * link, shown * link, shown * link);
    }
  }
}
