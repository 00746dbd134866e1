package dev.meshplan.estimate;

import dev.meshplan.model.Attention;
import dev.meshplan.model.Model;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.Module;

/** Adds the time of a sequence mixer (attention, SSM, linear attention) to a layer. */
final class Mixer {
  private final LayerTime time;
  private final Shape s;
  private final LayerCost c;
  private final double tokens;
  private final double hidden;

  Mixer(LayerTime time, Shape s, LayerCost c) {
    this.time = time;
    this.s = s;
    this.c = c;
    tokens = time.tokens(s);
    hidden = time.model.hidden();
  }

  void add(Attention a) {
    if (a == null) {
      return;
    }
    switch (a.kind()) {
      case GQA -> {
        double heads = (double) a.heads() / s.tp();
        double kv = Math.max(1, (double) a.kvHeads() / s.tp()) / a.sharedKv();
        double out = heads * (a.headDim() + (a.gate() ? a.valueDim() : 0));
        gemm(out + kv * (a.headDim() + a.valueDim()), hidden);
        gemm(hidden, heads * a.valueDim());
        rope(a, kv);
        core(a, kv * (a.headDim() + a.valueDim()));
      }
      case MLA -> {
        latent(a);
        rope(a, (double) a.heads() / s.tp());
        core(a, (double) a.heads() / s.tp() * (a.headDim() + a.valueDim()));
      }
      case SSM -> {
        double inner = (double) a.heads() * a.headDim();
        double bc = 2.0 * a.state().groups() * a.state().stateDim();
        gemm((2 * inner + bc + a.heads()) / s.tp(), hidden);
        gemm(hidden, inner / s.tp());
        scan(inner / s.tp());
      }
      case LINEAR -> {
        double key = (double) a.state().groups() * a.state().stateDim();
        double value = (double) a.heads() * a.valueDim();
        gemm((2 * key + value + (a.gate() ? value : 0) + 2.0 * a.heads()) / s.tp(), hidden);
        gemm(hidden, value / s.tp());
        scan(value / s.tp());
      }
    }
    tensorTraffic(time, s, c, tokens * hidden);
  }

  private double gemm(double n, double k) {
    return time.product(c, s, Part.GEMM, tokens, n, k, 1);
  }

  private void latent(Attention a) {
    Attention.Mla m = a.mla();
    double heads = (double) a.heads() / s.tp();
    double query = heads * (m.nope() + m.rope());
    double up = 0;
    if (m.qRank() > 0) {
      gemm(m.qRank(), hidden);
      up += gemm(query, m.qRank());
    } else {
      gemm(query, hidden);
    }
    gemm(m.kvRank() + m.rope(), hidden);
    up += gemm(heads * (m.nope() + a.valueDim()), m.kvRank());
    gemm(hidden, heads * a.valueDim());
    c.belongs(Module.MLA_UP_PROJ, up);
  }

  private void rope(Attention a, double kv) {
    if (time.model.positions() != Model.Positions.ROPE) {
      return;
    }
    double elements = tokens * ((double) a.heads() / s.tp() + kv) * a.headDim();
    double per = time.constants.bytes().rope();
    time.bytes(c, Part.ELEMENTWISE, elements * time.era.elementwise(), per, per);
  }

  private void scan(double inner) {
    StepConstants.Bytes x = time.constants.bytes();
    time.bytes(c, Part.SCAN, tokens * inner, x.scanForward(), x.scanBackward());
  }

  /** The attention core and the context exchange that it hides. */
  private void core(Attention a, double kvElements) {
    StepConstants.Cores x = time.constants.cores();
    double sequence = time.training.sequence();
    double span = sequence;
    if (time.training.documentTokens() > 0) {
      span = Math.min(span, time.training.documentTokens());
    }
    if (a.window() > 0) {
      span = Math.min(span, 2.0 * a.window());
    }
    double heads = (double) a.heads() / s.tp();
    double flop = 2 * tokens * span * (a.headDim() + a.valueDim()) * heads;
    double peak = time.gpu.peak16();
    double forward;
    double backward;
    if (time.era.attention() == EraProfile.Kernel.UNFUSED
        || time.training.unfusedAttention(time.gpu)) {
      double scores = tokens * sequence * heads / time.memoryBytesPerSecond;
      forward = flop / (x.unfused() * peak) + x.unfusedForwardBytes() * scores;
      backward = 2 * flop / (x.unfused() * peak) + x.unfusedBackwardBytes() * scores;
    } else {
      if (a.causal()) {
        flop /= 2;
      }
      double local = cpKeepsSequence() ? sequence : sequence / s.cp();
      double share =
          kernel()
              * time.era.attentionShare()
              * (a.mla() != null ? x.mla() : Math.min(1, Math.sqrt(a.headDim() / 128.0)))
              * (local / (local + x.halfTokens()))
              * (a.causal() ? x.causal() : 1);
      forward = flop / (peak * share);
      backward = x.backwardFlop() * flop / (x.backward() * peak * share);
    }
    c.add(Part.ATTENTION_CORE, forward, backward);
    c.belongs(Module.CORE_ATTN, forward);
    if (s.cp() > 1) {
      context(a, kvElements, forward, backward);
    }
  }

  private boolean cpKeepsSequence() {
    return s.cp() > 1 && time.training.cpKind() == CpKind.ALL_TO_ALL;
  }

  private double kernel() {
    return time.era.attention() == EraProfile.Kernel.FLASH2
        ? time.gpu.efficiency().attentionFlash2().value()
        : time.gpu.efficiency().attention().value();
  }

  private void context(Attention a, double kvElements, double coreForward, double coreBackward) {
    StepConstants.Overlap x = time.constants.overlap();
    boolean crosses = s.spread().cp() < s.cp();
    double kvBytes = 2 * kvElements * tokens;
    switch (time.training.cpKind()) {
      case P2P -> {
        double t = (s.cp() - 1) * time.links.send(kvBytes, crosses);
        double f = Math.max(0, t - x.contextShare() * coreForward) + x.contextAlways() * t;
        double b = Math.max(0, 2 * t - x.contextShare() * coreBackward) + x.contextAlways() * t;
        c.addTraffic(Part.CONTEXT_TRAFFIC, 3 * t, Math.min(f, t), Math.min(b, 2 * t));
      }
      case ALL_TO_ALL -> {
        double q = 2 * tokens * a.heads() / s.tp() * (a.headDim() + a.valueDim());
        double t = time.links.allToAll(q + kvBytes, s.cp(), s.spread().cp());
        c.addTraffic(Part.CONTEXT_TRAFFIC, 2 * t, t, t);
      }
      case ALL_GATHER -> {
        double t = time.links.allGather(kvBytes * s.cp(), s.cp(), s.spread().cp());
        double r = time.links.reduceScatter(kvBytes * s.cp(), s.cp(), s.spread().cp());
        c.addTraffic(Part.CONTEXT_TRAFFIC, 2 * t + r, t, t + r);
      }
    }
  }

  /** The collectives around one block, for its output of tokens x hidden elements in 16 bit. */
  static void tensorTraffic(LayerTime time, Shape s, LayerCost c, double elements) {
    if (s.tp() <= 1) {
      return;
    }
    double bytes = 2 * elements;
    StepConstants.Overlap x = time.constants.overlap();
    if (time.training.sequenceParallel()) {
      double gather = time.links.allGather(bytes, s.tp(), s.spread().tp());
      double both = gather + time.links.reduceScatter(bytes, s.tp(), s.spread().tp());
      double f = (time.training.tpOverlap() ? x.tensor() : 1) * both;
      c.addTraffic(Part.TENSOR_TRAFFIC, 2 * both + gather, f, f + x.regather() * gather);
    } else {
      double one = time.links.allReduce(bytes, s.tp(), s.spread().tp());
      c.addTraffic(Part.TENSOR_TRAFFIC, 2 * one, one, one);
    }
  }
}
