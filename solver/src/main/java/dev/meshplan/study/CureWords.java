package dev.meshplan.study;

import dev.meshplan.plan.Batch;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Recompute;

/** Changes of memory use as flags or keys of a framework. */
record CureWords(Framework framework) {

  String sharding(int level) {
    return switch (framework) {
      case MEGATRON ->
          level < 3
              ? "--use-distributed-optimizer"
              : "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params"
                  + " --ckpt-format fsdp_dtensor";
      case DEEPSPEED -> "zero_optimization.stage " + level;
      case TORCHTITAN -> "parallelism.data_parallel_shard_degree -1";
      case ANY -> "full sharding (FSDP)";
    };
  }

  String microBatch(Batch b) {
    return switch (framework) {
      case MEGATRON -> "--micro-batch-size " + b.microBatch();
      case DEEPSPEED ->
          "train_micro_batch_size_per_gpu "
              + b.microBatch()
              + " with gradient_accumulation_steps "
              + b.gradientAccumulation();
      case TORCHTITAN -> "training.local_batch_size " + b.microBatch();
      case ANY ->
          "per_device_train_batch_size "
              + b.microBatch()
              + " with gradient_accumulation_steps "
              + b.gradientAccumulation();
    };
  }

  /** Recompute; {@code layers} of the fullest stage. */
  String recompute(Recompute r, int layers) {
    return switch (framework) {
      case MEGATRON ->
          r.full()
              ? "--recompute-granularity full --recompute-method "
                  + (r.share() >= 1
                      ? "uniform --recompute-num-layers 1"
                      : "block --recompute-num-layers "
                          + Math.max(1, Math.round(r.share() * layers)))
              : "--recompute-granularity selective --recompute-modules "
                  + String.join(" ", r.modules().stream().map(Module::key).toList());
      case DEEPSPEED -> "activation checkpointing in the model";
      case TORCHTITAN ->
          r.share() >= 1
              ? "activation_checkpoint.mode full"
              : "activation_checkpoint.selective_ac_option " + Math.round(1 / r.share());
      case ANY -> "gradient_checkpointing True";
    };
  }

  /** Whether the framework can keep the optimizer in host memory. */
  boolean offload() {
    return framework == Framework.MEGATRON || framework == Framework.DEEPSPEED;
  }

  String offload(String hostBytes) {
    return (framework == Framework.MEGATRON
            ? "--optimizer-cpu-offload --use-precision-aware-optimizer"
            : "zero_optimization.offload_optimizer.device cpu")
        + ", "
        + hostBytes
        + " of host memory a node";
  }
}
