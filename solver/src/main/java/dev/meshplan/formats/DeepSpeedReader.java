package dev.meshplan.formats;

import dev.meshplan.config.Errors;
import dev.meshplan.config.Names;
import dev.meshplan.config.Section;
import dev.meshplan.config.YamlReader;
import dev.meshplan.hardware.Precision;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Batch;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Era;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Schedule;
import dev.meshplan.plan.Training;
import dev.meshplan.plan.Tuning;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads a DeepSpeed configuration, with the degrees of its launch arguments, as a plan. */
public final class DeepSpeedReader {
  private final List<Finding> findings = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private final Section top;
  private final int world;
  private final int tp;
  private final int pp;
  private final int sp;

  /** Arguments of the trainer that fills in what is "auto"; null = none. */
  private final TrainerArguments trainer;

  private DeepSpeedReader(
      Section top, TrainerArguments trainer, int world, int tp, int pp, int sp) {
    this.top = top;
    this.trainer = trainer;
    this.world = world;
    this.tp = tp;
    this.pp = pp;
    this.sp = sp;
  }

  /**
   * The plan in it.
   *
   * @param tp tensor degree of the launch (1 where there is none); likewise pp, sp
   * @param model the shape, or null
   * @param sequence tokens per sequence; 0 = not known
   * @throws dev.meshplan.config.InputException when it is no such JSON
   */
  public static ForeignPlan read(
      String file, String text, int world, int tp, int pp, int sp, Model model, int sequence) {
    return read(file, text, null, world, tp, pp, sp, model, sequence);
  }

  /**
   * The plan in a configuration whose "auto" values a trainer fills in.
   *
   * @param trainer its arguments, or null
   */
  static ForeignPlan read(
      String file,
      String text,
      TrainerArguments trainer,
      int world,
      int tp,
      int pp,
      int sp,
      Model model,
      int sequence) {
    List<Finding> syntax = new ArrayList<>();
    String json = JsonText.strict(text, syntax);
    Errors errors = new Errors();
    Section top = YamlReader.parse(file, json.replace('\t', ' '), errors);
    errors.throwIfAny();
    if (trainer != null) {
      top = DeepSpeedAuto.filled(top, trainer, world / Math.max(1, tp * pp * sp));
    }
    DeepSpeedReader r = new DeepSpeedReader(top, trainer, world, tp, pp, sp);
    r.findings.addAll(syntax);
    return r.plan(model, sequence);
  }

  private void illegal(String id, String sentence, String says, String cure) {
    findings.add(Finding.illegal(id, sentence, says, cure));
  }

  private ForeignPlan plan(Model model, int sequence) {
    for (String key : top.keys()) {
      if (!DeepSpeedKeys.TOP.contains(key)) {
        findings.add(
            Finding.unchecked(
                "unknown-key",
                key
                    + " is no key of DeepSpeed; it is ignored silently."
                    + Names.hint(key, DeepSpeedKeys.TOP),
                "correct or drop it"));
      }
    }
    int shards = sp > 1 ? sp : number(top, "sequence_parallel_size", 1);
    long model3 = (long) tp * pp * shards;
    int dp = world % model3 == 0 ? (int) (world / model3) : 0;
    if (dp == 0) {
      illegal(
          "world-product",
          "tp x pp x sp = " + model3 + " does not divide " + world + " GPUs",
          "world size must be divisible",
          (world < model3 ? "" : world / model3 * model3 + " or ")
              + (world / model3 + 1) * model3
              + " GPUs");
    }
    int[] batch = new DeepSpeedBatch(top, findings).read(Math.max(1, dp));
    boolean told = batch.length > 0;
    precision();
    MemoryPlan memory =
        new DeepSpeedZero(top, trainer != null, pp, findings, notes).read(recompute());
    int ep = experts(memory.sharding());
    others(memory.sharding());
    Precision p = enabled("fp16") ? Precision.FP16 : Precision.BF16;
    Training t =
        ForeignTraining.of(
            told ? batch[0] : Math.max(1, dp),
            Math.max(1, sequence),
            p,
            Framework.DEEPSPEED,
            Era.TORCH_2025,
            gradientType(),
            trainer == null ? Tuning.FULL : trainer.tuning());
    notes.add("tensor, pipeline and sequence degrees come from the launch, not from this file");
    if (!told) {
      notes.add("no batch is known, so neither memory nor time is priced");
    }
    if (!enabled("fp16") && !enabled("bf16") && !auto("bf16") && !auto("fp16")) {
      notes.add("neither bf16 nor fp16 is on: DeepSpeed then trains in fp32; priced as bf16");
    }
    Dims dims = new Dims(tp, shards, pp, Math.max(1, dp), ep, 1, 1);
    return new ForeignPlan(
        "DeepSpeed configuration",
        model,
        trainer == null ? "" : trainer.modelName(),
        trainer == null ? null : trainer.adapters(),
        dims,
        told ? new Batch(batch[1], batch[2]) : null,
        Schedule.ONE_F_ONE_B,
        memory,
        List.of(),
        model == null ? 0 : model.mtpLayers(),
        t,
        flags(),
        findings,
        notes);
  }

  private GradientType gradientType() {
    Section d = top.isSection("data_types") ? top.section("data_types", false) : null;
    return d != null && d.text("grad_accum_dtype", "").equals("fp32")
        ? GradientType.FP32
        : GradientType.BF16;
  }

  static int number(Section s, String key, int absent) {
    String text = s.has(key) ? s.text(key, "") : "";
    return text.matches("\\d{1,9}") ? Integer.parseInt(text) : absent;
  }

  private boolean enabled(String key) {
    Section s = top.isSection(key) ? top.section(key, false) : null;
    return s != null && s.text("enabled", "").equals("true");
  }

  private boolean auto(String key) {
    Section s = top.isSection(key) ? top.section(key, false) : null;
    return s != null && s.text("enabled", "").equals("auto");
  }

  private void precision() {
    if (enabled("fp16") && enabled("bf16")) {
      illegal(
          "fp16-bf16",
          "fp16 and bf16 are both on",
          "bfloat16 and fp16 modes cannot be simultaneously enabled",
          "keep one");
    }
    String type = top.has("communication_data_type") ? top.text("communication_data_type", "") : "";
    if (!type.isEmpty() && !Set.of("fp16", "bf16", "fp32", "bfp16").contains(type)) {
      illegal(
          "communication-type",
          "communication_data_type " + type + " is not known",
          "Invalid communication_data_type. Supported data types: ['fp16', 'bf16', 'fp32']",
          "bf16");
    }
    Section b = top.isSection("bf16") ? top.section("bf16", false) : null;
    if (b != null
        && b.text("bf16_optimizer_states", "").equals("true")
        && !b.text("bf16_master_weights_and_grads", "").equals("true")) {
      illegal(
          "bf16-optimizer",
          "bf16_optimizer_states needs bf16_master_weights_and_grads",
          "bf16_optimizer_states requires bf16_master_weights_and_grads",
          "set both");
    }
  }

  private Recompute recompute() {
    if (trainer != null) {
      return trainer.recompute() ? Recompute.FULL : Recompute.NONE;
    }
    if (top.has("activation_checkpointing")) {
      notes.add(
          "activation_checkpointing is configured, so full recompute is taken; the model's code"
              + " decides whether it is used");
      return Recompute.FULL;
    }
    return Recompute.NONE;
  }

  private int experts(int stage) {
    Section e = top.isSection("expert_parallel") ? top.section("expert_parallel", false) : null;
    if (e == null || !e.text("enabled", "").equals("true")) {
      return 1;
    }
    int ep = Math.max(1, number(e, "autoep_size", 1));
    int ranks = world / Math.max(1, pp);
    if (ranks % ep != 0) {
      illegal(
          "expert-grid",
          "autoep_size " + ep + " does not divide the " + ranks + " ranks of a stage",
          "autoep_size must divide the stage size",
          "a divisor of " + ranks);
    }
    Section t = top.isSection("tensor_parallel") ? top.section("tensor_parallel", false) : null;
    int auto = t == null ? 1 : number(t, "autotp_size", 1);
    if (auto > 1 && (stage == 3 || pp > 1)) {
      illegal(
          "autoep-autotp",
          "AutoEP with AutoTP works with ZeRO 0 to 2 and without a pipeline",
          "AutoEP with AutoTP does not support ZeRO stage 3",
          "stage 2, or no tensor_parallel");
    }
    return ep;
  }

  private void others(int stage) {
    if (top.has("gradient_allreduce_op")
        && top.text("gradient_allreduce_op", "").equals("sum")
        && stage == 3) {
      illegal(
          "allreduce-sum",
          "gradients can't be summed instead of averaged at stage 3",
          "gradient_allreduce_op sum is not supported with ZeRO stage 3",
          "drop it, or stage 2");
    }
  }

  private Map<String, String> flags() {
    Map<String, String> map = new LinkedHashMap<>();
    for (String key : top.keys()) {
      Section s = top.isSection(key) ? top.section(key, false) : null;
      if (s == null) {
        map.put(key, String.join(" ", top.texts(key)));
      } else {
        s.keys().stream()
            .filter(k -> !s.isSection(k))
            .forEach(k -> map.put(key + "." + k, String.join(" ", s.texts(k))));
      }
    }
    return map;
  }
}
