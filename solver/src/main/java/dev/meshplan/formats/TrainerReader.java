package dev.meshplan.formats;

import dev.meshplan.hardware.Precision;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Batch;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Schedule;
import dev.meshplan.plan.Training;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Reads the launch of a Hugging Face trainer with FSDP or plain data parallelism as a plan. */
final class TrainerReader {
  private TrainerReader() {}

  /**
   * The plan in it.
   *
   * @param sequence tokens per sequence where the file does not say; 0 = not known
   */
  static ForeignPlan read(TrainerArguments t, int world, Model model, int sequence) {
    List<Finding> findings = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    int micro = t.number("per_device_train_batch_size", t.number("micro_batch_size", 8));
    if (!t.has("per_device_train_batch_size") && !t.has("micro_batch_size")) {
      notes.add("per_device_train_batch_size is absent: the trainer's default is 8");
    }
    int steps = t.number("gradient_accumulation_steps", 1);
    String fsdp = t.text("fsdp", "").toLowerCase(Locale.ROOT);
    int stage =
        fsdp.contains("full_shard") || (fsdp.contains("hybrid_shard") && !fsdp.contains("zero2"))
            ? 3
            : fsdp.contains("shard_grad_op") ? 2 : 0;
    String zero = t.text("deepspeed", "");
    if (zero.matches("zero[0-3](_offload)?")) {
      stage = zero.charAt(4) - '0';
    }
    boolean deepspeed = t.has("deepspeed");
    int group = fsdp.contains("hybrid_shard") ? Math.min(8, world) : 0;
    double offload = zero.endsWith("_offload") ? 1 : 0;
    if (fsdp.contains("offload")) {
      notes.add("FSDP's offload of weights is not priced: they count as on the GPU");
    }
    Recompute recompute = t.recompute() ? Recompute.FULL : Recompute.NONE;
    Training training =
        ForeignTraining.of(
            micro * steps * world,
            Math.max(1, t.sequence() > 0 ? t.sequence() : sequence),
            t.on("fp16") ? Precision.FP16 : Precision.BF16,
            deepspeed ? Framework.DEEPSPEED : Framework.ANY,
            dev.meshplan.plan.Era.TORCH_2025,
            GradientType.BF16,
            t.tuning());
    return new ForeignPlan(
        "Hugging Face trainer arguments",
        model,
        t.modelName(),
        t.adapters(),
        new Dims(1, 1, 1, world, 1, 1, 1),
        new Batch(micro, steps),
        Schedule.ONE_F_ONE_B,
        new MemoryPlan(stage, group, 0, recompute, offload),
        List.of(),
        0,
        training,
        t.keys(),
        findings,
        notes);
  }
}
