package dev.meshplan.formats;

import dev.meshplan.hardware.Precision;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.LossKernel;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Schedule;
import dev.meshplan.plan.Training;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A plan as Megatron-LM's flags and environment; every degree is written out. */
final class MegatronArguments {
  private final Job job;
  private final Dims d;
  private final Training t;
  private final MemoryPlan memory;
  private final List<String> notes = new ArrayList<>();

  MegatronArguments(Job job) {
    this.job = job;
    this.d = job.dims();
    this.t = job.training();
    this.memory = job.plan().memory();
  }

  List<String> notes() {
    return notes;
  }

  /** Megatron-FSDP shards gradients, or gradients and weights. */
  private boolean fsdp() {
    return memory.sharding() >= 2;
  }

  /** Why Megatron-LM can't express the plan, or null. */
  Refusal refusal() {
    Refusal shape = new MegatronModel(job).refusal();
    if (shape != null) {
      return shape;
    }
    Schedule schedule = job.plan().schedule();
    if (schedule != Schedule.ONE_F_ONE_B && schedule != Schedule.INTERLEAVED && d.pp() > 1) {
      return new Refusal(
          "Megatron-LM has no " + schedule.key() + " schedule",
          "schedule 1f1b or interleaved-1f1b");
    }
    if (t.tuning().adapters()) {
      return new Refusal("Megatron-LM has no LoRA", "--to megatron-bridge");
    }
    if (memory.secondaryGroup() > 0) {
      return new Refusal(
          "Megatron-LM has no second copy of the weights (hpZ)", "sharding hsdp or 1");
    }
    if (!job.gpu().supports(t.precision())) {
      return new Refusal(
          job.gpu().name() + " has no " + t.precision().key() + " arithmetic", "precision bf16");
    }
    if (memory.optimizerOffload() > 0 && fsdp()) {
      return new Refusal("Megatron-FSDP keeps its optimizer on the GPU", "sharding 1 with offload");
    }
    if (t.optimizerBytes() != 12 && t.optimizerBytes() != 8) {
      return new Refusal(
          "optimizer states of " + t.optimizerBytes() + " bytes a parameter have no flags",
          "12 (fp32 Adam) or 8 (bf16 moments)");
    }
    return BrokenRules.of(job, Framework.MEGATRON);
  }

  /** Flags of parallelism, batch, memory, overlap and precision. */
  List<Argument> arguments() {
    Argument.Builder b = new Argument.Builder();
    grid(b);
    stages(b);
    b.add("--micro-batch-size", job.plan().batch().microBatch());
    b.add("--global-batch-size", t.globalBatch());
    sharding(b);
    precision(b);
    recompute(b);
    overlap(b);
    if (job.moe()) {
      new MegatronExperts(job, notes).add(b);
    }
    kernels(b);
    return b.list();
  }

  private void grid(Argument.Builder b) {
    b.add("--tensor-model-parallel-size", d.tp());
    b.add("--pipeline-model-parallel-size", d.pp());
    b.add("--context-parallel-size", d.cp());
    b.addIf(
        d.cp() > 1,
        "--cp-comm-type",
        t.cpKind() == CpKind.P2P ? "p2p" : t.cpKind() == CpKind.ALL_TO_ALL ? "a2a" : "allgather");
    if (job.moe()) {
      b.add("--expert-model-parallel-size", d.ep());
      b.add("--expert-tensor-parallel-size", d.etp());
    }
    b.addIf(t.sequenceParallel() && d.tp() > 1, "--sequence-parallel");
  }

  private void stages(Argument.Builder b) {
    if (d.pp() == 1 || new MegatronModel(job).hybrid()) {
      return;
    }
    if (job.plainStages()) {
      b.addIf(d.vpp() > 1, "--num-virtual-stages-per-pipeline-rank", d.vpp());
    } else if (firstLast()) {
      List<Integer> n = job.stageLayers();
      b.add("--decoder-first-pipeline-num-layers", n.get(0));
      b.add("--decoder-last-pipeline-num-layers", n.get(n.size() - 1));
    } else {
      b.add("--pipeline-model-parallel-layout", MegatronLayout.write(job.plan().stages()));
    }
  }

  /** Only the first and the last stage differ from the rest. */
  private boolean firstLast() {
    List<Integer> n = job.stageLayers();
    return d.vpp() == 1
        && job.mtpLayers() == 0
        && n.get(0) > 0
        && n.get(n.size() - 1) > 0
        && n.subList(1, n.size() - 1).stream().distinct().count() <= 1;
  }

  private void sharding(Argument.Builder b) {
    int replicas = memory.shardGroup() > 0 ? d.dp() * d.cp() / memory.shardGroup() : 1;
    if (fsdp()) {
      b.add("--use-megatron-fsdp");
      b.add(
          "--data-parallel-sharding-strategy",
          memory.sharding() == 2 ? "optim_grads" : "optim_grads_params");
      b.add("--ckpt-format", "fsdp_dtensor");
      b.add("--no-gradient-accumulation-fusion");
    } else {
      b.addIf(memory.sharding() == 1, "--use-distributed-optimizer");
      b.addIf(!t.gradientFusion(), "--no-gradient-accumulation-fusion");
    }
    b.addIf(replicas > 1, "--num-distributed-optimizer-instances", replicas);
    boolean overlap = t.dpOverlap() && d.dp() * d.cp() > 1;
    b.addIf(overlap, "--overlap-grad-reduce");
    b.addIf(overlap && memory.sharding() > 0, "--overlap-param-gather");
    if (t.optimizerBytes() == 8 || memory.optimizerOffload() > 0) {
      b.add("--use-precision-aware-optimizer");
    }
    if (t.optimizerBytes() == 8) {
      b.add("--exp-avg-dtype", "bf16");
      b.add("--exp-avg-sq-dtype", "bf16");
    }
    if (memory.optimizerOffload() > 0) {
      b.add("--optimizer-cpu-offload");
      b.add("--optimizer-offload-fraction", memory.optimizerOffload());
    }
  }

  private void precision(Argument.Builder b) {
    b.add(t.precision() == Precision.FP16 ? "--fp16" : "--bf16");
    boolean gather = memory.sharding() > 0;
    switch (t.precision()) {
      case FP8 -> {
        b.add("--fp8-format", "hybrid");
        b.add("--fp8-recipe", "tensorwise");
        b.addIf(gather, "--fp8-param-gather");
      }
      case MXFP8 -> {
        b.add("--fp8-format", "e4m3");
        b.add("--fp8-recipe", "mxfp8");
        b.addIf(gather, "--fp8-param-gather");
        b.addIf(memory.sharding() == 1, "--reuse-grad-buf-for-mxfp8-param-ag");
      }
      case NVFP4 -> {
        b.add("--fp4-format", "e2m1");
        b.add("--fp4-recipe", "nvfp4");
      }
      default -> {}
    }
    if (t.gradientType() == GradientType.FP32) {
      b.add("--accumulate-allreduce-grads-in-fp32");
    } else if (t.precision() != Precision.FP16) {
      b.add("--grad-reduce-in-bf16");
    }
  }

  private void recompute(Argument.Builder b) {
    Recompute r = memory.recompute();
    switch (r.granularity()) {
      case NONE -> {}
      case SELECTIVE -> {
        b.add("--recompute-granularity", "selective");
        b.add("--recompute-modules", r.modules().stream().map(Module::key).toArray());
      }
      case FULL -> {
        b.add("--recompute-granularity", "full");
        int most = job.stageLayers().stream().mapToInt(n -> n).max().orElse(1);
        if (r.share() >= 1) {
          b.add("--recompute-method", "uniform");
          b.add("--recompute-num-layers", 1);
        } else {
          b.add("--recompute-method", "block");
          b.add("--recompute-num-layers", Math.max(1, Math.round(r.share() * most)));
        }
      }
    }
  }

  private void overlap(Argument.Builder b) {
    b.addIf(t.tpOverlap() && t.sequenceParallel() && d.tp() > 1, "--tp-comm-overlap");
    b.addIf(!t.ppOverlap() && d.vpp() > 1 && d.pp() > 2, "--no-overlap-p2p-communication");
    b.addIf(t.a2aOverlap() && d.ep() > 1, "--overlap-moe-expert-parallel-comm");
  }

  private void kernels(Argument.Builder b) {
    b.add("--transformer-impl", "transformer_engine");
    if (t.lossKernel() == LossKernel.FUSED) {
      b.add("--cross-entropy-loss-fusion");
      b.add("--cross-entropy-fusion-impl", "native");
    }
    switch (t.cudaGraph()) {
      case NONE -> {}
      case PARTIAL -> {
        b.add("--cuda-graph-impl", "transformer_engine");
        b.add("--cuda-graph-modules", "attn");
      }
      case FULL -> {
        b.add("--cuda-graph-impl", "full_iteration");
        b.add("--no-check-for-nan-in-loss-and-grad");
      }
    }
  }

  /** Environment that belongs to the plan. */
  Map<String, String> environment() {
    Map<String, String> env = new LinkedHashMap<>();
    boolean ordered = !job.gpu().architecture().blackwell() && (d.tp() > 1 || d.cp() > 1);
    env.put(
        "CUDA_DEVICE_MAX_CONNECTIONS",
        fsdp() ? "8" : t.a2aOverlap() && d.ep() > 1 ? "32" : ordered ? "1" : "32");
    if (job.system().host().grace()) {
      env.put("NCCL_NET_GDR_LEVEL", "PHB");
      env.put("NCCL_NET_GDR_C2C", "1");
    }
    if (job.moe()
        && new MegatronExperts(job, new ArrayList<>()).backend().equals("hybridep")
        && job.system().nodesPerDomain() > 1) {
      env.put("USE_MNNVL", "1");
      env.put("NVLINK_DOMAIN_SIZE", Integer.toString(job.system().domain().size()));
      env.put(
          "NUM_OF_HYBRID_EP_RANKS_PER_NVLINK_DOMAIN",
          Integer.toString(Math.min(d.ep() * d.etp(), job.system().domain().size())));
    }
    return env;
  }
}
