package dev.meshplan.formats;

import dev.meshplan.hardware.Precision;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Stage;
import dev.meshplan.plan.Training;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes a plan for torchtitan: overrides for the newest version, whose configurations are Python,
 * and TOML for the releases before it.
 */
final class TorchTitanExporter {
  private static final Map<String, String[]> MODELS =
      Map.ofEntries(
          Map.entry("llama-3.1-8b", new String[] {"llama3", "8B", "llama3_8b"}),
          Map.entry("llama-3.1-70b", new String[] {"llama3", "70B", "llama3_70b"}),
          Map.entry("llama-3.1-405b", new String[] {"llama3", "405B", "llama3_405b"}),
          Map.entry("deepseek-v3", new String[] {"deepseek_v3", "671B", "deepseek_v3_671b"}),
          Map.entry("qwen3-32b", new String[] {"qwen3", "32B", "qwen3_32b"}),
          Map.entry("qwen3-30b-a3b", new String[] {"qwen3", "30B-A3B", "qwen3_30b_a3b"}),
          Map.entry("qwen3-235b-a22b", new String[] {"qwen3", "235B-A22B", "qwen3_235b_a22b"}),
          Map.entry("llama-4-scout", new String[] {"llama4", "17bx16e", "llama4_17bx16e"}),
          Map.entry("llama-4-maverick", new String[] {"llama4", "17bx128e", "llama4_17bx128e"}),
          Map.entry("gpt-oss-20b", new String[] {"gpt_oss", "20b", "gpt_oss_20b"}),
          Map.entry("gpt-oss-120b", new String[] {"gpt_oss", "120b", "gpt_oss_120b"}));

  private final Job job;
  private final Dims d;
  private final Training t;
  private final MemoryPlan memory;

  private TorchTitanExporter(Job job) {
    this.job = job;
    this.d = job.dims();
    this.t = job.training();
    this.memory = job.plan().memory();
  }

  static Export export(Job job) {
    TorchTitanExporter e = new TorchTitanExporter(job);
    Refusal refusal = e.refusal();
    if (refusal != null) {
      return Export.refusal(Format.TORCHTITAN, refusal);
    }
    List<String> notes = new ArrayList<>();
    String[] known = MODELS.get(job.model().id());
    if (known == null) {
      notes.add("torchtitan has no built-in " + job.model().id() + ": set MODULE and CONFIG");
    }
    notes.add("overrides.sh is for the newest version, config.toml for releases of 2025");
    return Export.of(
        Format.TORCHTITAN,
        List.of(
            new OutputFile("overrides.sh", e.script(known)),
            new OutputFile("config.toml", e.toml(known))),
        notes);
  }

  private Refusal refusal() {
    if (d.etp() > 1) {
      return new Refusal("torchtitan has no tensor parallelism inside experts", "etp 1");
    }
    if (memory.sharding() == 1) {
      return new Refusal(
          "FSDP shards gradients together with optimizer states", "sharding 2 (no reshard) or 3");
    }
    if (memory.secondaryGroup() > 0 || memory.optimizerOffload() > 0) {
      return new Refusal("torchtitan has neither hpZ nor optimizer offload", "sharding 3 or hsdp");
    }
    if (d.ep() > 1 && (long) shard() * d.cp() * d.tp() % d.ep() != 0) {
      return new Refusal(
          "EP must divide dp_shard x cp x tp (" + shard() * d.cp() * d.tp() + ")", "sharding 3");
    }
    if (d.pp() > 1 && schedule() == null) {
      return new Refusal(
          "torchtitan has no " + job.plan().schedule().key() + " schedule",
          "1f1b, interleaved-1f1b, zbv or gpipe");
    }
    if (d.pp() > 1 && d.vpp() == 1 && schedule().startsWith("Interleaved")) {
      return new Refusal("a multi-stage schedule needs 2 stages a rank or more", "schedule 1f1b");
    }
    Recompute r = memory.recompute();
    if (r.full() && r.share() < 1 && r.share() != 0.5 && r.share() != 0.25) {
      return new Refusal(
          "torchtitan recomputes every layer, or every 2nd or 4th", "recompute full or full_half");
    }
    if (t.precision() != Precision.BF16
        && t.precision() != Precision.FP8
        && t.precision() != Precision.MXFP8) {
      return new Refusal("torchtitan has no " + t.precision().key(), "precision bf16");
    }
    if (t.tuning().adapters()) {
      return new Refusal("torchtitan has no LoRA", "tuning full");
    }
    if (job.mtpLayers() > 0) {
      return new Refusal("torchtitan trains no MTP layers", "a model without MTP");
    }
    return null;
  }

  private int shard() {
    return memory.sharding() == 0
        ? 1
        : memory.shardGroup() > 0 ? Math.min(memory.shardGroup(), d.dp()) : d.dp();
  }

  private String schedule() {
    return switch (job.plan().schedule()) {
      case ONE_F_ONE_B -> "1F1B";
      case INTERLEAVED -> "Interleaved1F1B";
      case ZBV -> "ZBVZeroBubble";
      case GPIPE -> "GPipe";
      default -> null;
    };
  }

  /** Keys by section, as both forms know them. */
  private Map<String, Map<String, Object>> settings(boolean newest) {
    Map<String, Map<String, Object>> all = new LinkedHashMap<>();
    int micro = job.plan().batch().microBatch();
    int m = job.plan().batch().gradientAccumulation();
    Map<String, Object> training = section(all, "training");
    if (newest) {
      training.put("num_tokens_per_microbatch_per_dp_rank", (long) micro * t.sequence());
    } else {
      training.put("local_batch_size", d.pp() > 1 ? micro * m : micro);
      training.put("global_batch_size", t.globalBatch());
    }
    training.put("seq_len", t.sequence());
    Map<String, Object> p = section(all, "parallelism");
    p.put("data_parallel_replicate_degree", d.dp() / shard());
    p.put("data_parallel_shard_degree", shard());
    p.put("fsdp_reshard_after_forward", memory.sharding() == 2 ? "never" : "default");
    p.put("tensor_parallel_degree", d.tp());
    p.put("context_parallel_degree", d.cp());
    if (d.cp() > 1) {
      p.put(
          "context_parallel_rotate_method",
          t.cpKind() == CpKind.ALL_TO_ALL ? "alltoall" : "allgather");
    }
    p.put("pipeline_parallel_degree", d.pp());
    if (d.pp() > 1) {
      p.put("pipeline_parallel_schedule", schedule());
      if (newest) {
        p.put("num_pp_microbatches", m);
      } else {
        p.put("pipeline_parallel_microbatch_size", micro);
      }
      p.put("module_fqns_per_model_part", parts());
    }
    p.put("expert_parallel_degree", d.ep());
    if (newest) {
      p.put("enable_sequence_parallel", t.sequenceParallel() && d.tp() > 1);
    }
    Map<String, Object> a = section(all, "activation_checkpoint");
    Recompute r = memory.recompute();
    a.put(
        "mode",
        r.granularity() == Recompute.Granularity.NONE
            ? "none"
            : r.full() && r.share() >= 1 ? "full" : "selective");
    if (!r.full() && r.granularity() == Recompute.Granularity.SELECTIVE) {
      a.put("selective_ac_option", "op");
    } else if (r.full() && r.share() < 1) {
      a.put("selective_ac_option", Integer.toString((int) Math.round(1 / r.share())));
    }
    return all;
  }

  private static Map<String, Object> section(Map<String, Map<String, Object>> all, String name) {
    return all.computeIfAbsent(name, n -> new LinkedHashMap<>());
  }

  /** Modules of every virtual stage, so that uneven stages are exact. */
  private List<List<String>> parts() {
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
        names.add("output");
      }
      parts.add(names);
    }
    return parts;
  }

  private String script(String[] known) {
    StringBuilder s = new StringBuilder(ShellScript.start(job.comment(Format.TORCHTITAN)));
    s.append(ShellScript.environment(Map.of()));
    s.append("MODULE=\"${MODULE:-").append(known == null ? "" : known[0]).append("}\"\n");
    s.append("CONFIG=\"${CONFIG:-").append(known == null ? "" : known[2]).append("}\"\n");
    s.append(": \"${MODULE:?name a module}\" \"${CONFIG:?name a configuration}\"\n\n");
    s.append("OVERRIDES=(\n");
    settings(true)
        .forEach(
            (section, keys) ->
                keys.forEach(
                    (k, v) ->
                        s.append("  ")
                            .append(
                                Quoting.shell(
                                    "--"
                                        + section
                                        + "."
                                        + k
                                        + "="
                                        + (v instanceof List<?> l ? json(l) : v)))
                            .append('\n')));
    s.append(")\n\n");
    s.append(
        ShellScript.launch(
            "-m torchtitan.train",
            "--module \"$MODULE\" --config \"$CONFIG\" \"${OVERRIDES[@]}\"",
            Math.min(job.gpus(), job.gpusPerNode()),
            job.nodes(),
            job.system().host().grace()));
    return s.toString();
  }

  private String toml(String[] known) {
    StringBuilder s = new StringBuilder(job.comment(Format.TORCHTITAN));
    s.append("# TOML works for releases of 2025 only; the newest version takes overrides.sh\n\n");
    if (known != null) {
      s.append("[model]\nname = ").append(Quoting.json(known[0]));
      s.append("\nflavor = ").append(Quoting.json(known[1])).append("\n\n");
    }
    settings(false)
        .forEach(
            (section, keys) -> {
              s.append('[').append(section).append("]\n");
              keys.forEach((k, v) -> s.append(k).append(" = ").append(value(v)).append('\n'));
              s.append('\n');
            });
    return s.toString();
  }

  private static String value(Object v) {
    return v instanceof List<?> l
        ? json(l)
        : v instanceof String t ? Quoting.json(t) : v.toString();
  }

  private static String json(List<?> list) {
    return "["
        + String.join(
            ", ",
            list.stream()
                .map(v -> v instanceof List<?> l ? json(l) : Quoting.json(v.toString()))
                .toList())
        + "]";
  }
}
