package dev.meshplan.formats;

import dev.meshplan.model.Attention.QkNorm;
import dev.meshplan.model.Model.Norm;
import dev.meshplan.model.Model.Positions;
import java.util.List;
import java.util.Locale;

/**
 * What a {@code model_type} means where its configuration does not say: defaults of the public
 * modelling classes.
 */
enum HuggingFaceFamily {
  BLOOM("bloom", Norm.LAYERNORM, 2, false, true, true, true, QkNorm.NONE, Positions.ALIBI),
  CHATGLM("chatglm", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  DEEPSEEK_V2(
      "deepseek_v2", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  DEEPSEEK_V3(
      "deepseek_v3", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  FALCON("falcon", Norm.LAYERNORM, 1, false, false, true, false, QkNorm.NONE, Positions.ROPE),
  GEMMA("gemma", Norm.RMSNORM, 2, true, false, true, false, QkNorm.NONE, Positions.ROPE),
  GEMMA2("gemma2", Norm.RMSNORM, 4, true, false, true, false, QkNorm.NONE, Positions.ROPE),
  GEMMA3("gemma3_text", Norm.RMSNORM, 4, true, false, true, false, QkNorm.HEAD, Positions.ROPE),
  GLM4_MOE("glm4_moe", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  GPT2("gpt2", Norm.LAYERNORM, 2, false, true, true, true, QkNorm.NONE, Positions.LEARNED),
  GPT_NEOX("gpt_neox", Norm.LAYERNORM, 2, false, true, false, true, QkNorm.NONE, Positions.ROPE),
  GPT_OSS("gpt_oss", Norm.RMSNORM, 2, true, true, false, true, QkNorm.NONE, Positions.ROPE),
  KIMI_K2("kimi_k2", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  LLAMA("llama", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  LLAMA4("llama4_text", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  MINIMAX_M2(
      "minimax_m2", Norm.RMSNORM, 2, true, false, false, false, QkNorm.WIDTH, Positions.ROPE),
  MISTRAL("mistral", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  MIXTRAL("mixtral", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  NEMOTRON("nemotron", Norm.LAYERNORM, 2, false, false, false, false, QkNorm.NONE, Positions.ROPE),
  NEMOTRON_H(
      "nemotron_h", Norm.RMSNORM, 1, false, false, false, false, QkNorm.NONE, Positions.NONE),
  NEMOTRON_NAS(
      "nemotron-nas", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  OLMO2("olmo2", Norm.RMSNORM, 2, true, false, false, false, QkNorm.WIDTH, Positions.ROPE),
  PHI3("phi3", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  QWEN2("qwen2", Norm.RMSNORM, 2, true, false, false, true, QkNorm.NONE, Positions.ROPE),
  QWEN2_MOE("qwen2_moe", Norm.RMSNORM, 2, true, false, false, true, QkNorm.NONE, Positions.ROPE),
  QWEN3("qwen3", Norm.RMSNORM, 2, true, false, false, false, QkNorm.HEAD, Positions.ROPE),
  QWEN3_MOE("qwen3_moe", Norm.RMSNORM, 2, true, false, false, false, QkNorm.HEAD, Positions.ROPE);

  /** Value of {@code model_type}. */
  final String type;

  final Norm norm;
  final int norms;
  final boolean gated;

  /** Bias on the MLP (and on the experts). */
  final boolean bias;

  /** Tied embeddings where {@code tie_word_embeddings} is absent. */
  final boolean tied;

  /** Bias on query, key and value. */
  final boolean qkvBias;

  final QkNorm qkNorm;
  final Positions positions;

  HuggingFaceFamily(
      String type,
      Norm norm,
      int norms,
      boolean gated,
      boolean bias,
      boolean tied,
      boolean qkvBias,
      QkNorm qkNorm,
      Positions positions) {
    this.type = type;
    this.norm = norm;
    this.norms = norms;
    this.gated = gated;
    this.bias = bias;
    this.tied = tied;
    this.qkvBias = qkvBias;
    this.qkNorm = qkNorm;
    this.positions = positions;
  }

  /** Output projections have a bias too. */
  boolean outBias() {
    return this == GPT2 || this == GPT_NEOX || this == BLOOM || this == GPT_OSS;
  }

  /** Alternating windows where no {@code layer_types} says so: every n-th layer is full. */
  int fullAttentionEvery() {
    return this == GEMMA2 ? 2 : this == GEMMA3 ? 6 : 0;
  }

  /** The family, or null. */
  static HuggingFaceFamily of(String type) {
    String t = type.toLowerCase(Locale.ROOT);
    if (t.equals("refinedweb") || t.equals("refinedwebmodel")) {
      return FALCON;
    }
    if (t.equals("llama4")) {
      return LLAMA4;
    }
    for (HuggingFaceFamily f : values()) {
      if (f.type.equals(t)) {
        return f;
      }
    }
    return null;
  }

  static List<String> types() {
    return java.util.Arrays.stream(values()).map(f -> f.type).toList();
  }
}
