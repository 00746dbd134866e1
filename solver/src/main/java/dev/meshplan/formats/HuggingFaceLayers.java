package dev.meshplan.formats;

import dev.meshplan.config.Section;
import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerKind;
import java.util.ArrayList;
import java.util.List;

/** The layers that a Hugging Face configuration describes, first to last. */
final class HuggingFaceLayers {
  private final Section s;
  private final HuggingFaceFamily family;
  private final List<String> assumed;
  private final int hidden;
  private final HuggingFaceAttention mixers;
  private final List<String> notes = new ArrayList<>();

  HuggingFaceLayers(Section s, HuggingFaceFamily family, List<String> assumed) {
    this.s = s;
    this.family = family;
    this.assumed = assumed;
    this.hidden = Keys.positive(s, "hidden_size", "n_embd", "n_embed", "d_model");
    this.mixers = new HuggingFaceAttention(s, family, hidden);
  }

  int hidden() {
    return hidden;
  }

  String notes() {
    return String.join(" ", notes);
  }

  boolean newFalcon() {
    return mixers.newFalcon();
  }

  List<LayerKind> kinds() {
    int before = s.errors().size();
    List<LayerKind> kinds =
        switch (family) {
          case NEMOTRON_H -> hybrid();
          case NEMOTRON_NAS -> blocks();
          case MAMBA2 -> HuggingFaceMixers.mamba2(s);
          default -> plain();
        };
    return s.errors().size() > before ? List.of() : kinds;
  }

  private List<LayerKind> plain() {
    int layers = Keys.positive(s, "num_hidden_layers", "n_layer", "num_layers", "n_layers");
    FeedForward dense = dense();
    boolean nested = s.isSection("ffn_config") && family == HuggingFaceFamily.DBRX;
    Section experts = nested ? s.section("ffn_config", true) : s;
    FeedForward moe = new HuggingFaceExperts(experts, family).experts();
    Attention full = mixers.attention(0);
    int window = window();
    Attention windowed = window > 0 ? mixers.attention(window) : full;
    Attention linear =
        family == HuggingFaceFamily.QWEN3_NEXT ? HuggingFaceMixers.gatedDelta(s) : null;
    List<String> types = s.texts("layer_types");
    if (!types.isEmpty() && types.size() != layers) {
      s.error("layer_types", "has " + types.size() + " entries for " + layers + " layers.");
      return List.of();
    }
    List<LayerKind> kinds = new ArrayList<>();
    for (int i = 0; i < layers; i++) {
      String type = types.isEmpty() ? "" : types.get(i);
      boolean delta =
          linear != null
              && (types.isEmpty()
                  ? (i + 1) % Keys.optional(s, 4, "full_attention_interval") != 0
                  : type.equals("linear_attention"));
      boolean w = !delta && window > 0 && (types.isEmpty() ? windowedAt(i) : sliding(type));
      boolean m = moe != null && moeAt(i, layers);
      String attention = delta ? "delta" : full.mla() != null ? "mla" : w ? "window" : "full";
      kinds.add(
          new LayerKind(
              attention + (m ? " + moe" : " + dense"),
              delta ? linear : w ? windowed : full,
              m ? moe : dense));
    }
    if (kinds.stream().anyMatch(k -> !k.moe()) && dense == null) {
      s.error("intermediate_size", "is missing; the dense layers need it.");
    }
    return kinds;
  }

  private boolean sliding(String type) {
    return switch (type) {
      case "sliding_attention" -> true;
      case "full_attention" -> false;
      default -> {
        s.error("layer_types", "names " + type + ", a kind of layer that isn't known here.");
        yield false;
      }
    };
  }

  private boolean windowedAt(int layer) {
    int every = Keys.optional(s, family.fullAttentionEvery(), "sliding_window_pattern");
    return every <= 0 || (layer + 1) % every != 0;
  }

  private int window() {
    if (s.has("attention_chunk_size")) {
      notes.add("Chunked attention is read as full attention.");
    }
    if (!s.flag("use_sliding_window", true)) {
      return 0;
    }
    int window = Keys.optional(s, 0, "sliding_window");
    int max = Keys.optional(s, Integer.MAX_VALUE, "max_position_embeddings");
    if ((family == HuggingFaceFamily.QWEN2 || family == HuggingFaceFamily.QWEN2_MOE)
        && !s.has("use_sliding_window")) {
      return 0;
    }
    return window < max ? window : 0;
  }

  private boolean moeAt(int i, int layers) {
    if (s.has("interleave_moe_layer_step")) {
      return (i + 1) % Keys.positive(s, "interleave_moe_layer_step") == 0;
    }
    if (s.has("mlp_only_layers") && s.integers("mlp_only_layers", 0, layers - 1L).contains(i)) {
      return false;
    }
    if (s.has("decoder_sparse_step")) {
      return (i + 1) % Keys.positive(s, "decoder_sparse_step") == 0;
    }
    int first = Keys.optional(s, 0, "first_k_dense_replace", "moe_layer_start_index");
    int every = s.has("moe_layer_freq") ? Keys.positive(s, "moe_layer_freq") : 1;
    return i >= first && i % every == 0;
  }

  private FeedForward dense() {
    int width =
        Keys.optional(
            s,
            0,
            "intermediate_size_mlp",
            "intermediate_size",
            "ffn_hidden_size",
            "ffn_dim",
            "n_inner");
    if (family == HuggingFaceFamily.QWEN) {
      width /= 2;
    }
    if (s.has("expansion_ratio")) {
      width = Keys.positive(s, "expansion_ratio") * hidden;
    }
    if (s.has("word_embed_proj_dim") && Keys.positive(s, "word_embed_proj_dim") != hidden) {
      s.error("word_embed_proj_dim", "is not hidden_size; projected embeddings aren't known here.");
    }
    if (width == 0) {
      switch (family) {
        case GPT2, FALCON, BLOOM, GPT_BIGCODE, GPTJ, CODEGEN, MPT -> {
          width = 4 * hidden;
          assumed.add("the MLP is 4 x hidden = " + width + " wide, the default of " + family.type);
        }
        default -> {
          return null;
        }
      }
    }
    String key = Keys.present(s, "mlp_bias", "add_bias_linear", "use_bias", "bias");
    boolean bias = key == null ? family.bias : s.flag(key, family.bias);
    return new FeedForward(width, family.gated, bias, 0, 0, 0, 0, false, 0, 0, 0);
  }

  /** Nemotron-H: one mixer per block. M = Mamba-2, * = attention, - = MLP. */
  private List<LayerKind> hybrid() {
    String pattern = s.text("hybrid_override_pattern");
    int layers = Keys.positive(s, "num_hidden_layers");
    if (pattern.length() != layers) {
      s.error(
          "hybrid_override_pattern",
          "has " + pattern.length() + " symbols for " + layers + " layers.");
    }
    if (!s.has("n_groups") || !s.has("conv_kernel")) {
      assumed.add("n_groups 8 and conv_kernel 4, the defaults of nemotron_h");
    }
    Attention.State state =
        new Attention.State(
            Keys.positive(s, "ssm_state_size"),
            Keys.optional(s, 8, "n_groups"),
            Keys.optional(s, 4, "conv_kernel"));
    int mambaHeads = Keys.positive(s, "mamba_num_heads");
    int mambaDim = Keys.positive(s, "mamba_head_dim");
    Attention mamba =
        new Attention(
            Attention.Kind.SSM,
            mambaHeads,
            mambaHeads,
            mambaDim,
            mambaDim,
            0,
            null,
            state,
            false,
            false,
            Attention.QkNorm.NONE,
            false,
            true,
            1,
            false);
    Attention attention = mixers.gqa(mixers.kvHeads(), mixers.headDim(), 0);
    FeedForward mlp = dense();
    List<LayerKind> kinds = new ArrayList<>();
    for (int i = 0; i < pattern.length(); i++) {
      char c = pattern.charAt(i);
      switch (c) {
        case 'M' -> kinds.add(new LayerKind("mamba", mamba, null));
        case '*' -> kinds.add(new LayerKind("attention", attention, null));
        case '-' -> kinds.add(new LayerKind("mlp", null, mlp));
        default -> s.error("hybrid_override_pattern", "has the unknown symbol " + c + ".");
      }
    }
    return kinds;
  }

  /** Puzzle-searched models: every block has its own sizes, and halves may be missing. */
  private List<LayerKind> blocks() {
    List<LayerKind> kinds = new ArrayList<>();
    List<Section> blocks = s.sections("block_configs");
    int layers = Keys.positive(s, "num_hidden_layers");
    if (blocks.size() != layers) {
      s.error("block_configs", "has " + blocks.size() + " blocks for " + layers + " layers.");
    }
    int empty = 0;
    for (Section block : blocks) {
      Attention a = null;
      FeedForward f = null;
      Section as = block.section("attention", true);
      Section fs = block.section("ffn", true);
      for (Section half : java.util.Arrays.asList(as, fs)) {
        if (half != null && half.flag("replace_with_linear", false)) {
          half.error("replace_with_linear", "is not known to the model format.");
        }
      }
      if (as != null && !as.flag("no_op", false)) {
        a =
            mixers.gqa(
                Math.max(1, mixers.heads() / Keys.positive(as, "n_heads_in_group")),
                mixers.headDim(),
                0);
      }
      if (fs != null && !fs.flag("no_op", false)) {
        int raw = (int) (2 * fs.number("ffn_mult", 1e-3, 1e3) * hidden / 3);
        f = new FeedForward((raw + 255) / 256 * 256, true, false, 0, 0, 0, 0, false, 0, 0, 0);
      }
      String an = a == null ? "" : "kv" + a.kvHeads();
      String fn = f == null ? "" : "mlp" + f.width();
      if (a == null && f == null) {
        empty++;
      } else {
        kinds.add(new LayerKind(a != null && f != null ? an + " + " + fn : an + fn, a, f));
      }
    }
    if (empty > 0) {
      notes.add(empty + " blocks do nothing and are left out.");
    }
    return kinds;
  }

  /** One kind of layer in words. */
  static String describe(LayerKind k) {
    StringBuilder s = new StringBuilder();
    Attention a = k.attention();
    if (a != null) {
      s.append(a.kind().key()).append(" with ").append(a.heads()).append(" heads");
      if (a.kind() == Attention.Kind.GQA) {
        s.append(", ").append(a.kvHeads()).append(" KV heads of ").append(a.headDim());
      }
      if (a.window() > 0) {
        s.append(", window ").append(a.window());
      }
    }
    FeedForward f = k.feedForward();
    if (f != null) {
      s.append(a == null ? "" : " and ");
      if (f.moe()) {
        s.append(f.experts()).append(" experts of ").append(f.expertWidth());
        s.append(", ").append(f.topK()).append(" per token");
        s.append(f.sharedWidth() > 0 ? ", shared " + f.sharedWidth() : "");
      } else {
        s.append(f.gated() ? "a gated" : "a").append(" MLP of ").append(f.width());
      }
    }
    return s.toString();
  }
}
