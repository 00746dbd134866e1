package dev.meshplan.formats;

import dev.meshplan.config.Section;
import dev.meshplan.model.Attention;

/** The attention that a Hugging Face configuration describes. */
final class HuggingFaceAttention {
  private final Section s;
  private final HuggingFaceFamily family;
  private final int hidden;
  private final int heads;

  HuggingFaceAttention(Section s, HuggingFaceFamily family, int hidden) {
    this.s = s;
    this.family = family;
    this.hidden = hidden;
    this.heads =
        family == HuggingFaceFamily.MAMBA2
            ? 1
            : Keys.positive(s, "num_attention_heads", "n_head", "n_heads");
  }

  int heads() {
    return heads;
  }

  /** Falcon's later architecture: several KV heads and two norms beside each other. */
  boolean newFalcon() {
    return family == HuggingFaceFamily.FALCON
        && (s.flag("new_decoder_architecture", false) || s.has("n_head_kv"));
  }

  Attention attention(int window) {
    if (s.has("kv_lora_rank")) {
      int q = Keys.optional(s, 0, "q_lora_rank");
      Attention.Mla mla =
          new Attention.Mla(
              q,
              Keys.positive(s, "kv_lora_rank"),
              Keys.positive(s, "qk_nope_head_dim"),
              Keys.positive(s, "qk_rope_head_dim"));
      return new Attention(
          Attention.Kind.MLA,
          heads,
          heads,
          mla.nope() + mla.rope(),
          Keys.positive(s, "v_head_dim"),
          0,
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
    return gqa(kvHeads(), headDim(), window);
  }

  Attention gqa(int kvHeads, int headDim, int window) {
    String key =
        Keys.present(s, "attention_bias", "add_qkv_bias", "use_qkv_bias", "use_bias", "bias");
    boolean bias = key == null ? family.qkvBias : s.flag(key, family.qkvBias);
    boolean both = family == HuggingFaceFamily.LLAMA || "use_bias".equals(key);
    boolean out = both ? bias : bias && family.outBias();
    Attention.QkNorm norm = family.qkNorm;
    if (s.flag("qk_layernorm", false)) {
      norm = Attention.QkNorm.HEAD;
    }
    if (s.has("use_qk_norm") && family != HuggingFaceFamily.LLAMA4) {
      boolean on = s.flag("use_qk_norm", true);
      norm =
          !on
              ? Attention.QkNorm.NONE
              : norm == Attention.QkNorm.NONE ? Attention.QkNorm.HEAD : norm;
    }
    if (heads % kvHeads != 0) {
      s.error("num_key_value_heads", kvHeads + " does not divide the " + heads + " heads.");
    }
    return new Attention(
        Attention.Kind.GQA,
        heads,
        kvHeads,
        headDim,
        headDim,
        window,
        null,
        null,
        bias,
        out,
        norm,
        family == HuggingFaceFamily.QWEN3_NEXT,
        true,
        1,
        family == HuggingFaceFamily.GPT_OSS);
  }

  int kvHeads() {
    if (family == HuggingFaceFamily.FALCON) {
      if (!newFalcon()) {
        return s.flag("multi_query", true) ? 1 : heads;
      }
      return Keys.optional(s, heads, "num_kv_heads", "n_head_kv");
    }
    if (s.has("multi_query_attention")) {
      return s.flag("multi_query_attention", false)
          ? Keys.positive(s, "multi_query_group_num")
          : heads;
    }
    if (family == HuggingFaceFamily.GPT_BIGCODE) {
      return s.flag("multi_query", true) ? 1 : heads;
    }
    Section nested = s.isSection("attn_config") ? s.section("attn_config", false) : null;
    if (nested != null) {
      boolean one = nested.text("attn_type", "").equals("multiquery_attention");
      return one ? 1 : Keys.optional(nested, heads, "kv_n_heads");
    }
    return Keys.optional(s, heads, "num_key_value_heads");
  }

  int headDim() {
    String key = Keys.present(s, "head_dim", "kv_channels", "attention_head_dim");
    if (key != null) {
      return Keys.positive(s, key);
    }
    if (hidden % heads != 0) {
      s.error(
          "head_dim", "is missing, and " + hidden + " is not a multiple of " + heads + " heads.");
    }
    return Math.max(1, hidden / heads);
  }
}
