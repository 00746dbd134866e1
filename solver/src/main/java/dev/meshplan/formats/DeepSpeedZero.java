package dev.meshplan.formats;

import dev.meshplan.config.Names;
import dev.meshplan.config.Section;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The {@code zero_optimization} section of a DeepSpeed configuration. */
final class DeepSpeedZero {
  private final Section top;
  private final boolean trained;
  private final int pp;
  private final List<Finding> findings;
  private final List<String> notes;

  /**
   * A reader of it.
   *
   * @param trained whether a trainer fills in what is "auto"
   */
  DeepSpeedZero(Section top, boolean trained, int pp, List<Finding> findings, List<String> notes) {
    this.top = top;
    this.trained = trained;
    this.pp = pp;
    this.findings = findings;
    this.notes = notes;
  }

  private void illegal(String id, String sentence, String says, String cure) {
    findings.add(Finding.illegal(id, sentence, says, cure));
  }

  /** Sharding and offload, with the recompute that is decided elsewhere. */
  MemoryPlan read(Recompute recompute) {
    Section z = top.isSection("zero_optimization") ? top.section("zero_optimization", false) : null;
    if (z == null) {
      return new MemoryPlan(0, 0, 0, recompute, 0);
    }
    List<String> auto = new ArrayList<>();
    for (String key : z.keys()) {
      if (!DeepSpeedKeys.ZERO.contains(key)) {
        illegal(
            "zero-key",
            "zero_optimization." + key + " is not known." + Names.hint(key, DeepSpeedKeys.ZERO),
            "Extra inputs are not permitted",
            "correct or drop it");
      } else if (!z.isSection(key) && z.has(key) && !trained && z.text(key, "").equals("auto")) {
        auto.add(key);
      }
    }
    if (!auto.isEmpty()) {
      findings.add(
          Finding.unchecked(
              "zero-auto",
              "in zero_optimization "
                  + String.join(", ", auto)
                  + (auto.size() == 1 ? " is auto" : " are auto")
                  + ", which DeepSpeed drops silently",
              "write the numbers"));
    }
    int stage = DeepSpeedReader.number(z, "stage", 0);
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
    if (pp > 1 && stage >= 2) {
      illegal(
          "zero-pipeline",
          "ZeRO stage " + stage + " with a pipeline of " + pp + " stages",
          "ZeRO-2 and ZeRO-3 are incompatible with pipeline parallelism",
          "stage 1, or pp 1");
    }
    Section offloaded = z.isSection("offload_param") ? z.section("offload_param", false) : null;
    if (offloaded != null && !offloaded.text("device", "none").equals("none")) {
      notes.add("weights offloaded to the host are not priced: they count as on the GPU");
    }
    int hpz = DeepSpeedReader.number(z, "zero_hpz_partition_size", 1);
    int mics = DeepSpeedReader.number(z, "mics_shard_size", 0);
    return new MemoryPlan(stage, Math.max(0, mics), hpz > 1 ? hpz : 0, recompute, offload);
  }
}
