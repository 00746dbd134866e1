package dev.meshplan.study;

import dev.meshplan.config.Errors;
import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerGroup;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Catalog;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The model of a run from its own architecture columns; what they leave out comes from the catalog
 * entry of that name.
 */
final class RunModel {
  private static final int USUAL_VOCABULARY = 51_200;

  private final RunRow row;
  private final Model known;
  private final int usualVocabulary;

  private RunModel(RunRow row, Model known, int usualVocabulary) {
    this.row = row;
    this.known = known;
    this.usualVocabulary = usualVocabulary;
  }

  /**
   * The model of a run.
   *
   * @throws Unpriced when the columns and the catalog together do not describe one
   */
  static Model of(RunRow row, Catalog catalog) throws Unpriced {
    row.check(1, "layers", "hidden", "ffn", "heads", "kv_heads", "vocab", "head_dim");
    row.check(0, "experts", "topk", "moe_ffn", "shared_experts", "moe_shared_ffn");
    row.check(0, "q_lora_rank", "kv_lora_rank", "dense_first_layers", "mtp_layers");
    String name = row.text("model");
    return new RunModel(row, lookUp(name, catalog), seriesVocabulary(name, catalog)).build();
  }

  private static Model lookUp(String name, Catalog catalog) {
    String n = name.replaceFirst("-(sft|lora)$", "");
    for (String candidate : List.of(n, n.toLowerCase(Locale.ROOT))) {
      String id = catalog.models().id(candidate);
      if (id != null) {
        return catalog.models().get(id, new Errors(), message -> {});
      }
    }
    return null;
  }

  /** The vocabulary that all catalog models of the same series share; else the usual one. */
  private static int seriesVocabulary(String name, Catalog catalog) {
    String stem = name.toLowerCase(Locale.ROOT).replaceFirst("[0-9.]+[bmt]?$", "");
    int found = 0;
    for (String id : catalog.models().ids()) {
      if (stem.length() > 3 && id.startsWith(stem)) {
        int v = catalog.models().get(id, new Errors(), message -> {}).vocabulary();
        if (found != 0 && found != v) {
          return USUAL_VOCABULARY;
        }
        found = v;
      }
    }
    return found == 0 ? USUAL_VOCABULARY : found;
  }

  private Model build() throws Unpriced {
    if (row.text("attention").equals("hybrid") || (known != null && hybrid(known))) {
      if (known == null || !hybrid(known) || !same("layers", known.layerCount())) {
        throw new Unpriced(
            "hybrid model whose layer pattern is in neither the row nor the catalog");
      }
      return adjusted(known.layers());
    }
    if (known != null && agrees()) {
      return adjusted(known.layers());
    }
    return adjusted(layers());
  }

  private static boolean hybrid(Model m) {
    return m.distinctKinds().stream()
        .anyMatch(
            k -> k.attention() == null || !k.attention().softmax() || k.feedForward() == null);
  }

  /** Whether every architecture column repeats what the catalog says. */
  private boolean agrees() {
    LayerKind kind = known.layerKinds().get(known.layerCount() - 1);
    Attention a = kind.attention();
    FeedForward f = kind.feedForward();
    return same("layers", known.layerCount())
        && same("hidden", known.hidden())
        && same("heads", a.heads())
        && (a.mla() != null || same("kv_heads", a.kvHeads()))
        && same("head_dim", a.headDim())
        && same("experts", known.experts())
        && (!known.moe() || (same("topk", f.topK()) && same("moe_ffn", f.expertWidth())))
        && (known.moe() || same("ffn", f.width()))
        && (!known.moe() || same("moe_shared_ffn", f.sharedWidth()));
  }

  private boolean same(String column, double value) {
    double v = row.number(column);
    return Double.isNaN(v) || v == value || (v == 0 && value == 0);
  }

  private Model adjusted(List<LayerGroup> layers) throws Unpriced {
    int hidden = required("hidden", known == null ? 0 : known.hidden());
    int vocabulary = (int) row.number("vocab");
    if (!row.has("vocab")) {
      row.assume("vocab");
      vocabulary = known == null ? usualVocabulary : known.vocabulary();
    }
    int mtp = row.has("mtp_layers") ? (int) row.number("mtp_layers") : 0;
    if (known != null) {
      return new Model(
          known.id(),
          List.of(),
          known.family(),
          hidden,
          vocabulary,
          known.tiedEmbeddings(),
          known.positions(),
          known.maxSequence(),
          known.norm(),
          known.normsPerLayer(),
          known.embeddingNorm(),
          known.parallelBlock(),
          layers,
          mtp,
          known.published(),
          "",
          List.of());
    }
    return new Model(
        row.text("model"),
        List.of(),
        "",
        hidden,
        vocabulary,
        false,
        Model.Positions.ROPE,
        0,
        Model.Norm.RMSNORM,
        2,
        false,
        false,
        layers,
        mtp,
        new Model.Published(0, 0, Model.ActiveConvention.ALL, false, ""),
        "",
        List.of());
  }

  private List<LayerGroup> layers() throws Unpriced {
    int count = required("layers", known == null ? 0 : known.layerCount());
    List<Attention> attention = attention();
    FeedForward dense = dense();
    FeedForward moe = row.number("experts") > 0 ? moe() : null;
    int first =
        moe == null
            ? count
            : row.has("dense_first_layers") ? (int) row.number("dense_first_layers") : 0;
    List<LayerGroup> groups = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Attention a = attention.get(i % attention.size());
      FeedForward f = i < first ? dense : moe;
      if (f == null) {
        throw new Unpriced("width of the dense layers not given");
      }
      String name = (a.mla() != null ? "mla" : "attention") + (f.moe() ? " + moe" : " + dense");
      LayerKind kind = new LayerKind(name, a, f);
      LayerGroup last = groups.isEmpty() ? null : groups.get(groups.size() - 1);
      if (attention.size() == 1 && last != null && last.pattern().get(0).equals(kind)) {
        groups.set(groups.size() - 1, new LayerGroup(last.repeat() + 1, last.pattern()));
      } else {
        groups.add(new LayerGroup(1, List.of(kind)));
      }
    }
    return groups;
  }

  private List<Attention> attention() throws Unpriced {
    Attention like =
        known == null ? null : known.layerKinds().get(known.layerCount() - 1).attention();
    int hidden = required("hidden", known == null ? 0 : known.hidden());
    int heads = required("heads", like == null ? 0 : like.heads());
    int headDim = row.has("head_dim") ? (int) row.number("head_dim") : hidden / heads;
    if (headDim < 1) {
      throw new Unpriced("more heads than hidden elements");
    }
    String kind = row.text("attention");
    if (kind.equals("mla") || row.number("kv_lora_rank") > 0) {
      Attention.Mla m = like == null ? null : like.mla();
      int rope = m == null ? Math.min(64, headDim / 2) : m.rope();
      int value = m == null ? headDim - rope : like.valueDim();
      int kv = row.has("kv_lora_rank") ? (int) row.number("kv_lora_rank") : 512;
      int q = row.has("q_lora_rank") ? (int) row.number("q_lora_rank") : 0;
      Attention.Mla mla = new Attention.Mla(q, kv, headDim - rope, rope);
      return List.of(softmax(heads, heads, headDim, value, 0, mla));
    }
    int kv = row.has("kv_heads") ? (int) row.number("kv_heads") : heads;
    Attention full = softmax(heads, kv, headDim, headDim, 0, null);
    if (!kind.equals("window")) {
      return List.of(full);
    }
    List<Attention> pattern = new ArrayList<>();
    if (known != null) {
      for (LayerKind k : known.layers().get(known.layers().size() - 1).pattern()) {
        pattern.add(softmax(heads, kv, headDim, headDim, k.attention().window(), null));
      }
      return pattern;
    }
    row.assume("window");
    return List.of(full);
  }

  private static Attention softmax(
      int heads, int kv, int headDim, int valueDim, int window, Attention.Mla mla) {
    return new Attention(
        mla == null ? Attention.Kind.GQA : Attention.Kind.MLA,
        heads,
        kv,
        headDim,
        valueDim,
        window,
        mla,
        null,
        false,
        false,
        Attention.QkNorm.NONE,
        false,
        true,
        1,
        false);
  }

  private boolean gated() {
    if (!row.has("gated_mlp")) {
      row.assume("gated_mlp");
    }
    return !row.text("gated_mlp").equals("no");
  }

  private FeedForward dense() throws Unpriced {
    double width = row.number("ffn");
    if (Double.isNaN(width)) {
      if (row.number("experts") > 0) {
        return null;
      }
      throw new Unpriced("width of the MLP not given");
    }
    return new FeedForward((int) width, gated(), false, 0, 0, 0, 0, false, 0, 0, 0);
  }

  private FeedForward moe() throws Unpriced {
    FeedForward like =
        known == null || !known.moe()
            ? null
            : known.layerKinds().get(known.layerCount() - 1).feedForward();
    int experts = (int) row.number("experts");
    int topK = required("topk", like == null ? 0 : like.topK());
    int width = required("moe_ffn", like == null ? 0 : like.expertWidth());
    int shared = row.has("moe_shared_ffn") ? (int) row.number("moe_shared_ffn") : 0;
    if (!row.has("moe_shared_ffn") && row.number("shared_experts") > 0) {
      row.assume("moe_shared_ffn");
      shared = (int) (row.number("shared_experts") * width);
    }
    return new FeedForward(
        0,
        gated(),
        like != null && like.bias(),
        experts,
        topK,
        width,
        shared,
        false,
        0,
        like == null ? 0 : like.routerGroups(),
        like == null ? 0 : like.routerTopGroups());
  }

  private int required(String column, int fromCatalog) throws Unpriced {
    double v = row.number(column);
    if (v > 0) {
      return (int) v;
    }
    if (fromCatalog <= 0) {
      throw new Unpriced(column + " not given");
    }
    row.assume(column);
    return fromCatalog;
  }
}
