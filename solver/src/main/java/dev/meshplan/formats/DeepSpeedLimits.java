package dev.meshplan.formats;

import dev.meshplan.hardware.Precision;
import dev.meshplan.model.Attention;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Schedule;
import dev.meshplan.plan.Training;
import dev.meshplan.plan.Tuning;
import java.util.List;
import java.util.Map;

/** What DeepSpeed can't express. */
final class DeepSpeedLimits {
  /** AutoEP presets by our model families; the preset must match the model's classes. */
  private static final Map<String, String> PRESETS =
      Map.of(
          "mixtral", "mixtral",
          "qwen3-", "qwen3_moe",
          "qwen3.5", "qwen3_5_moe",
          "deepseek-v2", "deepseek_v2",
          "deepseek-v3", "deepseek_v3",
          "kimi-k2", "deepseek_v3");

  private final Job job;
  private final Dims d;
  private final Training t;
  private final MemoryPlan memory;

  DeepSpeedLimits(Job job) {
    this.job = job;
    this.d = job.dims();
    this.t = job.training();
    this.memory = job.plan().memory();
  }

  private boolean megatron() {
    return d.pp() > 1 || d.tp() > 1;
  }

  /** Why DeepSpeed can't express the plan, or null. */
  Refusal refusal() {
    if (d.pp() > 1 && memory.sharding() >= 2) {
      return new Refusal("DeepSpeed's pipeline engine works with ZeRO 0 and 1 only", "sharding 1");
    }
    if (d.vpp() > 1 || (job.plan().schedule() != Schedule.ONE_F_ONE_B && d.pp() > 1)) {
      return new Refusal("DeepSpeed's pipeline runs plain 1F1B", "vpp 1, schedule 1f1b");
    }
    if (d.pp() > 1 && (!job.evenStages() || job.mtpLayers() > 0)) {
      return new Refusal(
          "DeepSpeed partitions layers itself and can't be told " + job.stageLayers(),
          "a PP that divides the " + job.model().layerCount() + " layers, without MTP");
    }
    if (d.etp() > 1) {
      return new Refusal("DeepSpeed has no tensor parallelism inside experts", "etp 1");
    }
    if (d.ep() > 1 && (megatron() || d.cp() > 1)) {
      return new Refusal(
          "AutoEP is written without TP, PP and sequence parallelism", "tp 1, pp 1, cp 1");
    }
    if (d.ep() > 1 && preset() == null) {
      return new Refusal("AutoEP has no preset for " + job.model().id(), "ep 1");
    }
    if (d.ep() > 1
        && memory.sharding() == 3
        && (memory.secondaryGroup() > 0 || memory.shardGroup() > 0)) {
      return new Refusal("AutoEP with ZeRO 3 allows neither hpZ nor MiCS", "sharding 3");
    }
    boolean plain =
        job.model().distinctKinds().stream()
                .allMatch(k -> k.attention() != null && k.feedForward() != null)
            && job.model().layerKinds().get(0).attention().kind() == Attention.Kind.GQA;
    if (megatron() && !plain) {
      return new Refusal(
          "Megatron-DeepSpeed builds plain GPT layers, not those of " + job.model().id(),
          "tp 1, pp 1 with the model's own code, or --to megatron");
    }
    Refusal sequence = sequence();
    if (sequence != null) {
      return sequence;
    }
    return rest();
  }

  private Refusal sequence() {
    if (d.cp() == 1) {
      return null;
    }
    if (t.cpKind() != CpKind.ALL_TO_ALL) {
      return new Refusal(
          "DeepSpeed splits sequences by all-to-all (Ulysses), not by a ring",
          "cp_kind all_to_all");
    }
    Attention a = job.model().layerKinds().get(0).attention();
    boolean kv = a.kvHeads() % d.cp() == 0 || d.cp() % a.kvHeads() == 0;
    if (a.heads() % d.cp() != 0 || !kv) {
      return new Refusal(
          "Ulysses needs heads ("
              + a.heads()
              + ") and KV heads ("
              + a.kvHeads()
              + ") that split by "
              + d.cp(),
          "a CP that divides both");
    }
    return null;
  }

  private Refusal rest() {
    if (memory.sharding() < 3 && memory.optimizerOffload() > 0 && memory.optimizerOffload() < 1) {
      return new Refusal(
          "a part of the optimizer can be offloaded with ZeRO 3 only", "offload of all of it");
    }
    if (memory.sharding() < 3 && (memory.shardGroup() > 0 || memory.secondaryGroup() > 0)) {
      return new Refusal("shard groups (MiCS, hpZ) exist with ZeRO 3 only", "sharding 3");
    }
    Recompute r = memory.recompute();
    boolean core = r.modules().equals(List.of(Module.CORE_ATTN));
    if (r.granularity() == Recompute.Granularity.SELECTIVE && !(core && megatron())) {
      return new Refusal(
          "DeepSpeed recomputes whole layers, not " + r.text().replace("recompute of ", ""),
          "recompute none or full");
    }
    if (r.full() && r.share() < 1) {
      return new Refusal("DeepSpeed recomputes every layer or none", "recompute full");
    }
    if (t.precision() != Precision.BF16 && t.precision() != Precision.FP16) {
      return new Refusal("DeepSpeed trains in bf16 or fp16", "precision bf16");
    }
    if (t.tuning() == Tuning.LORA) {
      return new Refusal("adapters are the trainer's, not DeepSpeed's", "tuning full");
    }
    return null;
  }

  /** The AutoEP preset of the model, or null. */
  String preset() {
    return PRESETS.entrySet().stream()
        .filter(e -> job.model().id().startsWith(e.getKey()))
        .sorted(Map.Entry.comparingByKey())
        .map(Map.Entry::getValue)
        .findFirst()
        .orElse(null);
  }
}
