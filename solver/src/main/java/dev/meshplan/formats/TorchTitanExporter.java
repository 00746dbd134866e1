package dev.meshplan.formats;

import dev.meshplan.hardware.Precision;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Training;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes a plan for torchtitan: a configuration in Python for the newest version, and TOML for the
 * releases of 2025.
 */
final class TorchTitanExporter {
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
    TorchTitanPython python = new TorchTitanPython(job, e.shard(), e.schedule());
    List<String> notes = new ArrayList<>();
    notes.add("config.toml is for releases of 2025, which also read tokenizer and data from it");
    if (!python.known()) {
      notes.add("torchtitan has no configuration for " + job.model().id() + ": name one that has");
    }
    if (!python.expressible()) {
      notes.add("the newest version recomputes every layer or none: only config.toml is written");
      return Export.of(
          Format.TORCHTITAN, List.of(new OutputFile("config.toml", e.toml(notes))), notes);
    }
    return Export.of(
        Format.TORCHTITAN,
        List.of(
            new OutputFile(TorchTitanPython.NAME, python.configuration(notes)),
            new OutputFile("train.sh", python.script(notes)),
            new OutputFile("config.toml", e.toml(notes))),
        notes);
  }

  private Refusal refusal() {
    Refusal broken = BrokenRules.of(job, Framework.TORCHTITAN);
    if (broken != null) {
      return broken;
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

  private Map<String, Map<String, Object>> settings() {
    Map<String, Map<String, Object>> all = new LinkedHashMap<>();
    int micro = job.plan().batch().microBatch();
    int m = job.plan().batch().gradientAccumulation();
    String[] known = TorchTitanPython.known(job.model().id());
    if (known != null) {
      Map<String, Object> model = section(all, "model");
      model.put("name", known[0]);
      model.put("flavor", known[1]);
      if (t.precision() != Precision.BF16) {
        model.put("converters", List.of(t.precision() == Precision.FP8 ? "float8" : "mx"));
      }
    }
    Map<String, Object> training = section(all, "training");
    training.put("local_batch_size", d.pp() > 1 ? micro * m : micro);
    training.put("global_batch_size", t.globalBatch());
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
      p.put("pipeline_parallel_microbatch_size", micro);
      p.put("module_fqns_per_model_part", TorchTitanPython.parts(job, "output"));
    }
    p.put("expert_parallel_degree", d.ep());
    Map<String, Object> a = section(all, "activation_checkpoint");
    Recompute r = memory.recompute();
    boolean whole = r.full() && r.share() >= 1;
    boolean none = r.granularity() == Recompute.Granularity.NONE;
    a.put("mode", none ? "none" : whole ? "full" : "selective");
    if (!none && !whole) {
      a.put("selective_ac_option", r.full() ? Long.toString(Math.round(1 / r.share())) : "op");
    }
    return all;
  }

  private static Map<String, Object> section(Map<String, Map<String, Object>> all, String name) {
    return all.computeIfAbsent(name, n -> new LinkedHashMap<>());
  }

  private String toml(List<String> notes) {
    StringBuilder s = new StringBuilder(job.comment(Format.TORCHTITAN, notes));
    settings()
        .forEach(
            (section, keys) -> {
              s.append("\n[").append(section).append("]\n");
              keys.forEach((k, v) -> s.append(k).append(" = ").append(value(v)).append('\n'));
            });
    return s.toString();
  }

  /** A value of TOML, which Python reads too but for true and false. */
  static String value(Object v) {
    if (v instanceof List<?> list) {
      return "[" + String.join(", ", list.stream().map(TorchTitanExporter::value).toList()) + "]";
    }
    return v instanceof String text ? Quoting.json(text) : v.toString();
  }
}
