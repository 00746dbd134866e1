package dev.meshplan.study;

import dev.meshplan.model.Model;
import dev.meshplan.plan.Catalog;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A run made complete enough for its memory: a step time needs batch and sequence, memory only how
 * many tokens are in flight. Everything filled in is named as assumed.
 */
final class MemoryRow {
  private static final int USUAL_SEQUENCE = 4096;

  /** Micro-batches per replica that fill any pipeline. */
  private static final int FULL_PIPELINE = 4;

  private MemoryRow() {}

  /**
   * The row with its gaps filled.
   *
   * @throws Unpriced when the row names no layout
   */
  static RunRow fill(RunRow row, Catalog catalog) throws Unpriced {
    if (row.number("gpus") > 1 && !row.has("tp") && !row.has("pp") && !row.has("dp")) {
      throw new Unpriced("parallel layout not given");
    }
    RunRow r = row;
    Model known = known(r.text("model"), catalog);
    if (known == null) {
      known = sibling(r.text("model"), catalog);
      if (known != null) {
        r = r.with("model", known.id());
      }
    }
    if (!r.has("layers") && known != null && r.has("hidden") && r.has("params_total_B")) {
      r = r.with("layers", Integer.toString(layers(r, known)));
    }
    if (!r.has("heads") && known != null && r.number("hidden") == known.hidden()) {
      int heads = known.layerKinds().get(0).attention().heads();
      r = r.with("heads", Integer.toString(heads));
    }
    if (!r.has("seq_len")) {
      int longest = known == null ? 0 : known.maxSequence();
      r =
          r.with(
              "seq_len",
              Integer.toString(longest > 0 && longest < USUAL_SEQUENCE ? longest : USUAL_SEQUENCE));
    }
    if (!r.has("gbs") && r.number("gpus") > 0) {
      int pp = r.has("pp") ? (int) r.number("pp") : 1;
      int shard = pp * (r.has("tp") ? (int) r.number("tp") : 1);
      shard *= r.has("cp") ? (int) r.number("cp") : 1;
      int micro = r.has("mbs") ? (int) r.number("mbs") : 1;
      int replicas = Math.max(1, (int) r.number("gpus") / shard);
      r = r.with("gbs", Integer.toString(replicas * micro * FULL_PIPELINE * pp));
      if (!r.has("mbs")) {
        r = r.with("mbs", "1");
      }
    }
    return r;
  }

  private static Model known(String name, Catalog catalog) {
    String id = catalog.models().id(name);
    if (id == null) {
      id = catalog.models().id(name.toLowerCase(Locale.ROOT).replaceFirst("-(sft|lora)$", ""));
    }
    return id == null ? null : catalog.models().all().get(id);
  }

  /** The first model of the catalog whose name differs only in its size. */
  private static Model sibling(String name, Catalog catalog) {
    String stem = stem(name.toLowerCase(Locale.ROOT));
    List<Model> same = new ArrayList<>();
    for (Model m : catalog.models().all().values()) {
      if (stem(m.id()).equals(stem)) {
        same.add(m);
      }
    }
    return same.isEmpty() ? null : same.get(same.size() - 1);
  }

  private static String stem(String name) {
    return name.replaceFirst("-[0-9.]+[bm]$", "-");
  }

  /**
   * Layers that make up the stated parameters, for a model with plain MLPs of four times hidden.
   */
  private static int layers(RunRow r, Model like) {
    double h = r.number("hidden");
    double vocabulary = r.has("vocab") ? r.number("vocab") : like.vocabulary();
    double embeddings = vocabulary * h * (like.tiedEmbeddings() ? 1 : 2);
    double ffn = r.has("ffn") ? r.number("ffn") : 4 * h;
    double layer = 4 * h * h + like.layerKinds().get(0).feedForward().matrices() * h * ffn;
    return Math.max(
        1, (int) Math.round((r.number("params_total_B") * Quantity.GIGA - embeddings) / layer));
  }
}
