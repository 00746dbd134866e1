package dev.meshplan.formats;

import dev.meshplan.hardware.Precision;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes a plan as overrides of a Megatron-Bridge recipe. */
final class MegatronBridgeExporter {
  /** Our model ids and the recipe families that exist for them. */
  static final Map<String, String> RECIPES =
      Map.ofEntries(
          Map.entry("llama-3.1-8b", "llama31_8b_pretrain_config"),
          Map.entry("llama-3.1-70b", "llama31_70b_pretrain_config"),
          Map.entry("llama-3.1-405b", "llama31_405b_pretrain_config"),
          Map.entry("deepseek-v3", "deepseek_v3_pretrain_config"),
          Map.entry("qwen3-32b", "qwen3_32b_pretrain_config"),
          Map.entry("qwen3-30b-a3b", "qwen3_30b_a3b_pretrain_config"),
          Map.entry("qwen3-235b-a22b", "qwen3_235b_a22b_pretrain_config"),
          Map.entry("gpt-oss-120b", "gpt_oss_120b_pretrain_config"),
          Map.entry("gpt-oss-20b", "gpt_oss_20b_pretrain_config"),
          Map.entry("nemotron-h-56b", "nemotronh_56b_pretrain_config"));

  /** Megatron-LM flag to recipe key; flags without an entry follow the general rule. */
  static final Map<String, String> KEYS =
      Map.ofEntries(
          Map.entry("--tensor-model-parallel-size", "model.tensor_model_parallel_size"),
          Map.entry("--micro-batch-size", "train.micro_batch_size"),
          Map.entry("--global-batch-size", "train.global_batch_size"),
          Map.entry(
              "--decoder-first-pipeline-num-layers", "model.num_layers_in_first_pipeline_stage"),
          Map.entry(
              "--decoder-last-pipeline-num-layers", "model.num_layers_in_last_pipeline_stage"),
          Map.entry(
              "--num-virtual-stages-per-pipeline-rank",
              "model.virtual_pipeline_model_parallel_size"),
          Map.entry("--tp-comm-overlap", "comm_overlap.tp_comm_overlap"),
          Map.entry("--overlap-grad-reduce", "comm_overlap.overlap_grad_reduce"),
          Map.entry("--overlap-param-gather", "comm_overlap.overlap_param_gather"),
          Map.entry(
              "--overlap-moe-expert-parallel-comm",
              "comm_overlap.overlap_moe_expert_parallel_comm"),
          Map.entry("--use-distributed-optimizer", "ddp.use_distributed_optimizer"),
          Map.entry("--use-megatron-fsdp", "ddp.use_megatron_fsdp"),
          Map.entry("--data-parallel-sharding-strategy", "ddp.data_parallel_sharding_strategy"),
          Map.entry(
              "--num-distributed-optimizer-instances", "ddp.num_distributed_optimizer_instances"),
          Map.entry("--ckpt-format", "checkpoint.ckpt_format"),
          Map.entry("--use-precision-aware-optimizer", "optimizer.use_precision_aware_optimizer"),
          Map.entry("--exp-avg-dtype", "optimizer.exp_avg_dtype"),
          Map.entry("--exp-avg-sq-dtype", "optimizer.exp_avg_sq_dtype"),
          Map.entry("--optimizer-cpu-offload", "optimizer.optimizer_cpu_offload"),
          Map.entry("--optimizer-offload-fraction", "optimizer.optimizer_offload_fraction"));

  /** Flags whose meaning a mixed-precision recipe or a default carries. */
  private static final List<String> CARRIED =
      List.of(
          "--bf16",
          "--fp16",
          "--fp8-format",
          "--fp8-recipe",
          "--fp8-param-gather",
          "--fp4-format",
          "--fp4-recipe",
          "--reuse-grad-buf-for-mxfp8-param-ag",
          "--transformer-impl",
          "--no-check-for-nan-in-loss-and-grad");

  private MegatronBridgeExporter() {}

  /** Why no provider can build the plan; null when one can. */
  private static Refusal refusal(MegatronArguments plan) {
    Refusal refusal = plan.refusal();
    return refusal == null || refusal.nearest().contains("egatron-") ? null : refusal;
  }

  /** A refusal without looking at what would be written; null when something would. */
  static Export refused(Job job) {
    Refusal refusal = refusal(new MegatronArguments(job));
    return refusal == null ? null : Export.refusal(Format.MEGATRON_BRIDGE, refusal);
  }

  static Export export(Job job) {
    MegatronArguments plan = new MegatronArguments(job);
    Refusal refusal = refusal(plan);
    if (refusal != null) {
      return Export.refusal(Format.MEGATRON_BRIDGE, refusal);
    }
    Map<String, String> overrides = overrides(job, plan.arguments());
    List<String> notes = new ArrayList<>(plan.notes());
    String recipe = RECIPES.get(job.model().id());
    if (recipe == null) {
      notes.add(
          "no recipe of Megatron-Bridge is known for "
              + job.model().id()
              + ": set RECIPE to one that builds this shape");
    }
    StringBuilder s =
        new StringBuilder(ShellScript.start(job.comment(Format.MEGATRON_BRIDGE, notes)));
    s.append(ShellScript.environment(plan.environment()));
    s.append("cd \"${BRIDGE_PATH:-.}\"\n\n");
    s.append("RECIPE=\"${RECIPE:-").append(recipe == null ? "" : recipe).append("}\"\n");
    s.append(": \"${RECIPE:?name a recipe}\"\n\nOVERRIDES=(\n");
    overrides.forEach((k, v) -> s.append("  ").append(Quoting.shell(k + "=" + v)).append('\n'));
    s.append(")\n\n");
    s.append(
        ShellScript.launch(
            job,
            "scripts/training/run_recipe.py",
            "--recipe \"$RECIPE\" --mode pretrain --dataset mock \"${OVERRIDES[@]}\""));
    return Export.of(
        Format.MEGATRON_BRIDGE, List.of(new OutputFile("bridge.sh", s.toString())), notes);
  }

  private static Map<String, String> overrides(Job job, List<Argument> arguments) {
    Map<String, String> map = new LinkedHashMap<>();
    for (Argument a : arguments) {
      String flag = a.flag();
      if (CARRIED.contains(flag)) {
        continue;
      }
      switch (flag) {
        case "--grad-reduce-in-bf16" -> map.put("ddp.grad_reduce_in_fp32", "false");
        case "--accumulate-allreduce-grads-in-fp32" -> map.put("ddp.grad_reduce_in_fp32", "true");
        case "--no-gradient-accumulation-fusion" ->
            map.put("model.gradient_accumulation_fusion", "false");
        case "--no-overlap-p2p-communication" -> map.put("model.overlap_p2p_comm", "false");
        case "--moe-router-force-load-balancing" ->
            map.put("model.moe_router_force_load_balancing", "true");
        default ->
            map.put(
                KEYS.getOrDefault(flag, "model." + flag.substring(2).replace('-', '_')), value(a));
      }
    }
    if (job.dims().vpp() > 1) {
      map.put("model.virtual_pipeline_model_parallel_size", Integer.toString(job.dims().vpp()));
    }
    map.put("model.seq_length", Integer.toString(job.training().sequence()));
    map.put("dataset.seq_length", Integer.toString(job.training().sequence()));
    map.put("mixed_precision", mixed(job.training().precision()));
    return map;
  }

  private static String value(Argument a) {
    if (a.values().isEmpty()) {
      return "true";
    }
    boolean list = a.flag().equals("--recompute-modules") || a.values().size() > 1;
    String value = list ? "[" + String.join(",", a.values()) + "]" : a.values().get(0);
    // Hydra reads bars, brackets and commas unless a string is quoted.
    return list || value.matches("[A-Za-z0-9_.+-]*") ? value : "'" + value + "'";
  }

  private static String mixed(Precision p) {
    return switch (p) {
      case BF16 -> "bf16_mixed";
      case FP16 -> "16_mixed";
      case FP8 -> "bf16_with_fp8_current_scaling_mixed";
      case MXFP8 -> "bf16_with_mxfp8_mixed";
      case NVFP4 -> "bf16_with_nvfp4_mixed";
    };
  }
}
