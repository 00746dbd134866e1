package dev.meshplan.estimate;

import static dev.meshplan.plan.Module.CORE_ATTN;
import static dev.meshplan.plan.Module.LAYERNORM;
import static dev.meshplan.plan.Module.MLA_UP_PROJ;
import static dev.meshplan.plan.Module.MLP;
import static dev.meshplan.plan.Module.MOE;
import static dev.meshplan.plan.Module.MOE_ACT;
import static dev.meshplan.plan.Module.SHARED_EXPERTS;

import dev.meshplan.hardware.Precision;
import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Training;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The tensors that a layer keeps for its backward pass, and the largest ones alive while it runs
 * backward.
 *
 * <p>Legend: S tokens of a rank and micro-batch (b s / c); q = TP where the residual stream is
 * split over it, else 1; t TP; h hidden; a, kv heads; D head width; f, fe, fs widths of MLP, expert
 * and shared experts; w outputs of fc1 per width; E, k experts and top-k; R rows of a rank's
 * experts; F8 bytes of a GEMM input. Source: layer code of Megatron-LM, Transformer Engine and
 * FlashAttention; that the packed QKV output is not kept and that CP copies the attention output
 * was decided on measured dense runs; that the convolution and the chunk states of a scan are
 * recreated is the memory-efficient path of mamba_ssm, which Megatron-LM takes.
 */
final class MemoryItems {
  private final Model model;
  private final Training training;
  private final MemoryOptions options;
  private final double s;
  private final double q;
  private final double t;
  private final double c;
  private final double etp;
  private final double h;
  private final double batch;
  private final double gemmBytes;
  private final double normVectors;
  private final boolean adapters;
  private List<MemoryItem> items = new ArrayList<>();

  MemoryItems(
      Model model,
      Training training,
      MemoryOptions options,
      int tp,
      int cp,
      int etp,
      int microBatch) {
    this.model = model;
    this.training = training;
    this.options = options;
    this.t = tp;
    this.c = cp;
    this.etp = etp;
    this.batch = microBatch;
    this.s = (double) microBatch * training.sequence() / cp;
    this.q = training.sequenceParallel() ? tp : 1;
    this.h = model.hidden();
    this.normVectors = model.norm().vectors();
    this.gemmBytes = gemmBytes(training.precision());
    this.adapters = training.tuning().adapters() && !options.adapters().everywhere();
  }

  /** Bytes of one GEMM input element as kept; mxfp8 carries scales. */
  static double gemmBytes(Precision p) {
    return p == Precision.MXFP8 ? 1.03 : p.bytes();
  }

  /** All items of one layer of a kind, nothing recomputed. */
  List<MemoryItem> of(LayerKind kind) {
    items = new ArrayList<>();
    Attention a = kind.attention();
    if (a != null) {
      add("attention_norm_input", 2 * s * h / q, "2 S h / q");
      add("attention_norm_output", gemmBytes * s * h / q, "F8 S h / q", LAYERNORM);
      add("attention_norm_statistics", 4 * normVectors * s / q, "4 S / q");
      switch (a.kind()) {
        case GQA -> grouped(a);
        case MLA -> latent(a);
        case SSM -> scan(a);
        case LINEAR -> linear(a);
      }
    }
    FeedForward f = kind.feedForward();
    if (f != null) {
      feedForward(f, model.parallelBlock() && a != null);
    }
    return List.copyOf(items);
  }

  /** Rows of a rank's experts per micro-batch. */
  double expertRows(FeedForward f) {
    return s / q * f.topK() * etp * options.expertImbalance();
  }

  private void grouped(Attention a) {
    double kv = Math.max(a.kvHeads() / t, 1) / a.sharedKv();
    add("query", 2 * s * a.heads() * a.headDim() / t, "2 S a D / t");
    add("key_value", 2 * s * kv * (a.headDim() + a.valueDim()), "4 S kv D / t");
    if (a.qkNorm() != Attention.QkNorm.NONE) {
      add("qk_norm_input", 2 * s * (a.heads() / t + kv) * a.headDim(), "2 S (a + kv) D / t");
    }
    core(a);
  }

  private void latent(Attention a) {
    Attention.Mla m = a.mla();
    if (m.qRank() > 0) {
      add("query_latent", (2 + gemmBytes) * s * m.qRank() / q, "(2 + F8) S query rank / q");
    }
    add(
        "key_value_latent",
        ((2 + gemmBytes) * m.kvRank() + 2.0 * (m.kvRank() + m.rope())) * s / q,
        "((2 + F8) kv rank + 2 (kv rank + rope)) S / q");
    double d = a.headDim();
    add("query", 2 * s * a.heads() * d / t, "2 S a (nope + rope) / t", MLA_UP_PROJ);
    add("key", 2 * s * a.heads() * d / t, "2 S a (nope + rope) / t", MLA_UP_PROJ);
    add("value", 2 * s * a.heads() * a.valueDim() / t, "2 S a value width / t", MLA_UP_PROJ);
    core(a);
  }

  private void core(Attention a) {
    double width = a.heads() * (double) a.valueDim() / t;
    add("attention_output", 2 * s * width, "2 S a D / t");
    if (options.unfusedAttention()) {
      double bytes = options.dropout() ? 5 : 2;
      add(
          "attention_probabilities",
          bytes * batch * (training.sequence() / c) * training.sequence() * a.heads() / t,
          "2 b s s / c a / t",
          CORE_ATTN);
    } else {
      add("attention_log_sum_exp", 4 * s * a.heads() / t, "4 S a / t", CORE_ATTN);
    }
    if (c > 1 && training.cpKind() == CpKind.ALL_TO_ALL) {
      add("attention_output_copy", 2 * s * width, "2 S a D / t");
    }
    if (gemmBytes < 2) {
      add("projection_input_fp8", gemmBytes * s * width, "F8 S a D / t");
    }
    if (a.gate()) {
      add("attention_gate", 2 * s * width, "2 S a D / t");
      add("gated_attention_output", gemmBytes * s * width, "F8 S a D / t");
    }
    dropoutMask("attention_dropout_mask");
  }

  private void scan(Attention a) {
    double inner = a.heads() * (double) a.headDim() / t;
    double groups = a.state().groups() * (double) a.state().stateDim();
    double shared = 2 * groups / Math.min(t, a.state().groups());
    add(
        "mixer_projection",
        2 * s * (2 * inner + shared + a.heads() / t),
        "2 S (2 inner + B, C + heads) / t");
    add("scan_output", 4 * s * inner, "4 S inner / t");
    dropoutMask("attention_dropout_mask");
  }

  private void linear(Attention a) {
    double value = a.heads() * (double) a.valueDim() / t;
    double keys = 2.0 * a.state().groups() * a.state().stateDim() / t;
    add(
        "mixer_projection",
        2 * s * (keys + value * (a.gate() ? 2 : 1)),
        "2 S (query, key, value, gate) / t");
    if (a.state().conv() > 0) {
      add("convolution_output", 2 * s * (keys + value), "2 S (query, key, value) / t");
    }
    add("scan_output", 4 * s * value, "4 S value width / t");
    add("chunk_states", 4 * s / 64 * value * a.state().stateDim(), "4 S / 64 value state / t");
    dropoutMask("attention_dropout_mask");
  }

  /** Items of the second half; a parallel one reads what attention keeps. */
  private void feedForward(FeedForward f, boolean parallel) {
    boolean ownNorm = !parallel || model.normsPerLayer() > 1;
    add("mlp_norm_input", parallel ? 0 : 2 * s * h / q, "2 S h / q");
    if (ownNorm && f.moe()) {
      add("mlp_norm_output", 2 * s * h / q, "2 S h / q", LAYERNORM);
    } else if (ownNorm && !adapters) {
      add("mlp_norm_output", gemmBytes * s * h / q, "F8 S h / q", LAYERNORM, MLP);
    }
    add("mlp_norm_statistics", ownNorm ? 4 * normVectors * s / q : 0, "4 S / q");
    if (f.width() > 0) {
      add("fc1_output", 2 * s * f.firstOutputs() * f.width() / t, "2 S w f / t", MLP);
      if (!adapters) {
        add("activation_output", gemmBytes * s * f.width() / t, "F8 S f / t", MLP);
      }
    }
    if (f.moe()) {
      experts(f);
    }
    dropoutMask("mlp_dropout_mask");
  }

  private void experts(FeedForward f) {
    double rows = expertRows(f);
    double width = f.latentWidth() > 0 ? f.latentWidth() : h;
    add("router", s / q * (9.0 * f.experts() + 12 * f.topK()), "S / q (9 E + 12 k)");
    if (!adapters) {
      add("dispatched_tokens", gemmBytes * rows * width, "F8 R h", MOE);
    }
    add("dispatch_maps", 12 * rows, "12 R", MOE);
    add(
        "expert_fc1_output",
        2 * rows * f.firstOutputs() * f.expertWidth() / etp,
        "2 R w fe / etp",
        MOE);
    if (!adapters) {
      add(
          "expert_activation_output",
          gemmBytes * rows * f.expertWidth() / etp,
          "F8 R fe / etp",
          MOE,
          MOE_ACT);
    }
    if (options.probabilitiesAfterExperts()) {
      add("expert_output", 2 * s / q * f.topK() * width, "2 S k h / q", MOE);
    }
    if (f.sharedWidth() > 0) {
      add(
          "shared_fc1_output",
          2 * s * f.firstOutputs() * f.sharedWidth() / t,
          "2 S w fs / t",
          MOE,
          SHARED_EXPERTS);
      add(
          "shared_activation_output",
          gemmBytes * s * f.sharedWidth() / t,
          "F8 S fs / t",
          MOE,
          SHARED_EXPERTS);
    }
  }

  private void dropoutMask(String name) {
    if (options.dropout()) {
      add(name, s * h / q, "S h / q");
    }
  }

  private void add(String name, double bytes, String formula, Module... droppedBy) {
    items.add(new MemoryItem(name, bytes, Set.of(droppedBy), formula));
  }

  /** Bytes alive beyond kept tensors while a layer of the kind runs backward. */
  double backwardBytes(LayerKind kind) {
    double most = 0;
    Attention a = kind.attention();
    if (a != null) {
      double heads = a.heads() / t;
      most =
          switch (a.kind()) {
            case GQA ->
                2
                        * s
                        * (heads * (a.headDim() + a.valueDim())
                            + Math.max(a.kvHeads() / t, 1) * (a.headDim() + a.valueDim()))
                    + 2 * s * h;
            case MLA -> 2 * s * heads * 2 * (a.headDim() + a.valueDim()) + 2 * s * h;
            case SSM -> 8 * s * heads * a.headDim() + 2 * s * h;
            case LINEAR -> 8 * s * heads * a.valueDim() + 2 * s * h;
          };
      if (options.unfusedAttention() && a.softmax()) {
        most += 4 * batch * (training.sequence() / c) * training.sequence() * heads;
      }
    }
    FeedForward f = kind.feedForward();
    if (f != null && f.width() > 0) {
      most = Math.max(most, 2 * s * f.firstOutputs() * f.width() / t + 4 * s * h);
    }
    if (f != null && f.moe()) {
      double width = f.latentWidth() > 0 ? f.latentWidth() : h;
      most =
          Math.max(
              most,
              expertRows(f) * (4 * width + 2.0 * f.matrices() * f.expertWidth() / etp) + 2 * s * h);
    }
    return most;
  }

  double tokens() {
    return s;
  }

  double residualSplit() {
    return q;
  }
}
