package dev.meshplan.formats;

import java.util.ArrayList;
import java.util.List;

/** MoE and MLA flags that Megatron-LM d98e8a64 refuses together. */
final class MegatronExpertChecks {
  private final MegatronConfig c;
  private final List<Finding> out = new ArrayList<>();

  private MegatronExpertChecks(MegatronConfig c) {
    this.c = c;
  }

  static List<Finding> of(MegatronConfig c) {
    MegatronExpertChecks e = new MegatronExpertChecks(c);
    e.attention();
    e.router();
    e.dispatch();
    e.overlap();
    return e.out;
  }

  private boolean has(String flag) {
    return c.has(flag);
  }

  private void add(boolean broken, String id, String sentence, String says, String cure) {
    if (broken) {
      out.add(Finding.illegal(id, sentence, says, cure));
    }
  }

  private void attention() {
    add(
        has("--multi-latent-attention") && has("--group-query-attention"),
        "mla-gqa",
        "latent attention has no query groups",
        "Group query attention and multi latent attention are mutually exclusive",
        "drop --group-query-attention and --num-query-groups");
  }

  private void router() {
    add(
        c.architecture < 8 && has("--moe-grouped-gemm"),
        "grouped-gemm-gpu",
        "grouped GEMMs need compute capability 8.0 (Ampere or newer)",
        "Unsupported compute capability for GroupedGEMM kernels.",
        "drop --moe-grouped-gemm");
    boolean sigmoid = !c.flags.text("--moe-router-score-function", "softmax").equals("softmax");
    add(
        has("--moe-router-enable-expert-bias") && !sigmoid,
        "expert-bias-score",
        "the expert bias needs sigmoid scores",
        "Expert bias for aux-loss-free routing only supports sigmoid score function",
        "--moe-router-score-function sigmoid");
    int groups = c.flags.integer("--moe-router-num-groups", 0);
    add(
        groups > 0 && c.experts % groups != 0,
        "router-groups",
        groups + " router groups do not divide " + c.experts + " experts",
        "num_moe_experts must be divisible by moe_router_num_groups",
        "a divisor of " + c.experts);
    add(
        c.moe()
            && c.flags.integer("--moe-router-topk", 2) == 1
            && !sigmoid
            && !has("--moe-router-pre-softmax"),
        "router-top1",
        "top-1 routing with softmax needs the softmax first",
        "Please use --moe-router-pre-softmax when topk is 1",
        "--moe-router-pre-softmax");
    long model = (long) c.etp * c.ep * c.pp;
    if (has("--use-tp-pp-dp-mapping") && c.moe() && c.world % model == 0 && c.dp() > 0) {
      long expertDp = c.world / model;
      add(
          expertDp != (long) c.dp() * c.cp,
          "rank-order",
          "with the tp-pp-dp rank order dense dp ("
              + (long) c.dp() * c.cp
              + ") and expert dp ("
              + expertDp
              + ") must be equal",
          "pp-last order requires equal dense and expert data parallel sizes",
          "drop --use-tp-pp-dp-mapping");
    }
  }

  private void dispatch() {
    String type = c.flags.text("--moe-token-dispatcher-type", "allgather");
    add(
        has("--moe-enable-deepep") && !type.equals("flex"),
        "deepep-flex",
        "DeepEP needs the flex dispatcher",
        "DeepEP backend is only supported with flex token dispatcher",
        "--moe-token-dispatcher-type flex --moe-flex-dispatcher-backend deepep");
    if (c.ep > 1 && c.tp > 1 && !has("--sequence-parallel")) {
      out.add(
          Finding.unchecked(
              "moe-sequence-parallel",
              "EP with TP and no sequence parallelism: Megatron-LM only warns, memory and speed"
                  + " suffer",
              "--sequence-parallel"));
    }
  }

  private void overlap() {
    boolean overlap = has("--overlap-moe-expert-parallel-comm");
    List<String> modules = c.flags.list("--recompute-modules");
    String type = c.flags.text("--moe-token-dispatcher-type", "allgather");
    add(
        overlap && (modules.contains("moe") || modules.contains("shared_experts")),
        "ep-overlap-modules",
        "the expert exchange can't overlap with recomputed moe or shared experts",
        "disable moe recomputation when enabling EP A2A overlap",
        "--recompute-modules moe_act layernorm");
    add(
        overlap && (c.ep <= 1 || type.equals("allgather")),
        "ep-overlap-dispatcher",
        "the expert exchange overlaps with EP > 1 and the alltoall or flex dispatcher",
        "EP A2A overlap requires expert parallelism and alltoall or flex dispatcher",
        "--moe-token-dispatcher-type alltoall");
    add(
        overlap && has("--moe-shared-expert-overlap"),
        "ep-overlap-shared",
        "shared experts can't overlap at the same time",
        "disable moe_shared_expert_overlap when enabling EP A2A overlap",
        "drop --moe-shared-expert-overlap");
    add(
        has("--delay-wgrad-compute") && !overlap,
        "delay-wgrad",
        "delayed weight gradients need the overlapped expert exchange",
        "overlap_moe_expert_parallel_comm must be enabled when enabling delay_wgrad_compute",
        "--overlap-moe-expert-parallel-comm");
  }
}
