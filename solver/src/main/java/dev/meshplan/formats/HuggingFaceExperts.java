package dev.meshplan.formats;

import dev.meshplan.config.Section;
import dev.meshplan.model.FeedForward;

/** The mixture of experts that a Hugging Face configuration describes. */
final class HuggingFaceExperts {
  private final Section s;
  private final HuggingFaceFamily family;

  HuggingFaceExperts(Section s, HuggingFaceFamily family) {
    this.s = s;
    this.family = family;
  }

  /** The MoE half of a layer, or null for dense models. */
  FeedForward experts() {
    String key =
        Keys.present(s, "num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts");
    if (key == null || s.integer(key, 0, 1 << 20) <= 1) {
      return null;
    }
    int experts = Keys.positive(s, key);
    int topK =
        Keys.positive(
            s, "num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_top_k", "moe_k");
    if (topK > experts) {
      s.error("num_experts_per_tok", topK + " is more than the " + experts + " experts.");
      return null;
    }
    int width =
        family.expertsInIntermediateSize()
            ? Keys.positive(s, "intermediate_size")
            : Keys.positive(s, "moe_intermediate_size", "ffn_hidden_size");
    boolean sharedGate = false;
    int shared = Keys.optional(s, 0, "n_shared_experts", "moe_num_shared_experts") * width;
    if (s.has("shared_expert_intermediate_size")) {
      shared = Keys.optional(s, 0, "shared_expert_intermediate_size");
      sharedGate = shared > 0;
    }
    if (family == HuggingFaceFamily.LLAMA4) {
      shared = width;
    }
    int groups = Keys.optional(s, 0, "n_group");
    int top = Keys.optional(s, 0, "topk_group");
    boolean grouped = groups > 1;
    return new FeedForward(
        0,
        family.gated,
        s.flag("mlp_bias", family.bias),
        experts,
        topK,
        width,
        shared,
        sharedGate,
        0,
        grouped ? groups : 0,
        grouped ? top : 0);
  }
}
