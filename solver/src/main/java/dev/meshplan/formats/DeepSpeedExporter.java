package dev.meshplan.formats;

import dev.meshplan.config.Text;
import dev.meshplan.hardware.Precision;
import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Training;
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
    files.add(new OutputFile("ds_config.json", Text.json(e.config())));
    if (e.megatron()) {
      files.add(new OutputFile("train_deepspeed.sh", e.script()));
      notes.add("Megatron-DeepSpeed was last changed in 2025-07: treat it as legacy");
    }
    if (d(job).ep() > 1 && !e.megatron()) {
      notes.add("expert_parallel is AutoEP, which replaces the model's MoE layers");
    }
    notes.add(
        microOnly
            ? "train_batch_size is left out on purpose; it is "
                + job.training().globalBatch()
                + " on "
                + job.gpus()
                + " GPUs"
            : "the batch triple holds on " + job.gpus() + " GPUs only");
    return Export.of(Format.DEEPSPEED, files, notes);
  }

  private static Dims d(Job job) {
    return job.dims();
  }

  /** Tensor and pipeline parallelism come from Megatron-DeepSpeed. */
  boolean megatron() {
    return d.pp() > 1 || d.tp() > 1;
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
    if (d.ep() > 1) {
      Map<String, Object> e = new LinkedHashMap<>();
      e.put("enabled", true);
      e.put("autoep_size", d.ep());
      e.put("preset_model", new DeepSpeedLimits(job).preset());
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

  private String script() {
    Argument.Builder b = new Argument.Builder();
    b.add("--tensor-model-parallel-size", d.tp());
    b.add("--pipeline-model-parallel-size", d.pp());
    b.addIf(d.pp() == 1, "--no-pipeline-parallel");
    b.addIf(d.cp() > 1, "--ds-sequence-parallel-size", d.cp());
    b.add("--zero-stage", memory.sharding());
    FeedForward moe = job.experts();
    if (moe != null) {
      b.add("--num-experts", moe.experts());
      b.add("--topk", moe.topK());
      b.add("--mlp-type", "standard");
      b.add("--moe-expert-parallel-size", d.ep());
      b.add("--create-moe-param-group");
    }
    b.addIf(t.sequenceParallel() && d.tp() > 1, "--sequence-parallel");
    b.add("--micro-batch-size", job.plan().batch().microBatch());
    b.add("--global-batch-size", t.globalBatch());
    b.add(t.precision() == Precision.FP16 ? "--fp16" : "--bf16");
    if (memory.recompute().granularity() == Recompute.Granularity.SELECTIVE) {
      b.add("--recompute-granularity", "selective");
    } else if (memory.recompute().full()) {
      b.add("--deepspeed-activation-checkpointing");
      b.add("--recompute-granularity", "full");
      b.add("--recompute-method", "uniform");
      b.add("--recompute-num-layers", 1);
    }
    b.add("--deepspeed");
    b.add("--deepspeed_config", "ds_config.json");
    List<Argument> model = new ArrayList<>();
    for (Argument a : new MegatronModel(job).arguments()) {
      if (a.flag()
          .matches(
              "--(num-layers|hidden-size|ffn-hidden-size|num-attention-heads|seq-length"
                  + "|max-position-embeddings|swiglu|untie-embeddings-and-output-weights)")) {
        model.add(a);
      }
    }
    Attention a = job.model().layerKinds().get(0).attention();
    if (a != null && a.kvHeads() != a.heads()) {
      model.add(new Argument("--num-key-value-heads", List.of(Integer.toString(a.kvHeads()))));
    }
    return ShellScript.start(job.comment(Format.DEEPSPEED))
        + ShellScript.environment(Map.of("CUDA_DEVICE_MAX_CONNECTIONS", "1"))
        + ShellScript.array("MODEL_ARGS", model)
        + ShellScript.array("PLAN_ARGS", b.list())
        + "exec deepspeed --num_nodes "
        + job.nodes()
        + " --num_gpus "
        + Math.min(job.gpus(), job.gpusPerNode())
        + " ${HOSTFILE:+--hostfile \"$HOSTFILE\"} \\\n"
        + "  \"${MEGATRON_DEEPSPEED_PATH:-.}/pretrain_gpt.py\" \"${MODEL_ARGS[@]}\""
        + " \"${PLAN_ARGS[@]}\" \"$@\"\n";
  }
}
