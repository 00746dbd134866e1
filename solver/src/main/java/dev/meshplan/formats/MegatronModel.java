package dev.meshplan.formats;

import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Stage;
import java.util.ArrayList;
import java.util.List;

/** The shape of a model as Megatron-LM's flags, or why they can't say it. */
final class MegatronModel {
  private final Job job;
  private final Model model;
  private final List<LayerKind> kinds;

  MegatronModel(Job job) {
    this.job = job;
    this.model = job.model();
    this.kinds = model.distinctKinds();
  }

  /** Single-mixer layers: Megatron-LM writes them as a pattern of symbols. */
  boolean hybrid() {
    return kinds.stream().anyMatch(k -> k.attention() == null || k.feedForward() == null);
  }

  /** Why the shape can't be said, or null. */
  Refusal refusal() {
    String bridge = "write the model as a Megatron-Bridge provider";
    List<Attention> mixers = attentions();
    if (mixers.stream().anyMatch(a -> a.kind() == Attention.Kind.LINEAR)) {
      return new Refusal("linear attention layers are not written by this exporter", bridge);
    }
    if (mixers.stream().anyMatch(a -> a.sharedKv() > 1)) {
      return new Refusal("Megatron-LM has no key-value projections shared by layers", bridge);
    }
    if (mixers.stream().anyMatch(a -> !a.causal())) {
      return new Refusal("pretrain_gpt.py trains causal models only", "pretrain a decoder");
    }
    if (model.positions() == Model.Positions.ALIBI) {
      return new Refusal("Megatron-LM has no ALiBi positions", "rope positions, or --to deepspeed");
    }
    if (model.embeddingNorm()) {
      return new Refusal("Megatron-LM has no norm after the embedding", bridge);
    }
    if (model.parallelBlock()) {
      return new Refusal("Megatron-LM has no layers with attention and MLP side by side", bridge);
    }
    if (model.normsPerLayer() > 2 || (model.normsPerLayer() == 1 && !hybrid())) {
      return new Refusal(
          "Megatron-LM's layers have two norms, this model's " + model.normsPerLayer(), bridge);
    }
    if (!hybrid() && (shapes(mixers) > 1 || widths() > 1)) {
      return new Refusal(
          "its layers differ in heads or width, which Megatron-LM's flags can't say", bridge);
    }
    if (kinds.stream().anyMatch(k -> k.moe() && k.feedForward().width() > 0)) {
      return new Refusal("Megatron-LM has no dense MLP beside the experts of a layer", bridge);
    }
    return null;
  }

  private List<Attention> attentions() {
    return kinds.stream().map(LayerKind::attention).filter(a -> a != null).toList();
  }

  private static long shapes(List<Attention> mixers) {
    return mixers.stream()
        .map(a -> List.of(a.kind(), a.heads(), a.kvHeads(), a.headDim(), a.valueDim()))
        .distinct()
        .count();
  }

  private long widths() {
    long dense =
        kinds.stream().filter(k -> !k.moe()).map(k -> k.feedForward().width()).distinct().count();
    long moe =
        kinds.stream()
            .filter(LayerKind::moe)
            .map(k -> k.feedForward().experts() + "/" + k.feedForward().expertWidth())
            .distinct()
            .count();
    return Math.max(dense, moe);
  }

  /** The flags. */
  List<Argument> arguments() {
    Argument.Builder b = new Argument.Builder();
    if (hybrid()) {
      b.add("--hybrid-layer-pattern", pattern());
    } else {
      b.add("--num-layers", model.layerCount());
    }
    b.add("--hidden-size", model.hidden());
    Attention a =
        attentions().stream().filter(Attention::softmax).findFirst().orElse(attentions().get(0));
    b.add("--num-attention-heads", a.heads());
    attention(b, a);
    feedForward(b);
    b.add("--seq-length", job.training().sequence());
    boolean learned = model.positions() == Model.Positions.LEARNED;
    b.add(
        "--max-position-embeddings",
        learned
            ? Math.max(model.maxSequence(), job.training().sequence())
            : job.training().sequence());
    b.add(
        "--position-embedding-type",
        switch (model.positions()) {
          case LEARNED -> "learned_absolute";
          case NONE -> "none";
          default -> "rope";
        });
    b.add("--normalization", model.norm() == Model.Norm.RMSNORM ? "RMSNorm" : "LayerNorm");
    b.addIf(!model.tiedEmbeddings(), "--untie-embeddings-and-output-weights");
    b.addIf(job.mtpLayers() > 0 && !hybrid(), "--mtp-num-layers", job.mtpLayers());
    return b.list();
  }

  private void attention(Argument.Builder b, Attention a) {
    if (a.kind() == Attention.Kind.MLA) {
      b.add("--multi-latent-attention");
      b.addIf(a.mla().qRank() > 0, "--q-lora-rank", a.mla().qRank());
      b.add("--kv-lora-rank", a.mla().kvRank());
      b.add("--qk-head-dim", a.mla().nope());
      b.add("--qk-pos-emb-head-dim", a.mla().rope());
      b.add("--v-head-dim", a.valueDim());
      b.add("--no-rope-fusion");
    } else {
      if (a.kvHeads() != a.heads()) {
        b.add("--group-query-attention");
        b.add("--num-query-groups", a.kvHeads());
      }
      b.add("--kv-channels", a.headDim());
      b.addIf(a.qkNorm() != Attention.QkNorm.NONE, "--qk-layernorm");
      b.addIf(a.sinks(), "--softmax-type", "learnable");
      b.addIf(a.gate(), "--attention-output-gate");
    }
    windows(b);
    boolean linear =
        a.outBias()
            || kinds.stream().anyMatch(k -> k.feedForward() != null && k.feedForward().bias());
    b.addIf(!linear, "--disable-bias-linear");
    b.addIf(!linear && a.qkvBias(), "--add-qkv-bias");
    attentions().stream()
        .filter(m -> m.kind() == Attention.Kind.SSM)
        .findFirst()
        .ifPresent(
            m -> {
              b.add("--mamba-num-heads", m.heads());
              b.add("--mamba-head-dim", m.headDim());
              b.add("--mamba-state-dim", m.state().stateDim());
              b.add("--mamba-num-groups", m.state().groups());
            });
  }

  private void windows(Argument.Builder b) {
    int window = attentions().stream().mapToInt(Attention::window).max().orElse(0);
    if (window == 0) {
      return;
    }
    b.add("--window-size", window + ",0");
    List<Integer> on = new ArrayList<>();
    for (LayerKind k : model.layerKinds()) {
      on.add(k.attention() != null && k.attention().window() > 0 ? 1 : 0);
    }
    if (on.contains(0)) {
      b.add("--window-attn-skip-freq", frequency(on));
    }
  }

  private void feedForward(Argument.Builder b) {
    FeedForward dense =
        kinds.stream()
            .map(LayerKind::feedForward)
            .filter(f -> f != null && !f.moe())
            .findFirst()
            .orElse(null);
    FeedForward moe = job.experts();
    FeedForward any = dense == null ? moe : dense;
    b.add("--ffn-hidden-size", dense != null ? dense.width() : moe.expertWidth());
    b.addIf(any.gated(), "--swiglu");
    if (moe == null) {
      return;
    }
    b.add("--num-experts", moe.experts());
    b.add("--moe-ffn-hidden-size", moe.expertWidth());
    b.add("--moe-router-topk", moe.topK());
    b.addIf(moe.topK() == 1, "--moe-router-pre-softmax");
    if (!hybrid()) {
      List<Integer> on = model.layerKinds().stream().map(k -> k.moe() ? 1 : 0).toList();
      b.addIf(on.contains(0), "--moe-layer-freq", frequency(on));
    }
    b.addIf(moe.sharedWidth() > 0, "--moe-shared-expert-intermediate-size", moe.sharedWidth());
    b.addIf(moe.sharedGate(), "--moe-shared-expert-gate");
    b.addIf(moe.latentWidth() > 0, "--moe-latent-size", moe.latentWidth());
    if (moe.routerGroups() > 0) {
      b.add("--moe-router-num-groups", moe.routerGroups());
      b.add("--moe-router-group-topk", moe.routerTopGroups());
    }
  }

  /** A list of flags as the expression that Megatron-LM evaluates: ([0]*3+[1]*58). */
  static String frequency(List<Integer> on) {
    int period = 1;
    while (period < on.size() && !repeats(on, period)) {
      period++;
    }
    if (period < on.size() && on.size() % period == 0) {
      return "(" + runs(on.subList(0, period)) + ")*" + on.size() / period;
    }
    return "(" + runs(on) + ")";
  }

  private static boolean repeats(List<Integer> on, int period) {
    for (int i = period; i < on.size(); i++) {
      if (!on.get(i).equals(on.get(i - period))) {
        return false;
      }
    }
    return on.size() % period == 0;
  }

  private static String runs(List<Integer> on) {
    StringBuilder s = new StringBuilder();
    int i = 0;
    while (i < on.size()) {
      int j = i;
      while (j < on.size() && on.get(j).equals(on.get(i))) {
        j++;
      }
      s.append(s.length() > 0 ? "+" : "").append('[').append(on.get(i)).append("]*").append(j - i);
      i = j;
    }
    return s.toString();
  }

  /** Symbols of single-mixer layers, stages apart by a bar; MTP layers follow, each by a slash. */
  private String pattern() {
    StringBuilder s = new StringBuilder();
    List<LayerKind> all = model.layerKinds();
    for (Stage stage : job.plan().stages()) {
      s.append(s.length() > 0 ? "|" : "");
      for (int i = stage.firstLayer(); i < stage.firstLayer() + stage.layers(); i++) {
        s.append(symbols(all.get(i)));
      }
    }
    String last = symbols(all.get(all.size() - 1));
    return s.append(("/" + last).repeat(job.mtpLayers())).toString();
  }

  private static String symbols(LayerKind k) {
    String mixer =
        k.attention() == null
            ? ""
            : switch (k.attention().kind()) {
              case SSM -> "M";
              case GQA -> "*";
              case MLA -> "+";
              case LINEAR -> "G";
            };
    return mixer + (k.feedForward() == null ? "" : k.moe() ? "E" : "-");
  }
}
