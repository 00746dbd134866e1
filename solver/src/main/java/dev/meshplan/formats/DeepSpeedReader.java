package dev.meshplan.formats;

import dev.meshplan.config.Errors;
import dev.meshplan.config.Names;
import dev.meshplan.config.Section;
import dev.meshplan.config.YamlReader;
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

  private DeepSpeedReader(Section top, int world, int tp, int pp, int sp) {
    this.top = top;
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
    Errors errors = new Errors();
    Section top = YamlReader.parse(file, text.replace('\t', ' '), errors);
    errors.throwIfAny();
    return new DeepSpeedReader(top, world, tp, pp, sp).plan(model, sequence);
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
          "a multiple of " + model3 + " GPUs");
    }
    int[] batch = new DeepSpeedBatch(top, findings).read(Math.max(1, dp));
    precision();
    MemoryPlan memory = zero();
    int ep = experts(memory.sharding());
    others(memory.sharding());
    Precision p = enabled("fp16") ? Precision.FP16 : Precision.BF16;
    Training t =
        ForeignTraining.of(batch[0], Math.max(1, sequence), p, Framework.DEEPSPEED, gradientType());
    notes.add("tensor, pipeline and sequence degrees come from the launch, not from this file");
    Dims dims = dp == 0 ? null : new Dims(tp, shards, pp, dp, ep, 1, 1);
    return new ForeignPlan(
        "DeepSpeed configuration",
        model,
        dims,
        new Batch(batch[1], batch[2]),
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

  private MemoryPlan zero() {
    Section z = top.isSection("zero_optimization") ? top.section("zero_optimization", false) : null;
    if (z == null) {
      return new MemoryPlan(0, 0, 0, recompute(), 0);
    }
    for (String key : z.keys()) {
      if (!DeepSpeedKeys.ZERO.contains(key)) {
        illegal(
            "zero-key",
            "zero_optimization." + key + " is not known." + Names.hint(key, DeepSpeedKeys.ZERO),
            "Extra inputs are not permitted",
            "correct or drop it");
      } else if (!z.isSection(key) && z.has(key) && z.text(key, "").equals("auto")) {
        findings.add(
            Finding.unchecked(
                "zero-auto",
                "zero_optimization." + key + " is auto, which DeepSpeed drops silently",
                "write the number"));
      }
    }
    int stage = number(z, "stage", 0);
    if (stage > 3 || !z.text("stage", "0").matches("\\d+")) {
      illegal(
          "zero-stage",
          "ZeRO has stages 0 to 3, not " + z.text("stage", ""),
          "zero_optimization.stage: Input should be 0, 1, 2 or 3",
          "3");
      stage = 3;
    }
    double offload = 0;
    for (String key : List.of("offload_param", "offload_optimizer")) {
      Section o = z.isSection(key) ? z.section(key, false) : null;
      if (o == null) {
        continue;
      }
      String device = o.text("device", "none");
      if (!Set.of("none", "cpu", "nvme").contains(device)) {
        illegal(
            "offload-device",
            key + ".device " + device + " is not known",
            key + ".device: Input should be 'none', 'cpu' or 'nvme'",
            "cpu or nvme");
      }
      if (key.equals("offload_optimizer") && !device.equals("none")) {
        String ratio = o.text("ratio", "1");
        offload = ratio.matches("[0-9.]{1,8}") ? Math.min(1, Double.parseDouble(ratio)) : 1;
        if (offload < 1 && stage < 3) {
          illegal(
              "offload-ratio",
              "a part of the optimizer (" + ratio + ") is offloaded at stage " + stage,
              "Partial offloading only supported for ZeRO Stage 3",
              "ratio 1, or stage 3");
        }
      }
    }
    int hpz = number(z, "zero_hpz_partition_size", 1);
    int mics = number(z, "mics_shard_size", 0);
    return new MemoryPlan(stage, Math.max(0, mics), hpz > 1 ? hpz : 0, recompute(), offload);
  }

  private Recompute recompute() {
    return top.has("activation_checkpointing") ? Recompute.FULL : Recompute.NONE;
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
