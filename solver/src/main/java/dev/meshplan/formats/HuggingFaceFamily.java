package dev.meshplan.formats;

import dev.meshplan.model.Attention.QkNorm;
import dev.meshplan.model.Model.Norm;
import dev.meshplan.model.Model.Positions;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a {@code model_type} means where its configuration does not say: defaults of the public
 * modelling classes.
 */
enum HuggingFaceFamily {
  APERTUS("apertus", Norm.RMSNORM, 2, false, false, false, false, QkNorm.HEAD, Positions.ROPE),
  BLOOM("bloom", Norm.LAYERNORM, 2, false, true, true, true, QkNorm.NONE, Positions.ALIBI),
  CHATGLM("chatglm", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  CODEGEN("codegen", Norm.LAYERNORM, 1, false, true, false, false, QkNorm.NONE, Positions.ROPE),
  COHERE(
      "cohere", Norm.LAYERNORM_NO_BIAS, 1, true, false, true, false, QkNorm.NONE, Positions.ROPE),
  COHERE2(
      "cohere2", Norm.LAYERNORM_NO_BIAS, 1, true, false, true, false, QkNorm.NONE, Positions.ROPE),
  DBRX("dbrx", Norm.LAYERNORM_NO_BIAS, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  DEEPSEEK("deepseek", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  DEEPSEEK_V2(
      "deepseek_v2", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  DEEPSEEK_V3(
      "deepseek_v3", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  ERNIE("ernie4_5", Norm.RMSNORM, 2, true, false, true, false, QkNorm.NONE, Positions.ROPE),
  ERNIE_MOE("ernie4_5_moe", Norm.RMSNORM, 2, true, false, true, false, QkNorm.NONE, Positions.ROPE),
  EXAONE("exaone", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  FALCON("falcon", Norm.LAYERNORM, 1, false, false, true, false, QkNorm.NONE, Positions.ROPE),
  GEMMA("gemma", Norm.RMSNORM, 2, true, false, true, false, QkNorm.NONE, Positions.ROPE),
  GEMMA2("gemma2", Norm.RMSNORM, 4, true, false, true, false, QkNorm.NONE, Positions.ROPE),
  GEMMA3("gemma3_text", Norm.RMSNORM, 4, true, false, true, false, QkNorm.HEAD, Positions.ROPE),
  GLM("glm", Norm.RMSNORM, 2, true, false, false, true, QkNorm.NONE, Positions.ROPE),
  GLM4("glm4", Norm.RMSNORM, 4, true, false, false, true, QkNorm.NONE, Positions.ROPE),
  GLM4_MOE("glm4_moe", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  GPT2("gpt2", Norm.LAYERNORM, 2, false, true, true, true, QkNorm.NONE, Positions.LEARNED),
  GPTJ("gptj", Norm.LAYERNORM, 1, false, true, false, false, QkNorm.NONE, Positions.ROPE),
  GPT_BIGCODE(
      "gpt_bigcode", Norm.LAYERNORM, 2, false, true, true, true, QkNorm.NONE, Positions.LEARNED),
  GPT_NEOX("gpt_neox", Norm.LAYERNORM, 2, false, true, false, true, QkNorm.NONE, Positions.ROPE),
  GPT_OSS("gpt_oss", Norm.RMSNORM, 2, true, true, false, true, QkNorm.NONE, Positions.ROPE),
  GRANITE("granite", Norm.RMSNORM, 2, true, false, true, false, QkNorm.NONE, Positions.ROPE),
  GRANITE_MOE("granitemoe", Norm.RMSNORM, 2, true, false, true, false, QkNorm.NONE, Positions.ROPE),
  INTERNLM2("internlm2", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  INTERNLM3("internlm3", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  KIMI_K2("kimi_k2", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  LLAMA("llama", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  LLAMA4("llama4_text", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  MAMBA2("mamba2", Norm.RMSNORM, 1, false, false, false, false, QkNorm.NONE, Positions.NONE),
  MINIMAX_M2(
      "minimax_m2", Norm.RMSNORM, 2, true, false, false, false, QkNorm.WIDTH, Positions.ROPE),
  MISTRAL("mistral", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  MIXTRAL("mixtral", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  MPT("mpt", Norm.LAYERNORM_NO_BIAS, 2, false, false, true, false, QkNorm.NONE, Positions.ALIBI),
  NEMOTRON("nemotron", Norm.LAYERNORM, 2, false, false, false, false, QkNorm.NONE, Positions.ROPE),
  NEMOTRON_H(
      "nemotron_h", Norm.RMSNORM, 1, false, false, false, false, QkNorm.NONE, Positions.NONE),
  NEMOTRON_NAS(
      "nemotron-nas", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  OLMO("olmo", Norm.RMSNORM, 0, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  OLMO2("olmo2", Norm.RMSNORM, 2, true, false, false, false, QkNorm.WIDTH, Positions.ROPE),
  OLMOE("olmoe", Norm.RMSNORM, 2, true, false, false, false, QkNorm.WIDTH, Positions.ROPE),
  OPT("opt", Norm.LAYERNORM, 2, false, true, true, true, QkNorm.NONE, Positions.LEARNED),
  PERSIMMON("persimmon", Norm.LAYERNORM, 2, false, true, false, true, QkNorm.HEAD, Positions.ROPE),
  PHI("phi", Norm.LAYERNORM, 1, false, true, false, true, QkNorm.NONE, Positions.ROPE),
  PHI3("phi3", Norm.RMSNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  PHIMOE("phimoe", Norm.LAYERNORM, 2, true, false, false, true, QkNorm.NONE, Positions.ROPE),
  QWEN("qwen", Norm.RMSNORM, 2, true, false, false, true, QkNorm.NONE, Positions.ROPE),
  QWEN2("qwen2", Norm.RMSNORM, 2, true, false, false, true, QkNorm.NONE, Positions.ROPE),
  QWEN2_MOE("qwen2_moe", Norm.RMSNORM, 2, true, false, false, true, QkNorm.NONE, Positions.ROPE),
  QWEN3("qwen3", Norm.RMSNORM, 2, true, false, false, false, QkNorm.HEAD, Positions.ROPE),
  QWEN3_MOE("qwen3_moe", Norm.RMSNORM, 2, true, false, false, false, QkNorm.HEAD, Positions.ROPE),
  QWEN3_NEXT("qwen3_next", Norm.RMSNORM, 2, true, false, false, false, QkNorm.HEAD, Positions.ROPE),
  SEED_OSS("seed_oss", Norm.RMSNORM, 2, true, false, false, true, QkNorm.NONE, Positions.ROPE),
  SMOLLM3("smollm3", Norm.RMSNORM, 2, true, false, true, false, QkNorm.NONE, Positions.ROPE),
  STABLELM("stablelm", Norm.LAYERNORM, 2, true, false, false, false, QkNorm.NONE, Positions.ROPE),
  STARCODER2("starcoder2", Norm.LAYERNORM, 2, false, true, true, true, QkNorm.NONE, Positions.ROPE);

  /** Language halves of multimodal models, and older names. */
  private static final Map<String, String> ALIASES =
      Map.ofEntries(
          Map.entry("refinedweb", "falcon"),
          Map.entry("refinedwebmodel", "falcon"),
          Map.entry("llama4", "llama4_text"),
          Map.entry("gemma3", "gemma3_text"),
          Map.entry("qwen2_vl", "qwen2"),
          Map.entry("qwen2_vl_text", "qwen2"),
          Map.entry("qwen2_5_vl", "qwen2"),
          Map.entry("qwen2_5_vl_text", "qwen2"),
          Map.entry("qwen3_vl_text", "qwen3"),
          Map.entry("qwen3_vl_moe_text", "qwen3_moe"),
          Map.entry("glm4v_text", "glm4"),
          Map.entry("glm4v_moe_text", "glm4_moe"),
          Map.entry("ministral", "mistral"));

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
    return switch (this) {
      case GPT2, GPT_NEOX, BLOOM, GPT_OSS, GPT_BIGCODE, OPT, PERSIMMON, PHI, PHIMOE, STARCODER2 ->
          true;
      default -> false;
    };
  }

  /** Attention and MLP stand side by side where no key says otherwise. */
  boolean parallelBlock() {
    return switch (this) {
      case CODEGEN, COHERE, COHERE2, FALCON, GPTJ, GPT_NEOX, PHI -> true;
      default -> false;
    };
  }

  /** The width of an expert stands under intermediate_size. */
  boolean expertsInIntermediateSize() {
    return switch (this) {
      case MIXTRAL, MINIMAX_M2, GPT_OSS, LLAMA4, GRANITE_MOE, OLMOE, PHIMOE -> true;
      default -> false;
    };
  }

  /** Alternating windows where no {@code layer_types} says so: every n-th layer is full. */
  int fullAttentionEvery() {
    return this == GEMMA2 ? 2 : this == GEMMA3 ? 6 : this == COHERE2 ? 4 : 0;
  }

  /** The family, or null. */
  static HuggingFaceFamily of(String type) {
    String t = type.toLowerCase(Locale.ROOT);
    String known = ALIASES.getOrDefault(t, t);
    for (HuggingFaceFamily f : values()) {
      if (f.type.equals(known)) {
        return f;
      }
    }
    return null;
  }

  static List<String> types() {
    return java.util.Arrays.stream(values()).map(f -> f.type).toList();
  }
}
