package dev.meshplan.formats;

import dev.meshplan.config.Text;
import dev.meshplan.hardware.Precision;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes a plan as an Accelerate configuration with FSDP2. */
final class AccelerateExporter {
  /** Layer classes of the model families that Accelerate's users train. */
  private static final Map<String, String> LAYERS =
      Map.of(
          "llama", "LlamaDecoderLayer",
          "qwen2", "Qwen2DecoderLayer",
          "qwen3-", "Qwen3DecoderLayer",
          "mistral", "MistralDecoderLayer",
          "mixtral", "MixtralDecoderLayer",
          "gemma-2", "Gemma2DecoderLayer",
          "gpt2", "GPT2Block",
          "gpt-oss", "GptOssDecoderLayer",
          "falcon", "FalconDecoderLayer");

  private AccelerateExporter() {}

  static Export export(Job job) {
    Refusal refusal = refusal(job);
    if (refusal != null) {
      return Export.refusal(Format.ACCELERATE, refusal);
    }
    Segments segments = Segments.of(job);
    if (segments.perNode() == 0) {
      return Export.refusal(
          Format.ACCELERATE,
          new Refusal(
              "Accelerate starts equally many processes on every node, this plan does not",
              "blocks of whole nodes"));
    }
    Dims d = job.dims();
    MemoryPlan memory = job.plan().memory();
    int shard = memory.shardGroup() > 0 ? Math.min(memory.shardGroup(), d.dp()) : d.dp();
    Map<String, Object> fsdp = new LinkedHashMap<>();
    fsdp.put("fsdp_version", 2);
    fsdp.put("fsdp_reshard_after_forward", memory.sharding() == 3);
    fsdp.put("fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
    String layer = layer(job.model().id());
    if (layer != null) {
      fsdp.put("fsdp_transformer_layer_cls_to_wrap", layer);
    }
    fsdp.put("fsdp_offload_params", false);
    fsdp.put("fsdp_state_dict_type", "SHARDED_STATE_DICT");
    fsdp.put("fsdp_cpu_ram_efficient_loading", true);
    fsdp.put("fsdp_activation_checkpointing", memory.recompute().full());
    Map<String, Object> parallel = new LinkedHashMap<>();
    parallel.put("parallelism_config_dp_replicate_size", d.dp() / shard);
    parallel.put("parallelism_config_dp_shard_size", shard);
    parallel.put("parallelism_config_tp_size", d.tp());
    boolean ulysses = job.training().cpKind() == CpKind.ALL_TO_ALL;
    parallel.put("parallelism_config_cp_size", ulysses ? 1 : d.cp());
    if (d.cp() > 1 && ulysses) {
      parallel.put("parallelism_config_sp_size", d.cp());
      parallel.put("parallelism_config_sp_backend", "deepspeed");
    } else if (d.cp() > 1) {
      parallel.put("parallelism_config_cp_comm_strategy", "allgather");
    }
    Map<String, Object> top = new LinkedHashMap<>();
    top.put("compute_environment", "LOCAL_MACHINE");
    top.put("distributed_type", "FSDP");
    top.put("mixed_precision", job.training().precision().key());
    top.put("num_machines", segments.working());
    top.put("num_processes", job.gpus());
    top.put("machine_rank", 0);
    top.put("main_training_function", "main");
    top.put("fsdp_config", fsdp);
    top.put("parallelism_config", parallel);
    List<String> notes =
        List.of(
            "the trainer sets the batch: per_device_train_batch_size "
                + job.plan().batch().microBatch()
                + ", gradient_accumulation_steps "
                + job.plan().batch().gradientAccumulation(),
            "every machine gets its own machine_rank, and main_process_ip of the first",
            layer == null
                ? "name the layer class to wrap with fsdp_transformer_layer_cls_to_wrap"
                : "layers of class " + layer + " are wrapped");
    String text = job.comment(Format.ACCELERATE, notes) + Text.yaml(top);
    return Export.of(Format.ACCELERATE, List.of(new OutputFile("accelerate.yaml", text)), notes);
  }

  private static String layer(String id) {
    return LAYERS.entrySet().stream()
        .filter(e -> id.startsWith(e.getKey()))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElse(null);
  }

  private static Refusal refusal(Job job) {
    Dims d = job.dims();
    MemoryPlan memory = job.plan().memory();
    if (d.pp() > 1) {
      return new Refusal("Accelerate's FSDP has no pipeline", "pp 1");
    }
    if (d.ep() > 1) {
      return new Refusal("Accelerate's FSDP has no expert parallelism", "ep 1");
    }
    if (memory.sharding() < 2 || memory.secondaryGroup() > 0) {
      return new Refusal("FSDP2 shards gradients or weights too", "sharding 2, 3 or hsdp");
    }
    if (memory.optimizerOffload() > 0) {
      return new Refusal("FSDP2 offloads all parameters or none", "no offload");
    }
    Recompute r = memory.recompute();
    if (r.granularity() == Recompute.Granularity.SELECTIVE || (r.full() && r.share() < 1)) {
      return new Refusal("FSDP recomputes every layer or none", "recompute none or full");
    }
    int shard = memory.shardGroup() > 0 ? Math.min(memory.shardGroup(), d.dp()) : d.dp();
    if ((d.tp() > 1 || d.cp() > 1) && d.dp() > shard && shard == 1) {
      return new Refusal("TP or CP beside replicas needs sharding over 2 ranks or more", "hsdp");
    }
    if (job.training().precision() != Precision.BF16
        && job.training().precision() != Precision.FP16
        && job.training().precision() != Precision.FP8) {
      return new Refusal("Accelerate has no " + job.training().precision().key(), "precision bf16");
    }
    return null;
  }
}
