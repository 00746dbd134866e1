package dev.meshplan.estimate;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Precision;
import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.model.Parameters;
import dev.meshplan.plan.CudaGraph;
import dev.meshplan.plan.Dispatcher;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Routing;
import dev.meshplan.plan.Training;

/**
 * Time of one layer, one MTP layer or the head for one micro-batch on one rank.
 *
 * <p>T = tokens of the micro-batch on a context rank; with sequence parallelism a tensor rank works
 * on T / tp of them outside the GEMMs; an expert rank receives T / tp x top_k rows from itself and
 * as many as it sends from the others.
 */
final class LayerTime {
  final Model model;
  final Training training;
  final Gpu gpu;
  final int domain;
  final EraProfile era;
  final StepConstants constants;
  final Links links;
  final Gemm gemm;
  final Gemm gemm16;
  final double memoryBytesPerSecond;

  /** Index in the model's distinct kinds of its last layer. */
  final int lastKind;

  private final double castBytes;
  private final boolean grace;

  /**
   * @param ideal whether GEMMs are lower bounds
   */
  LayerTime(
      Model model,
      Training training,
      Machine machine,
      EraProfile era,
      StepConstants constants,
      Links links,
      boolean ideal) {
    this.model = model;
    this.training = training;
    this.lastKind = model.distinctKinds().indexOf(model.layerKinds().get(model.layerCount() - 1));
    this.gpu = machine.gpu();
    this.domain = machine.system().domain().size();
    this.era = era;
    this.constants = constants;
    this.links = links;
    gemm = new Gemm(gpu, training.precision(), constants.gemms(), ideal);
    gemm16 =
        training.precision().sixteenBit()
            ? gemm
            : new Gemm(
                gpu,
                gpu.supports(Precision.BF16) ? Precision.BF16 : Precision.FP16,
                constants.gemms(),
                ideal);
    memoryBytesPerSecond = gpu.memoryBandwidth() * gpu.efficiency().memory().value();
    castBytes =
        switch (training.precision()) {
          case BF16, FP16 -> 0;
          case FP8 -> constants.gemms().castFp8();
          case MXFP8 -> constants.gemms().castMxfp8();
          case NVFP4 -> constants.gemms().castNvfp4();
        };
    grace = machine.system().host().grace();
  }

  /** Tokens of a micro-batch on one context rank. */
  double tokens(Shape s) {
    return (double) s.microBatch() * training.sequence() / s.cp();
  }

  /** Tokens that norms and residuals of one tensor rank see. */
  double sharedTokens(Shape s) {
    return training.sequenceParallel() ? tokens(s) / s.tp() : tokens(s);
  }

  /** Seconds of one layer. */
  LayerCost layer(LayerKind kind, Shape s) {
    LayerCost c = new LayerCost();
    new Mixer(this, s, c).add(kind.attention());
    // A parallel block adds the partial sums of both halves before one exchange.
    boolean summed = model.parallelBlock() && kind.attention() != null;
    new FeedForwardTime(this, s, c).add(kind.feedForward(), summed);
    norms(kind, s, c);
    Parameters.Layer p = Parameters.layer(model, kind);
    c.denseParameters = p.tensor() / s.tp() + p.replicated();
    c.expertParameters = p.expert() / ((double) s.ep() * s.etp());
    kernels(c, kernelCount(kind));
    c.finish(s.recompute(), host(kind));
    return c;
  }

  /**
   * Seconds of one multi-token-prediction layer without its head.
   *
   * @param last the cost of the model's last layer
   */
  LayerCost mtp(Shape s, LayerCost last) {
    LayerCost c = new LayerCost(last);
    LayerCost p = new LayerCost();
    product(p, s, Part.GEMM, tokens(s), (double) model.hidden() / s.tp(), 2.0 * model.hidden(), 1);
    p.finish(dev.meshplan.plan.Recompute.NONE, 0);
    for (int i = 0; i < Part.COUNT; i++) {
      c.forward[i] += p.forward[i];
      c.backward[i] += p.backward[i];
    }
    c.forwardSeconds += p.forwardSeconds;
    c.backwardSeconds += p.backwardSeconds;
    c.weightCastSeconds += p.weightCastSeconds;
    c.denseParameters += 2.0 * model.hidden() * model.hidden() / s.tp();
    return c;
  }

  /** Seconds of final norm, output head and loss. */
  LayerCost head(Shape s) {
    LayerCost c = new LayerCost();
    double t = tokens(s);
    double v = (double) model.vocabulary() / s.tp();
    double h = model.hidden();
    double f = gemm16.seconds(t, v, h, 1);
    double b = backward(gemm16, s, t, v, h, 1);
    c.add(Part.HEAD, f, b);
    bytes(c, Part.LOSS, t * v, era.lossForwardBytes(), era.lossBackwardBytes());
    bytes(
        c,
        Part.ELEMENTWISE,
        t * h,
        constants.bytes().headForward(),
        constants.bytes().headBackward());
    c.denseParameters = Parameters.head(model) / s.tp() + h * model.norm().vectors();
    c.finish(dev.meshplan.plan.Recompute.NONE, 0);
    return c;
  }

  /** Adds a GEMM of {@code groups} products: forward, both backward products, casts. */
  double product(LayerCost c, Shape s, Part part, double m, double n, double k, double groups) {
    return product(c, s, part, m, n, k, groups, 1);
  }

  /**
   * The same with all of it so many times as long.
   *
   * @return seconds of the forward product
   */
  double product(
      LayerCost c, Shape s, Part part, double m, double n, double k, double groups, double factor) {
    double f = factor * gemm.seconds(m, n, k, groups);
    c.add(part, f, factor * backward(gemm, s, m, n, k, groups));
    if (castBytes > 0) {
      double elements = factor * groups * castBytes / memoryBytesPerSecond;
      c.add(Part.CASTS, 0.7 * m * k * elements, m * n * elements);
      c.weightCastSeconds += groups * constants.gemms().weightCast() * n * k / memoryBytesPerSecond;
    }
    return f;
  }

  private double backward(Gemm g, Shape s, double m, double n, double k, double groups) {
    StepConstants.Gemms x = constants.gemms();
    double b = g.seconds(m, k, n, groups) / x.backward();
    if (training.tuning().adapters()) {
      return b;
    }
    double w = g.seconds(n, k, m, groups) / x.backward();
    double elements = groups * n * k;
    if (s.accumulates()) {
      double per = s.gathersWeights() ? x.shardedGradientBytes() : x.gradientBytes();
      w = Math.max(w, per * elements / memoryBytesPerSecond);
      if (!training.gradientFusion() && era.fusesGradients()) {
        w += x.unfusedGradientBytes() * elements / memoryBytesPerSecond;
      }
    }
    return b + w;
  }

  /** Adds element-wise traffic of the era: bytes per element, forward and backward. */
  void bytes(LayerCost c, Part part, double elements, double forward, double backward) {
    c.add(
        part,
        elements * forward / memoryBytesPerSecond,
        elements * backward / memoryBytesPerSecond);
  }

  private void norms(LayerKind kind, Shape s, LayerCost c) {
    int halves = (kind.attention() != null ? 1 : 0) + (kind.feedForward() != null ? 1 : 0);
    int blocks = model.parallelBlock() ? Math.min(halves, model.normsPerLayer()) : halves;
    double elements = blocks * sharedTokens(s) * model.hidden() * era.elementwise();
    StepConstants.Bytes x = constants.bytes();
    bytes(c, Part.ELEMENTWISE, elements, x.normForward(), x.normBackward());
    c.belongs(Module.LAYERNORM, elements * 4 / memoryBytesPerSecond);
  }

  private static int kernelCount(LayerKind kind) {
    Attention a = kind.attention();
    FeedForward f = kind.feedForward();
    if (a != null && f != null) {
      return f.moe() ? 45 : 22;
    }
    if (a != null) {
      return a.softmax() ? 12 : 14;
    }
    return f.moe() ? 31 : 8;
  }

  private void kernels(LayerCost c, int count) {
    StepConstants.Host x = constants.host();
    double n = count * era.kernels() + (castBytes > 0 ? 8 : 0);
    double gap = x.gapSeconds() * n * (training.cudaGraph() == CudaGraph.FULL ? 0.5 : 1);
    c.add(Part.KERNEL_GAPS, gap, gap * x.backward());
  }

  /** Seconds of CPU that the launches of one layer's forward need. */
  private double host(LayerKind kind) {
    StepConstants.Host x = constants.host();
    boolean both = kind.attention() != null && kind.feedForward() != null;
    double h = both ? x.dense() : x.single();
    double graph = x.partialDense();
    if (kind.moe()) {
      h = training.routing() == Routing.DROP ? x.moe() / 2 : x.moe();
      graph = training.dispatcher() == Dispatcher.DEDUPE ? x.partialMoe() : 1;
    }
    h *= era.host() * (grace ? x.grace() : 1);
    return switch (training.cudaGraph()) {
      case NONE -> h;
      case PARTIAL -> h * graph;
      case FULL -> 0;
    };
  }
}
