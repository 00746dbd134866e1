package dev.meshplan.model;

import dev.meshplan.config.Errors;
import dev.meshplan.config.Names;
import dev.meshplan.config.Section;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads a model file. The keys are described in models/README.md. */
public final class ModelReader {
  private static final int MOST = 1 << 24;

  private ModelReader() {}

  /** The model, or null when {@code s.errors()} got something. */
  public static Model read(Section s) {
    Errors errors = s.errors();
    int before = errors.size();
    String id = s.text("id");
    List<String> aliases = s.texts("aliases");
    String family = s.text("family", "");
    int hidden = (int) s.integer("hidden", 1, MOST);
    int vocabulary = (int) s.integer("vocabulary", 1, MOST);
    boolean tied = s.flag("tied_embeddings", false);
    Model.Positions positions = s.choice("positions", Model.Positions.class, Model.Positions.ROPE);
    int maxSequence = (int) s.integer("max_sequence", 0, 1 << 30, 0);
    Model.Norm norm = s.choice("norm", Model.Norm.class, Model.Norm.RMSNORM);
    int norms = (int) s.integer("norms_per_layer", 0, 8, 2);
    boolean embeddingNorm = s.flag("embedding_norm", false);
    boolean parallelBlock = s.flag("parallel_block", false);
    Map<String, Attention> attention = new LinkedHashMap<>();
    Section as = s.section("attention", false);
    if (as != null) {
      for (String name : as.keys()) {
        Section one = as.section(name, true);
        if (one != null) {
          attention.put(name, attention(one));
        }
      }
    }
    Map<String, FeedForward> feedForward = new LinkedHashMap<>();
    Section fs = s.section("feed_forward", false);
    if (fs != null) {
      for (String name : fs.keys()) {
        Section one = fs.section(name, true);
        if (one != null) {
          feedForward.put(name, feedForward(one));
        }
      }
    }
    List<LayerGroup> layers = layers(s, attention, feedForward);
    int mtp = (int) s.integer("mtp_layers", 0, 64, 0);
    Model.Published published = published(s.section("published", false));
    String notes = s.text("notes", "");
    List<String> sources = s.texts("sources");
    if (sources.isEmpty()) {
      s.error("sources", "must name where the shape is published.");
    }
    s.finish();
    if (errors.size() > before) {
      return null;
    }
    return new Model(
        id,
        aliases,
        family,
        hidden,
        vocabulary,
        tied,
        positions,
        maxSequence,
        norm,
        norms,
        embeddingNorm,
        parallelBlock,
        layers,
        mtp,
        published,
        notes,
        sources);
  }

  private static Attention attention(Section s) {
    Attention.Kind kind = s.choice("kind", Attention.Kind.class, Attention.Kind.GQA);
    int heads = (int) s.integer("heads", 1, MOST);
    int kvHeads = (int) s.integer("kv_heads", 1, MOST, heads);
    Attention.Mla mla = null;
    Attention.State state = null;
    int headDim;
    int valueDim;
    if (kind == Attention.Kind.MLA) {
      mla =
          new Attention.Mla(
              (int) s.integer("q_rank", 0, MOST, 0),
              (int) s.integer("kv_rank", 1, MOST),
              (int) s.integer("nope_dim", 0, MOST),
              (int) s.integer("rope_dim", 0, MOST));
      headDim = mla.nope() + mla.rope();
      valueDim = (int) s.integer("value_dim", 1, MOST);
      kvHeads = heads;
    } else {
      headDim = (int) s.integer("head_dim", 1, MOST);
      valueDim = (int) s.integer("value_dim", 1, MOST, headDim);
    }
    if (kind == Attention.Kind.SSM || kind == Attention.Kind.LINEAR) {
      state =
          new Attention.State(
              (int) s.integer("state_dim", 1, MOST),
              (int) s.integer("groups", 1, MOST),
              (int) s.integer("conv", 0, 64, 0));
    }
    if (kvHeads > 0 && heads % kvHeads != 0 && kind == Attention.Kind.GQA) {
      s.error("kv_heads", "must divide heads (" + heads + ").");
    }
    Attention a =
        new Attention(
            kind,
            heads,
            kvHeads,
            headDim,
            valueDim,
            (int) s.integer("window", 1, 1 << 30, 0),
            mla,
            state,
            s.flag("qkv_bias", false),
            s.flag("out_bias", false),
            s.choice("qk_norm", Attention.QkNorm.class, Attention.QkNorm.NONE),
            s.flag("gate", false),
            s.flag("causal", true),
            (int) s.integer("shared_kv", 1, 64, 1),
            s.flag("sinks", false));
    s.finish();
    return a;
  }

  private static FeedForward feedForward(Section s) {
    int experts = (int) s.integer("experts", 0, 1 << 20, 0);
    int topK = experts > 0 ? (int) s.integer("top_k", 1, experts) : 0;
    FeedForward f =
        new FeedForward(
            (int) s.integer("width", experts > 0 ? 0 : 1, MOST, experts > 0 ? 0 : -1),
            s.flag("gated", true),
            s.flag("bias", false),
            experts,
            topK,
            experts > 0 ? (int) s.integer("expert_width", 1, MOST) : 0,
            (int) s.integer("shared_width", 0, MOST, 0),
            s.flag("shared_gate", false),
            (int) s.integer("latent_width", 0, MOST, 0),
            (int) s.integer("router_groups", 0, 1 << 20, 0),
            (int) s.integer("router_top_groups", 0, 1 << 20, 0));
    if (experts == 0 && !s.has("width")) {
      s.error("width", "is missing: a dense layer needs the width of its MLP.");
    }
    s.finish();
    return f;
  }

  private static List<LayerGroup> layers(
      Section s, Map<String, Attention> attention, Map<String, FeedForward> feedForward) {
    List<LayerGroup> groups = new ArrayList<>();
    List<Section> sections = s.sections("layers");
    if (sections.isEmpty()) {
      s.error("layers", "is missing: list the groups of layers.");
    }
    for (Section g : sections) {
      int repeat = (int) g.integer("repeat", 1, 1 << 16);
      List<LayerKind> pattern = new ArrayList<>();
      List<String> kinds = g.texts("kinds");
      if (kinds.isEmpty()) {
        g.error("kinds", "is missing: name an attention, a feed_forward, or both joined by +.");
      }
      for (String text : kinds) {
        Attention a = null;
        FeedForward f = null;
        for (String part : text.split("\\+", -1)) {
          String name = part.trim();
          if (attention.containsKey(name) && a == null) {
            a = attention.get(name);
          } else if (feedForward.containsKey(name) && f == null) {
            f = feedForward.get(name);
          } else {
            List<String> known = new ArrayList<>(attention.keySet());
            known.addAll(feedForward.keySet());
            g.error(
                "kinds",
                "'"
                    + name
                    + "' is no attention or feed_forward of this file."
                    + Names.hint(name, known)
                    + " Known: "
                    + String.join(", ", known)
                    + ".");
          }
        }
        pattern.add(new LayerKind(text.trim(), a, f));
      }
      g.finish();
      groups.add(new LayerGroup(repeat, pattern));
    }
    return groups;
  }

  private static Model.Published published(Section s) {
    if (s == null) {
      return new Model.Published(0, 0, Model.ActiveConvention.ALL, false, "");
    }
    Model.Published p =
        new Model.Published(
            s.number("total", 0, 1e15, 0),
            s.number("active", 0, 1e15, 0),
            s.choice("active_counts", Model.ActiveConvention.class, Model.ActiveConvention.ALL),
            s.flag("with_mtp", false),
            s.text("mismatch", ""));
    s.finish();
    return p;
  }
}
