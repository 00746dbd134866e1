package dev.meshplan.study;

import dev.meshplan.model.Model;
import dev.meshplan.plan.Axis;
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
      case "tp-overlap" ->
          "Tensor parallel communication/GEMM overlap can happen only when sequence parallelism is"
              + " enabled";
      case "vpp-pipeline" ->
          "pipeline-model-parallel size should be greater than 1 (2 without overlapped p2p"
              + " communication) with interleaved schedule";
      case "expert-overlap" ->
          "If enabling EP A2A overlap, virtual_pipeline_model_parallel_size must be specified when"
              + " pipeline_model_parallel_size > 1";
      case "expert-overlap-recompute" -> "disable full recomputation when enabling EP A2A overlap";
      case "expert-overlap-mtp" ->
          "MTP supports at most one layer when enabling overlap_moe_expert_parallel_comm";
      case "expert-bias" -> "Bias in Moe is only supported when ETP==1";
      default -> "";
    };
  }

  /** What to change where a rule itself tells; empty where its numbers do. */
  static String cure(String rule) {
    return switch (rule) {
      case "tp-overlap" -> "--sequence-parallel";
      case "vpp-pipeline" -> "a deeper pipeline, or no virtual stages";
      case "expert-overlap" -> "--num-virtual-stages-per-pipeline-rank 2";
      case "expert-overlap-mtp" -> "drop --overlap-moe-expert-parallel-comm";
      case "expert-overlap-recompute" ->
          "--recompute-granularity selective --recompute-modules moe_act layernorm";
      default -> "";
    };
  }

  /** An axis as the framework's flag or key. */
  static String axis(Axis axis, Framework framework) {
    return switch (framework) {
      case MEGATRON ->
          switch (axis) {
            case TP -> "--tensor-model-parallel-size";
            case CP -> "--context-parallel-size";
            case PP -> "--pipeline-model-parallel-size";
            case EP -> "--expert-model-parallel-size";
            case ETP -> "--expert-tensor-parallel-size";
            case VPP -> "--num-virtual-stages-per-pipeline-rank";
            case MICRO_BATCH -> "--micro-batch-size";
            default -> axis.key();
          };
      case TORCHTITAN ->
          switch (axis) {
            case TP -> "parallelism.tensor_parallel_degree";
            case CP -> "parallelism.context_parallel_degree";
            case PP -> "parallelism.pipeline_parallel_degree";
            case EP -> "parallelism.expert_parallel_degree";
            case MICRO_BATCH -> "training.local_batch_size";
            default -> axis.key();
          };
      case DEEPSPEED ->
          switch (axis) {
            case TP -> "--tensor-model-parallel-size";
            case CP -> "--ds-sequence-parallel-size";
            case PP -> "--pipeline-model-parallel-size";
            case EP -> "--moe-expert-parallel-size";
            case MICRO_BATCH -> "train_micro_batch_size_per_gpu";
            case SHARDING -> "zero_optimization.stage";
            default -> axis.key();
          };
      case ANY -> axis == Axis.MICRO_BATCH ? "per_device_train_batch_size" : axis.key();
    };
  }
}
