package dev.meshplan.formats;

import dev.meshplan.plan.Dims;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A torchtitan configuration in Python: a function that changes one of torchtitan's own. Flags of
 * the command line are frozen there. Source: b5bcd76c torchtitan/config/README.md and configs.py.
 */
final class TorchTitanPython {
  static final String NAME = "meshplan_run.py";

  /** Our id: module, flavor, and the function that configures it or a relative. */
  private static final Map<String, String[]> MODELS =
      Map.ofEntries(
          Map.entry("llama-3.1-8b", new String[] {"llama3", "8B", "llama3_8b"}),
          Map.entry("llama-3.1-70b", new String[] {"llama3", "70B", "llama3_70b"}),
          Map.entry("llama-3.1-405b", new String[] {"llama3", "405B", "llama3_405b"}),
          Map.entry("deepseek-v3", new String[] {"deepseek_v3", "671B", "deepseek_v3_671b"}),
          Map.entry("qwen3-32b", new String[] {"qwen3", "32B", "qwen3_32b"}),
          Map.entry("qwen3-30b-a3b", new String[] {"qwen3", "30B-A3B", "qwen3_30b_a3b"}),
          Map.entry("qwen3-235b-a22b", new String[] {"qwen3", "235B-A22B", "qwen3_30b_a3b"}),
          Map.entry("gpt-oss-20b", new String[] {"gpt_oss", "20b", "gpt_oss_20b"}),
          Map.entry("gpt-oss-120b", new String[] {"gpt_oss", "120b", "gpt_oss_120b"}));

  private final Job job;
  private final Dims d;
  private final MemoryPlan memory;
  private final int shard;
  private final String schedule;
  private final String[] known;

  /**
   * Of a job.
   *
   * @param shard ranks that share one copy of the states
   * @param schedule torchtitan's name of the pipeline schedule
   */
  TorchTitanPython(Job job, int shard, String schedule) {
    this.job = job;
    this.d = job.dims();
    this.memory = job.plan().memory();
    this.shard = shard;
    this.schedule = schedule;
    this.known = known(job.model().id());
  }

  /** Module, flavor and function of a model, or null. */
  static String[] known(String model) {
    return MODELS.get(model);
  }

  boolean known() {
    return known != null;
  }

  /** Whether the newest version can say the recompute: all of a layer, by operation, or none. */
  boolean expressible() {
    return !memory.recompute().full() || memory.recompute().share() >= 1;
  }

  /** Modules of every virtual stage, so that uneven stages are exact. */
  static List<List<String>> parts(Job job, String head) {
    List<List<String>> parts = new ArrayList<>();
    for (Stage s : job.plan().stages()) {
      List<String> names = new ArrayList<>();
      if (s.embedding()) {
        names.add("tok_embeddings");
      }
      for (int i = 0; i < s.layers(); i++) {
        names.add("layers." + (s.firstLayer() + i));
      }
      if (s.loss()) {
        names.add("norm");
        names.add(head);
      }
      parts.add(names);
    }
    return parts;
  }

  String configuration(List<String> notes) {
    StringBuilder s = new StringBuilder(job.comment(Format.TORCHTITAN, notes));
    Recompute r = memory.recompute();
    String ac = r.full() ? "FullAC" : "SelectiveAC";
    boolean none = r.granularity() == Recompute.Granularity.NONE;
    if (!none) {
      s.append("from torchtitan.distributed.activation_checkpoint import ").append(ac).append('\n');
    }
    List<String> converters = converters();
    if (!converters.isEmpty()) {
      s.append("from torchtitan.components.quantization import ");
      s.append(String.join(", ", converters)).append('\n');
      s.append("from torchtitan.config import CompileConfig\n");
    }
    String module = known == null ? "REPLACE_ME" : "torchtitan.models." + known[0];
    String base = known == null ? "REPLACE_ME" : known[2];
    s.append("from ").append(module).append(" import model_registry\n");
    s.append("from ").append(module).append(".config_registry import ").append(base);
    s.append("\n\n\ndef plan():\n    config = ").append(base).append("()\n");
    model(s, converters);
    training(s);
    parallelism(s);
    s.append("    config.activation_checkpoint = ");
    s.append(none ? "None" : ac + ".Config()").append("\n    return config\n");
    return s.toString();
  }

  private List<String> converters() {
    String prefix =
        switch (job.training().precision()) {
          case FP8 -> "Float8";
          case MXFP8 -> "MXFP8";
          default -> "";
        };
    if (prefix.isEmpty()) {
      return List.of();
    }
    return job.moe()
        ? List.of(prefix + "GroupedExpertsConverter", prefix + "LinearConverter")
        : List.of(prefix + "LinearConverter");
  }

  private void model(StringBuilder s, List<String> converters) {
    String flavor = known == null ? "REPLACE_ME" : known[1];
    s.append("    config.model_spec = model_registry(").append(Quoting.json(flavor));
    if (converters.isEmpty()) {
      s.append(")\n");
      return;
    }
    s.append(",\n        converters=[\n");
    for (String c : converters) {
      boolean filtered = c.equals("Float8LinearConverter");
      s.append("            ").append(c).append(".Config(");
      s.append(filtered ? "filter_fqns=[\"lm_head\", \"router.gate\"], " : "");
      s.append("model_compile_enabled=True),\n");
    }
    s.append("        ],\n    )\n");
    s.append("    config.compile = CompileConfig(enable=True, components=[\"model\"])\n");
  }

  private void training(StringBuilder s) {
    long sequence = job.training().sequence();
    set(
        s,
        "training.num_tokens_per_microbatch_per_dp_rank",
        job.plan().batch().microBatch() * sequence);
    set(s, "training.num_tokens_per_train_step", job.training().globalBatch() * sequence);
    set(s, "training.max_context_length", sequence);
    set(s, "training.steps", MegatronExporter.steps(job));
  }

  private void parallelism(StringBuilder s) {
    String p = "parallelism.";
    set(s, p + "data_parallel_replicate_degree", d.dp() / shard);
    set(s, p + "data_parallel_shard_degree", shard);
    set(s, p + "fsdp_reshard_after_forward", memory.sharding() == 2 ? "never" : "default");
    set(s, p + "tensor_parallel_degree", d.tp());
    boolean sequence = job.training().sequenceParallel() && d.tp() > 1;
    s.append("    config.").append(p).append("enable_sequence_parallel = ");
    s.append(sequence ? "True\n" : "False\n");
    set(s, p + "context_parallel_degree", d.cp());
    set(s, p + "pipeline_parallel_degree", d.pp());
    if (d.pp() > 1) {
      set(s, p + "pipeline_parallel_schedule", schedule);
      set(s, p + "num_pp_microbatches", job.plan().batch().gradientAccumulation());
      s.append("    config.").append(p).append("module_fqns_per_model_part = [\n");
      for (List<String> part : parts(job, "lm_head")) {
        s.append("        ").append(TorchTitanExporter.value(part)).append(",\n");
      }
      s.append("    ]\n");
    }
    set(s, p + "expert_parallel_degree", d.ep());
  }

  private static void set(StringBuilder s, String key, Object value) {
    s.append("    config.").append(key).append(" = ");
    s.append(TorchTitanExporter.value(value)).append('\n');
  }

  /** Starts the configuration from wherever torchtitan is installed. */
  String script(List<String> notes) {
    return ShellScript.start(job.comment(Format.TORCHTITAN, notes))
        + ShellScript.environment(Map.of())
        + "HERE=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\"\n"
        + "export PYTHONPATH=\"$HERE${PYTHONPATH:+:$PYTHONPATH}\"\n"
        + "cd \"${TORCHTITAN_PATH:-.}\"\n\n"
        + ShellScript.launch(job, "-m torchtitan.train", "--module meshplan_run --config plan");
  }
}
