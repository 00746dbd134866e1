package dev.meshplan.formats;

import dev.meshplan.config.Keyed;
import dev.meshplan.estimate.Adapters;
import dev.meshplan.hardware.Precision;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Batch;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.CudaGraph;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Dispatcher;
import dev.meshplan.plan.Era;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.LossKernel;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Routing;
import dev.meshplan.plan.Schedule;
import dev.meshplan.plan.Training;
import dev.meshplan.plan.Tuning;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Reads a Megatron-LM launch script, argument list or args YAML as a plan. */
public final class MegatronReader {
  private final MegatronConfig c;

  private MegatronReader(MegatronConfig c) {
    this.c = c;
  }

  /**
   * The plan in it, with what the file alone breaks.
   *
   * @param file names it in messages
   * @param world GPUs
   * @param capability major compute capability of the GPUs (9 Hopper, 10 Blackwell)
   * @param given values of variables that win over the file's own
   * @throws dev.meshplan.config.InputException when it holds no flags, or a flag that is needed
   *     hangs on a variable that is not set
   */
  public static ForeignPlan read(
      String file, String text, int world, int capability, Map<String, String> given) {
    MegatronFlags flags = MegatronFlags.read(file, text, given);
    return of(new MegatronConfig(flags, world, capability, null, 0), "Megatron-LM arguments");
  }

  /** The plan of a configuration; {@code kind} says what it stood in. */
  static ForeignPlan of(MegatronConfig c, String kind) {
    MegatronFlags flags = c.flags;
    MegatronReader r = new MegatronReader(c);
    List<Finding> findings = new ArrayList<>(MegatronPipelineChecks.of(c));
    findings.addAll(MegatronFlagChecks.of(c));
    Training training = r.training();
    Dims dims =
        new Dims(c.tp, c.cp, c.pp, Math.max(1, c.samples), c.ep, c.moe() ? c.etp : 1, c.vpp());
    findings.addAll(0, flags.findings());
    List<String> notes = new ArrayList<>(flags.notes());
    if (c.gtp > 1) {
      notes.add("weight shards (GTP " + c.gtp + ") are counted as data parallelism");
    }
    if (flags.processes() > 0 && flags.processes() != c.world) {
      notes.add(
          "the launcher starts "
              + flags.processes()
              + " processes; judged is the job on "
              + c.world
              + " GPUs");
    }
    boolean sixteen = flags.has("--bf16") || flags.has("--fp16");
    if (!sixteen && kind.startsWith("Megatron-LM")) {
      notes.add("neither --bf16 nor --fp16 is on: Megatron-LM then trains in fp32; priced as bf16");
    }
    if (!flags.has("--micro-batch-size")) {
      notes.add("--micro-batch-size is absent: 1 is priced");
    }
    Batch batch = new Batch(c.microBatch, Math.max(1, c.microBatches()));
    MemoryPlan memory = r.memory();
    Model shape = c.named != null ? c.named : MegatronShape.of(c);
    flags.throwIfUnknown();
    return new ForeignPlan(
        kind,
        shape,
        flags.modelName(),
        r.adapters(),
        dims,
        batch,
        c.vpp() > 1 ? Schedule.INTERLEAVED : Schedule.ONE_F_ONE_B,
        memory,
        c.stageLayers(),
        c.mtpLayers(),
        training,
        flags.all(),
        findings,
        notes);
  }

  /** Megatron-SWIFT and Megatron-Bridge tune adapters; Megatron-LM itself has none. */
  private Adapters adapters() {
    String type =
        c.flags.text("--tuner-type", c.flags.text("--train-type", c.flags.text("--peft", "")));
    if (!type.startsWith("lora")) {
      return null;
    }
    boolean everywhere = c.flags.dialect() != FlagDialect.SWIFT || !c.has("--target-modules");
    everywhere |= c.flags.list("--target-modules").contains("all-linear");
    return new Adapters(
        c.flags.integer("--lora-rank", c.flags.dialect() == FlagDialect.SWIFT ? 8 : 32),
        everywhere);
  }

  private Precision precision() {
    if (c.has("--fp4-format")) {
      return Precision.NVFP4;
    }
    if (c.has("--fp8-format")) {
      return c.flags.text("--fp8-recipe", "").equals("mxfp8") ? Precision.MXFP8 : Precision.FP8;
    }
    return c.has("--fp16") ? Precision.FP16 : Precision.BF16;
  }

  private Training training() {
    String cp = c.flags.text("--cp-comm-type", "p2p");
    boolean half = c.flags.text("--exp-avg-dtype", "fp32").equals("bf16");
    return new Training(
        c.globalBatch,
        Math.max(1, c.sequence),
        0,
        precision(),
        Framework.MEGATRON,
        Era.MEGATRON_2026B,
        adapters() == null ? Tuning.FULL : Tuning.LORA,
        c.has("--grad-reduce-in-bf16") ? GradientType.BF16 : GradientType.FP32,
        half ? 8 : 12,
        c.flags.text("--moe-token-dispatcher-type", "").equals("flex")
            ? Dispatcher.DEDUPE
            : Dispatcher.NAIVE,
        switch (c.flags.text("--cuda-graph-impl", "none")) {
          case "full_iteration" -> CudaGraph.FULL;
          case "none" -> CudaGraph.NONE;
          default -> CudaGraph.PARTIAL;
        },
        c.has("--moe-router-force-load-balancing")
            ? Routing.BALANCED
            : c.has("--moe-expert-capacity-factor") ? Routing.DROP : Routing.NATURAL,
        c.has("--sequence-parallel") && c.tp > 1,
        c.has("--tp-comm-overlap"),
        c.has("--overlap-grad-reduce"),
        !c.has("--no-overlap-p2p-communication"),
        c.has("--overlap-moe-expert-parallel-comm"),
        cp.equals("a2a")
            ? CpKind.ALL_TO_ALL
            : cp.equals("allgather") ? CpKind.ALL_GATHER : CpKind.P2P,
        0,
        c.has("--cross-entropy-loss-fusion") ? LossKernel.FUSED : LossKernel.UNFUSED,
        !c.has("--no-gradient-accumulation-fusion"),
        List.of());
  }

  private MemoryPlan memory() {
    int sharding = c.has("--use-distributed-optimizer") ? 1 : 0;
    if (c.has("--use-megatron-fsdp")) {
      sharding =
          switch (c.flags.text("--data-parallel-sharding-strategy", "no_shard")) {
            case "optim" -> 1;
            case "optim_grads" -> 2;
            case "optim_grads_params" -> 3;
            default -> 0;
          };
    } else if (c.has("--use-torch-fsdp2")) {
      sharding = 3;
    }
    int instances = Math.max(1, c.flags.integer("--num-distributed-optimizer-instances", 1));
    int group = instances > 1 && c.dp() > 0 ? c.dp() * c.cp / instances : 0;
    double offload =
        c.has("--optimizer-cpu-offload") ? c.flags.number("--optimizer-offload-fraction", 1) : 0;
    return new MemoryPlan(sharding, group, 0, recompute(), offload);
  }

  private Recompute recompute() {
    String granularity =
        c.has("--recompute-activations")
            ? "selective"
            : c.flags.text("--recompute-granularity", "");
    if (granularity.equals("full")) {
      int most = c.stageLayers().stream().mapToInt(n -> n).max().orElse(1);
      double share =
          c.flags.text("--recompute-method", "uniform").equals("block")
              ? (double) c.flags.integer("--recompute-num-layers", 1) / Math.max(1, most)
              : 1;
      return new Recompute(
          Recompute.Granularity.FULL, List.of(), Math.min(1, Math.max(0.01, share)));
    }
    if (granularity.equals("selective")) {
      List<Module> modules =
          c.flags.list("--recompute-modules").stream()
              .map(MegatronReader::module)
              .filter(Objects::nonNull)
              .toList();
      return new Recompute(
          Recompute.Granularity.SELECTIVE,
          modules.isEmpty() ? List.of(Module.CORE_ATTN) : modules,
          0);
    }
    return Recompute.NONE;
  }

  private static Module module(String key) {
    return Arrays.stream(Module.values())
        .filter(m -> ((Keyed) m).key().equals(key))
        .findFirst()
        .orElse(null);
  }
}
