package dev.meshplan.optimize;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Precision;
import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Dispatcher;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.LossKernel;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Plan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Stage;
import dev.meshplan.plan.Training;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The device memory of a plan's ranks, written a second time from the published formulas and
 * without the product's estimator: softmax attention, dense and expert MLPs, one kind of stack per
 * framework. Slow and plain on purpose.
 */
final class PlainMemory {
  private static final double GIB = 1L << 30;

  private final Model model;
  private final Training t;
  private final Plan plan;
  private final Dims d;
  private final double tokens;
  private final double q;
  private final double gemm;
  private final double usable;
  private final double scores;
  private final boolean megatron;
  private final boolean deepspeed;

  PlainMemory(Model model, Training training, Plan plan, Gpu gpu) {
    this.model = model;
    this.t = training;
    this.plan = plan;
    this.d = plan.dims();
    this.usable = gpu.usableMemoryBytes().value();
    // Without a fused kernel the scores of attention are stored, two bytes each.
    scores =
        training.unfusedAttention(gpu)
            ? (double) plan.batch().microBatch() * t.sequence() / d.cp() * t.sequence() / d.tp()
            : 0;
    tokens = (double) plan.batch().microBatch() * t.sequence() / d.cp();
    q = t.sequenceParallel() ? d.tp() : 1;
    gemm = t.precision() == Precision.MXFP8 ? 1.03 : t.precision().bytes();
    megatron = t.framework() == Framework.MEGATRON || t.framework() == Framework.ANY;
    deepspeed = t.framework() == Framework.DEEPSPEED;
  }

  /** Reading C of a pipeline rank, bytes. */
  double deviceBytes(int rank) {
    int sharding = plan.memory().sharding();
    boolean first = holds(rank, true);
    boolean last = holds(rank, false);
    List<LayerKind> kinds = model.layerKinds();
    double dense = 0;
    double linear = 0;
    double expert = 0;
    double unit = 0;
    double working = 0;
    double alive = 0;
    Set<String> blocks = new HashSet<>();
    double placeholders = 0;
    int mtp = 0;
    for (Stage s : plan.stages()) {
      if (s.rank() != rank) {
        continue;
      }
      mtp += s.mtpLayers();
      for (int i = 0; i < s.layers() + s.mtpLayers(); i++) {
        boolean extra = i >= s.layers();
        LayerKind k = extra ? kinds.get(kinds.size() - 1) : kinds.get(s.firstLayer() + i);
        double own = tensor(k) / d.tp();
        double more = extra ? 2.0 * model.hidden() * model.hidden() / d.tp() : 0;
        double norms = extra ? 3.0 * model.hidden() * model.norm().vectors() : 0;
        double routed = routed(k) / ((double) d.ep() * d.etp());
        dense += own + more + replicated(k) + norms;
        linear += own + more;
        expert += routed;
        unit = Math.max(unit, own + replicated(k) + routed);
        working = Math.max(working, full(k) - kept(k, true));
        alive = Math.max(alive, backward(k));
        placeholders += placeholders(k, blocks);
      }
    }
    double matrix = Math.ceil(model.vocabulary() / (128.0 * d.tp())) * 128 * model.hidden();
    double positions =
        model.positions() == Model.Positions.LEARNED
            ? (double) model.hidden() * Math.max(1, model.maxSequence())
            : 0;
    if (first) {
      dense += matrix + positions;
      dense += model.embeddingNorm() ? model.norm().vectors() * (double) model.hidden() : 0;
    }
    if (last) {
      dense += model.norm().vectors() * (double) model.hidden();
      dense += model.tiedEmbeddings() && first ? 0 : matrix;
      dense += mtp > 0 && !first && !model.tiedEmbeddings() ? matrix : 0;
      alive = Math.max(alive, head(matrix / model.hidden(), mtp));
    }
    double ds = (double) d.dp() * d.cp();
    if (plan.memory().shardGroup() > 0) {
      ds = Math.min(ds, plan.memory().shardGroup());
    }
    double es = Math.max(1, ds * d.tp() / ((double) d.ep() * d.etp()));
    double all = dense + expert;
    double part = dense / ds + expert / es;
    double g = t.gradientType() == GradientType.FP32 ? 4 : 2;
    boolean whole = !megatron && !deepspeed && sharding == 3;
    double offloaded = 1 - plan.memory().optimizerOffload();
    double states =
        (whole ? 0 : 2 * (sharding == 3 ? part : all))
            + (whole ? 4 : g) * (sharding >= 2 ? part : all)
            + t.optimizerBytes() * offloaded * (sharding >= 1 ? part : all);
    if (!t.precision().sixteenBit() && sharding < 3 && megatron) {
      states += 2 * gemm * (linear + expert);
    }
    if (plan.memory().secondaryGroup() > 0 && sharding == 3) {
      states += 2 * all / plan.memory().secondaryGroup();
    }
    double gather = 0;
    if (sharding == 3) {
      boolean stays = t.framework() == Framework.TORCHTITAN && d.pp() > 1;
      gather =
          deepspeed
              ? 2 * Math.min(1.05e9, all) + 2 * Math.min(1e9, all)
              : stays ? 2 * all + 2 * unit : 6 * unit + (first || last ? 2 * matrix : 0);
    }
    double held = held(rank);
    double a =
        states
            + gather
            + held
            + working
            + alive
            + (megatron && t.gradientFusion() ? placeholders : 0)
            + (d.pp() > 1 ? 4 * tokens * model.hidden() / q : 0)
            + 0.1 * GIB;
    double step = deepspeed && sharding <= 1 ? 4 * offloaded * (sharding == 1 ? part : all) : 0;
    double left = Math.max(0, step - held - working - alive);
    return readings(a + left, step - left);
  }

  private double readings(double a, double cached) {
    double outside = 0.7 * GIB + communicators() * 0.25 * GIB;
    if (megatron && t.tpOverlap() && d.tp() > 1) {
      outside += 8 * tokens * model.hidden();
    }
    if (model.moe() && d.ep() > 1 && t.dispatcher() == Dispatcher.DEDUPE) {
      outside += 2 * GIB;
    }
    boolean fragments = plan.memory().recompute().modules().contains(Module.MOE);
    double loose = cached + (fragments ? 0.15 * a + 0.20 * cached : 0.05 * cached);
    double b = 1.05 * a;
    if (deepspeed) {
      double extra = Math.max(outside, 10.2 * GIB - 0.05 * a);
      double keep = Math.min(cached, Math.max(0, usable - b - extra));
      // Reserved segments hold cached blocks with the same slack as live ones.
      return Math.max(a + keep + 10.2 * GIB, b + 1.05 * keep + outside);
    }
    return b + outside + Math.min(loose, Math.max(0, usable - b - outside));
  }

  private int communicators() {
    return (d.gpus() > 1 ? 1 : 0)
        + (d.dp() * d.cp() > 1 ? 1 : 0)
        + (d.tp() > 1 ? 1 : 0)
        + (d.cp() > 1 ? 1 : 0)
        + (d.ep() > 1 ? 1 : 0)
        + (d.pp() > 1 ? 2 : 0);
  }

  private boolean holds(int rank, boolean embedding) {
    return plan.stages().stream()
        .anyMatch(s -> s.rank() == rank && (embedding ? s.embedding() : s.loss()));
  }

  /** Kept bytes of all chunks at the peak: every forward and backward pass replayed. */
  private double held(int rank) {
    int vpp = d.vpp();
    int m = plan.batch().gradientAccumulation();
    double[] bytes = new double[vpp];
    for (Stage s : plan.stages()) {
      if (s.rank() == rank) {
        double sum = s.embedding() ? 16 * tokens : 0;
        for (int i = 0; i < s.layers(); i++) {
          sum += kept(model.layerKinds().get(s.firstLayer() + i), false);
        }
        LayerKind end = model.layerKinds().get(model.layerCount() - 1);
        sum += s.mtpLayers() * (kept(end, false) + 8 * tokens * model.hidden() / q);
        sum += deepspeed && !s.loss() ? 2 * tokens * model.hidden() / q : 0;
        bytes[s.chunk()] += sum;
      }
    }
    if (d.pp() == 1) {
      double sum = 0;
      for (double b : bytes) {
        sum += b;
      }
      return sum;
    }
    if (vpp == 1) {
      return bytes[0] * Math.min(m, d.pp() - rank);
    }
    int total = m * vpp;
    int[] order = new int[total];
    int at = 0;
    for (int start = 0; start < m; start += d.pp()) {
      for (int chunk = 0; chunk < vpp; chunk++) {
        for (int i = 0; i < Math.min(d.pp(), m - start); i++) {
          order[at++] = chunk;
        }
      }
    }
    int extra = t.a2aOverlap() && model.moe() && d.ep() > 1 ? 1 : 0;
    int warm = Math.min(total, 2 * (d.pp() - rank - 1) + (vpp - 1) * d.pp() + extra);
    double now = 0;
    double most = 0;
    for (int j = 0; j < total; j++) {
      now += bytes[order[j]];
      most = Math.max(most, now);
      if (j >= warm) {
        now -= bytes[vpp - 1 - order[j - warm]];
      }
    }
    return most;
  }

  private double tensor(LayerKind k) {
    Attention a = k.attention();
    double h = model.hidden();
    double sum = 0;
    if (a.mla() != null) {
      Attention.Mla m = a.mla();
      sum += h * a.heads() * a.valueDim() + m.kvRank() * (double) a.heads() * m.nope();
      sum += m.kvRank() * (double) a.heads() * a.valueDim();
      sum += (m.qRank() > 0 ? m.qRank() : h) * a.heads() * (double) a.headDim();
    } else {
      double kv = Math.max(a.kvHeads(), d.tp());
      sum += 2 * h * (a.heads() + kv) * a.headDim();
      sum += a.qkvBias() ? (a.heads() + 2 * kv) * a.headDim() : 0;
    }
    FeedForward f = k.feedForward();
    sum += f.matrices() * h * (f.width() + f.sharedWidth());
    return sum + (f.bias() ? f.firstOutputs() * (double) (f.width() + f.sharedWidth()) : 0);
  }

  private double replicated(LayerKind k) {
    Attention a = k.attention();
    FeedForward f = k.feedForward();
    double h = model.hidden();
    double sum = model.normsPerLayer() * model.norm().vectors() * h + (a.outBias() ? h : 0);
    sum +=
        switch (a.qkNorm()) {
          case HEAD -> 2.0 * a.headDim();
          case WIDTH -> (double) (a.heads() + a.kvHeads()) * a.headDim();
          case NONE -> 0;
        };
    if (a.mla() != null) {
      Attention.Mla m = a.mla();
      sum += h * (m.kvRank() + m.rope()) + m.kvRank() + m.qRank() * h + m.qRank();
    }
    return sum + (f.moe() ? h * f.experts() + (f.sharedGate() ? h : 0) : f.bias() ? h : 0);
  }

  private double routed(LayerKind k) {
    FeedForward f = k.feedForward();
    return f.moe() ? (double) f.experts() * f.matrices() * model.hidden() * f.expertWidth() : 0;
  }

  private double rows(FeedForward f) {
    double balance = t.routing() == dev.meshplan.plan.Routing.NATURAL ? 1.1 : 1;
    return tokens / q * f.topK() * d.etp() * balance;
  }

  private double full(LayerKind k) {
    return item(k, Set.of());
  }

  /** Kept bytes of a layer; {@code all}: as if every layer of its kind were recomputed. */
  private double kept(LayerKind k, boolean all) {
    Recompute r = plan.memory().recompute();
    return switch (r.granularity()) {
      case NONE -> full(k);
      case SELECTIVE -> item(k, Set.copyOf(r.modules()));
      case FULL -> {
        double checkpoint = 2 * tokens * model.hidden() / q;
        yield all ? checkpoint : r.share() * checkpoint + (1 - r.share()) * full(k);
      }
    };
  }

  private double item(LayerKind k, Set<Module> m) {
    Attention a = k.attention();
    FeedForward f = k.feedForward();
    double h = tokens * model.hidden() / q;
    double stats = 4 * model.norm().vectors() * tokens / q;
    double sum = 2 * h + (m.contains(Module.LAYERNORM) ? 0 : gemm * h) + stats;
    double heads = (double) a.heads() / d.tp();
    if (a.mla() != null) {
      Attention.Mla l = a.mla();
      double latent = (2 + gemm) * (l.qRank() + l.kvRank()) + 2.0 * (l.kvRank() + l.rope());
      sum += tokens / q * latent;
      double up = 2 * tokens * heads * (2 * a.headDim() + a.valueDim());
      sum += m.contains(Module.MLA_UP_PROJ) ? 0 : up;
    } else {
      double kv = Math.max((double) a.kvHeads() / d.tp(), 1);
      sum += 2 * tokens * (heads + 2 * kv) * a.headDim();
      sum += a.qkNorm() == Attention.QkNorm.NONE ? 0 : 2 * tokens * (heads + kv) * a.headDim();
    }
    double copies = d.cp() > 1 && t.cpKind() == dev.meshplan.plan.CpKind.ALL_TO_ALL ? 4 : 2;
    sum += copies * tokens * heads * a.valueDim();
    sum += gemm < 2 ? gemm * tokens * heads * a.valueDim() : 0;
    double core = scores > 0 ? 2 * scores * a.heads() : 4 * tokens * heads;
    sum += m.contains(Module.CORE_ATTN) ? 0 : core;
    // Both halves of a parallel block read the same residual, and with one norm the same norm.
    boolean parallel = model.parallelBlock();
    boolean shared = parallel && model.normsPerLayer() == 1;
    sum += (parallel ? 0 : 2 * h) + (shared ? 0 : stats);
    if (!f.moe()) {
      sum += shared || m.contains(Module.LAYERNORM) || m.contains(Module.MLP) ? 0 : gemm * h;
      double mlp = tokens * f.width() / d.tp() * (2 * f.firstOutputs() + gemm);
      return sum + (m.contains(Module.MLP) ? 0 : mlp);
    }
    sum += m.contains(Module.LAYERNORM) ? 0 : 2 * h;
    sum += tokens / q * (9.0 * f.experts() + 12 * f.topK());
    double r = rows(f);
    double fe = f.expertWidth() / (double) d.etp();
    double beside = tokens * f.sharedWidth() / d.tp() * (2 * f.firstOutputs() + gemm);
    if (!m.contains(Module.MOE)) {
      sum += r * (gemm * model.hidden() + 12 + 2 * f.firstOutputs() * fe);
      sum += m.contains(Module.MOE_ACT) ? 0 : r * gemm * fe;
      sum += m.contains(Module.SHARED_EXPERTS) ? 0 : beside;
    }
    return sum;
  }

  private double backward(LayerKind k) {
    Attention a = k.attention();
    FeedForward f = k.feedForward();
    double h = tokens * model.hidden();
    double heads = (double) a.heads() / d.tp();
    double kv = a.mla() != null ? heads : Math.max((double) a.kvHeads() / d.tp(), 1);
    double most = 2 * tokens * (heads + kv) * (a.headDim() + a.valueDim()) + 2 * h;
    most += 4 * scores * a.heads();
    if (f.width() > 0) {
      most = Math.max(most, 2 * tokens * f.firstOutputs() * f.width() / d.tp() + 4 * h);
    }
    if (f.moe()) {
      double wide = 4.0 * model.hidden() + 2.0 * f.matrices() * f.expertWidth() / d.etp();
      most = Math.max(most, rows(f) * wide + 2 * h);
    }
    return most;
  }

  private double head(double vocabulary, int mtp) {
    double l16 = 2 * tokens * vocabulary;
    double h = tokens * model.hidden();
    boolean unsharded = megatron || deepspeed;
    double wh = t.gradientFusion() && unsharded ? 2 * vocabulary * model.hidden() : 0;
    double fused = l16 + wh + 4 * h;
    boolean inPlace = t.lossKernel() == LossKernel.FUSED;
    double copies = t.lossKernel() == LossKernel.PLAIN ? 5 : 3;
    double loss = inPlace ? fused : Math.max(copies * l16, fused);
    return 4 * h / q + loss + mtp * (inPlace ? l16 : 2 * l16);
  }

  /** Bytes of the weight shapes of a layer that no layer before it had. */
  private double placeholders(LayerKind k, Set<String> seen) {
    Attention a = k.attention();
    FeedForward f = k.feedForward();
    double h = model.hidden();
    double heads = (double) a.heads() / d.tp();
    double sum = 0;
    if (a.mla() != null) {
      Attention.Mla m = a.mla();
      sum += m.qRank() > 0 ? once(seen, "a", m.qRank(), h) : 0;
      sum += once(seen, "a", heads * a.headDim(), m.qRank() > 0 ? m.qRank() : h);
      sum += once(seen, "a", m.kvRank() + m.rope(), h);
      sum += once(seen, "a", heads * (m.nope() + a.valueDim()), m.kvRank());
    } else {
      double kv = Math.max((double) a.kvHeads() / d.tp(), 1);
      sum += once(seen, "a", (heads + 2 * kv) * a.headDim(), h);
    }
    sum += once(seen, "a", h, heads * a.valueDim());
    double[] widths = {
      f.width() / (double) d.tp(),
      f.sharedWidth() / (double) d.tp(),
      f.moe() ? f.expertWidth() / (double) d.etp() : 0
    };
    for (int i = 0; i < widths.length; i++) {
      if (widths[i] > 0) {
        sum += once(seen, "f" + i, f.firstOutputs() * widths[i], h);
        sum += once(seen, "f" + i, h, widths[i]);
      }
    }
    return sum;
  }

  private static double once(Set<String> seen, String role, double rows, double columns) {
    return seen.add(role + rows + "x" + columns) ? 2 * rows * columns : 0;
  }
}
