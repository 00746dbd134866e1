package dev.meshplan.formats;

import dev.meshplan.model.Model;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads a launch of Megatron-DeepSpeed: degrees and shape are flags, the rest is a DeepSpeed
 * configuration, which the script writes, names, or leaves to its own flags.
 */
final class MegatronDeepSpeedReader {
  private final MegatronConfig c;
  private final MegatronFlags flags;
  private final List<Finding> findings = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();

  private MegatronDeepSpeedReader(MegatronConfig c) {
    this.c = c;
    this.flags = c.flags;
  }

  /**
   * The plan in it.
   *
   * @param json the configuration; empty = the script's own, else what its flags say
   */
  static ForeignPlan read(String file, MegatronConfig c, String json) {
    return new MegatronDeepSpeedReader(c).plan(file, json);
  }

  private ForeignPlan plan(String file, String json) {
    Model shape = c.named != null ? c.named : MegatronShape.of(c);
    int stage = Math.max(0, flags.integer("--zero-stage", 0));
    String text = json.isEmpty() ? written() : json;
    if (text.isEmpty()) {
      notes.add(
          "the DeepSpeed configuration is not given: batch and ZeRO stage are those of the flags");
      text = fromFlags(stage);
    }
    ForeignPlan ds =
        DeepSpeedReader.read(file, text, c.world, c.tp, c.pp, c.cp, shape, Math.max(1, c.sequence));
    checks(stage, ds.memory().sharding());
    flags.throwIfUnknown();
    Dims d = ds.dims();
    boolean full =
        flags.has("--deepspeed-activation-checkpointing")
            || flags.has("--checkpoint-activations")
            || flags.text("--recompute-granularity", "").equals("full");
    MemoryPlan m = ds.memory();
    List<Finding> all = new ArrayList<>(flags.findings());
    all.addAll(findings);
    all.addAll(ds.findings());
    List<String> said = new ArrayList<>(flags.notes());
    said.addAll(notes);
    ds.notes().stream().filter(n -> !n.startsWith("tensor,")).forEach(said::add);
    return new ForeignPlan(
        "Megatron-DeepSpeed launch",
        shape,
        "",
        null,
        new Dims(d.tp(), d.cp(), d.pp(), d.dp(), Math.max(d.ep(), c.ep), 1, 1),
        ds.batch(),
        ds.schedule(),
        new MemoryPlan(
            m.sharding(),
            m.shardGroup(),
            m.secondaryGroup(),
            full ? Recompute.FULL : Recompute.NONE,
            m.optimizerOffload()),
        List.of(),
        0,
        ds.training(),
        flags.all(),
        all,
        said);
  }

  private String written() {
    return flags.documents().stream()
        .filter(d -> d.stripLeading().startsWith("{") && !ShellScope.isUnknown(d))
        .reduce((a, b) -> b)
        .orElse("");
  }

  private String fromFlags(int stage) {
    return "{\"train_batch_size\": "
        + c.globalBatch
        + ", \"train_micro_batch_size_per_gpu\": "
        + c.microBatch
        + ", \"zero_optimization\": {\"stage\": "
        + stage
        + "}, \""
        + (flags.has("--fp16") ? "fp16" : "bf16")
        + "\": {\"enabled\": true}}";
  }

  private void checks(int flagged, int configured) {
    boolean noPipeline = flags.has("--no-pipeline-parallel");
    if (noPipeline && c.pp > 1) {
      findings.add(
          Finding.illegal(
              "no-pipeline",
              "--no-pipeline-parallel with pp " + c.pp,
              "pipeline_model_parallel_size must be 1 if pipeline parallel is disabled",
              "drop one of them"));
    }
    if (!noPipeline && c.pp == 1 && Math.max(flagged, configured) >= 2) {
      findings.add(
          Finding.illegal(
              "zero-pipeline-class",
              "with pp 1 and no --no-pipeline-parallel the pipeline engine is used all the same, and"
                  + " it takes no ZeRO stage "
                  + Math.max(flagged, configured),
              "ZeRO-2 and ZeRO-3 are incompatible with pipeline parallelism",
              "--no-pipeline-parallel"));
    }
    if (flags.has("--zero-stage") && flagged != configured) {
      findings.add(
          Finding.unchecked(
              "zero-stage-twice",
              "--zero-stage " + flagged + ", but the configuration says stage " + configured,
              "the same stage in both"));
    }
    if (c.cp > 1 && flags.has("--sequence-parallel")) {
      findings.add(
          Finding.illegal(
              "two-sequence-parallels",
              "DeepSpeed's sequence parallelism and Megatron's exclude each other",
              "sequence_parallel_size > 1 enables DeepSpeed's sequence parallel, which is not"
                  + " compatible with Megatron-LM's sequence parallel",
              "drop --sequence-parallel"));
    }
    if (flags.has("--num-layers-per-virtual-pipeline-stage") && c.pp <= 2) {
      findings.add(
          Finding.illegal(
              "vpp-pipeline",
              "virtual stages need pp > 2",
              "pipeline-model-parallel size should be greater than 2 with interleaved schedule",
              "drop --num-layers-per-virtual-pipeline-stage"));
    }
  }
}
