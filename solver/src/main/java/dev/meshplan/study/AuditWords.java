package dev.meshplan.study;

import dev.meshplan.model.Model;
import dev.meshplan.plan.Framework;

/** The words of a framework for the rules that it checks itself. */
final class AuditWords {
  private AuditWords() {}

  /** How the frameworks word the rules that they check. */
  static String says(String rule, Framework framework, Model model) {
    if (framework != Framework.MEGATRON) {
      return "";
    }
    return switch (rule) {
      case "heads" -> "num_attention_heads must be a multiple of tensor_model_parallel_size";
      case "kv-groups" ->
          "num_query_groups must be a multiple or divisor of tensor_model_parallel_size";
      case "batch-product" ->
          "eval_global_batch_size (or global batch size) is not divisible by micro batch size times"
              + " data parallel size";
      case "sequence-cp" -> "seq-length should be a multiple of 2 * context-parallel-size";
      case "experts" ->
          model.moe()
              ? "Number of experts should be a multiple of expert model parallel_size"
              : "num_experts must be non None to use expert model parallelism";
      case "expert-grid" ->
          "world_size is not divisible by expert_tensor_model_pipeline_parallel size";
      case "expert-bias" -> "Bias in Moe is only supported when ETP==1";
      default -> "";
    };
  }
}
