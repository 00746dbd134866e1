package dev.meshplan.formats;

import dev.meshplan.config.Text;
import dev.meshplan.hardware.Precision;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Training;
import dev.meshplan.rules.DeepSpeedModels;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes a plan as a DeepSpeed configuration, with Megatron-DeepSpeed launch arguments where it has
 * tensor or pipeline parallelism. Top-level keys are a closed list: DeepSpeed ignores unknown ones.
 */
final class DeepSpeedExporter {
  private final Job job;
  private final Dims d;
  private final Training t;
  private final MemoryPlan memory;
  private final boolean microOnly;

  private DeepSpeedExporter(Job job, boolean microOnly) {
    this.job = job;
    this.d = job.dims();
    this.t = job.training();
    this.memory = job.plan().memory();
    this.microOnly = microOnly;
  }

  /**
   * The files.
   *
   * @param microOnly leaves train_batch_size out: needed where the configuration is read before the
   *     processes know each other (zero.Init)
   */
  static Export export(Job job, boolean microOnly) {
    DeepSpeedExporter e = new DeepSpeedExporter(job, microOnly);
    Refusal refusal = new DeepSpeedLimits(job).refusal();
    if (refusal != null) {
      return Export.refusal(Format.DEEPSPEED, refusal);
    }
    List<String> notes = new ArrayList<>();
    List<OutputFile> files = new ArrayList<>();
    if (e.megatron()) {
      notes.add("Megatron-DeepSpeed was last changed in 2025-07: treat it as legacy");
    } else if (!e.preset().isEmpty()) {
      notes.add("expert_parallel is AutoEP, which replaces the model's MoE layers");
    } else if (job.dims().ep() > 1) {
      notes.add(
          "AutoEP has no preset for "
              + job.model().id()
              + ": give ep_size "
              + job.dims().ep()
              + " to the deepspeed.moe.layer.MoE of the model's own code, no key of the JSON does");
    }
    notes.add(
        microOnly
            ? "train_batch_size is left out on purpose; it is "
                + job.training().globalBatch()
                + " on "
                + job.gpus()
                + " GPUs"
            : "the batch triple holds on " + job.gpus() + " GPUs only");
    files.add(new OutputFile("ds_config.json", Text.json(e.config())));
    if (e.megatron()) {
      files.add(
          new OutputFile(MegatronDeepSpeedScript.NAME, MegatronDeepSpeedScript.write(job, notes)));
    }
    return Export.of(Format.DEEPSPEED, files, notes);
  }

  /** Tensor and pipeline parallelism come from Megatron-DeepSpeed. */
  boolean megatron() {
    return d.pp() > 1 || d.tp() > 1;
  }

  /** The AutoEP preset to write; empty where experts stay whole or are Megatron-DeepSpeed's. */
  private String preset() {
    return d.ep() > 1 && !megatron() ? DeepSpeedModels.autoEpPreset(job.model()) : "";
  }

  private Map<String, Object> config() {
    Map<String, Object> c = new LinkedHashMap<>();
    if (!microOnly) {
      c.put("train_batch_size", t.globalBatch());
    }
    c.put("train_micro_batch_size_per_gpu", job.plan().batch().microBatch());
    c.put("gradient_accumulation_steps", job.plan().batch().gradientAccumulation());
    c.put(t.precision() == Precision.FP16 ? "fp16" : "bf16", Map.of("enabled", true));
    if (t.gradientType() == GradientType.FP32) {
      c.put("data_types", Map.of("grad_accum_dtype", "fp32"));
    }
    c.put("zero_optimization", zero());
    c.put("gradient_clipping", 1.0);
    c.put("steps_per_print", 1);
    if (d.cp() > 1 && !megatron()) {
      c.put("sequence_parallel_size", d.cp());
    }
    if (!preset().isEmpty()) {
      Map<String, Object> e = new LinkedHashMap<>();
      e.put("enabled", true);
      e.put("autoep_size", d.ep());
      e.put("preset_model", preset());
      c.put("expert_parallel", e);
    }
    if (memory.recompute().full()) {
      Map<String, Object> a = new LinkedHashMap<>();
      a.put("partition_activations", false);
      a.put("cpu_checkpointing", false);
      c.put("activation_checkpointing", a);
    }
    return c;
  }

  private Map<String, Object> zero() {
    Map<String, Object> z = new LinkedHashMap<>();
    z.put("stage", memory.sharding());
    if (memory.sharding() > 0) {
      z.put("overlap_comm", t.dpOverlap());
      z.put("contiguous_gradients", true);
      z.put("reduce_scatter", true);
    }
    if (memory.sharding() == 3) {
      z.put("stage3_gather_16bit_weights_on_model_save", true);
    }
    if (memory.secondaryGroup() > 0) {
      z.put("zero_hpz_partition_size", memory.secondaryGroup());
    }
    if (memory.shardGroup() > 0) {
      z.put("mics_shard_size", memory.shardGroup());
      z.put("mics_hierarchical_params_gather", true);
    }
    if (memory.optimizerOffload() > 0) {
      Map<String, Object> o = new LinkedHashMap<>();
      o.put("device", "cpu");
      o.put("pin_memory", true);
      if (memory.optimizerOffload() < 1) {
        o.put("ratio", memory.optimizerOffload());
      }
      z.put("offload_optimizer", o);
    }
    return z;
  }
}
