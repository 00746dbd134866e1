package dev.meshplan.formats;

import dev.meshplan.hardware.Precision;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Schedule;
import dev.meshplan.plan.Training;
import java.util.List;

/** What DeepSpeed can't express beyond the rules that its plans obey. */
final class DeepSpeedLimits {
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
    Refusal broken = BrokenRules.of(job, Framework.DEEPSPEED);
    if (broken != null) {
      return broken;
    }
    if (job.plan().schedule() != Schedule.ONE_F_ONE_B && d.pp() > 1) {
      return new Refusal("DeepSpeed's pipeline runs plain 1F1B", "schedule 1f1b");
    }
    if (d.pp() > 1 && !job.evenStages()) {
      return new Refusal(
          "DeepSpeed partitions layers itself and can't be told " + job.stageLayers(),
          "a PP that divides the " + job.model().layerCount() + " layers");
    }
    if (memory.sharding() < 3 && memory.optimizerOffload() > 0 && memory.optimizerOffload() < 1) {
      return new Refusal(
          "a part of the optimizer can be offloaded with ZeRO 3 only", "offload of all of it");
    }
    if (memory.sharding() < 3 && (memory.shardGroup() > 0 || memory.secondaryGroup() > 0)) {
      return new Refusal("shard groups (MiCS, hpZ) exist with ZeRO 3 only", "sharding 3");
    }
    if (d.ep() > 1 && memory.sharding() == 3 && memory.shardGroup() > 0) {
      return new Refusal("AutoEP with ZeRO 3 has no shard groups (MiCS)", "sharding 3");
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
    if (t.tuning().adapters()) {
      return new Refusal("adapters are the trainer's, not DeepSpeed's", "tuning full");
    }
    return null;
  }
}
