package dev.meshplan.formats;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Combinations of flags that Megatron-LM d98e8a64 refuses, and some that it lets through although
 * they fail later. Rules of degrees and shapes are not here: they are entries of the rule lists.
 */
final class MegatronFlagChecks {
  private static final Set<String> MODULES =
      Set.of(
          "core_attn",
          "moe_act",
          "layernorm",
          "mla_up_proj",
          "mlp",
          "moe",
          "shared_experts",
          "gdn_norm_out",
          "gdp_in_proj",
          "gdp_qkv",
          "mhc");

  private final MegatronConfig c;
  private final List<Finding> out = new ArrayList<>();

  private MegatronFlagChecks(MegatronConfig c) {
    this.c = c;
  }

  static List<Finding> of(MegatronConfig c) {
    MegatronFlagChecks f = new MegatronFlagChecks(c);
    f.grid();
    f.sequence();
    f.recompute();
    f.offload();
    f.overlap();
    f.out.addAll(MegatronShardingChecks.of(c));
    f.out.addAll(MegatronExpertChecks.of(c));
    return f.out;
  }

  private boolean has(String flag) {
    return c.has(flag);
  }

  private void add(boolean broken, String id, String sentence, String says, String cure) {
    if (broken) {
      out.add(Finding.illegal(id, sentence, says, cure));
    }
  }

  private void grid() {
    long model = (long) c.tp * c.pp * c.cp * c.gtp;
    add(
        c.world % model != 0,
        "world-product",
        "tp x pp x cp"
            + (c.gtp > 1 ? " x gtp" : "")
            + " = "
            + c.tp
            + " x "
            + c.pp
            + " x "
            + c.cp
            + (c.gtp > 1 ? " x " + c.gtp : "")
            + " = "
            + model
            + " does not divide the "
            + c.world
            + " GPUs, so dp is no whole number",
        "world size (" + c.world + ") is not divisible by total_model_size",
        (c.world < model ? "" : c.world / model * model + " or ")
            + (c.world / model + 1) * model
            + " GPUs");
    int shards = c.flags.integer("--tensor-parallel-num-weight-shards", c.tp);
    add(
        shards < c.tp || shards % c.tp != 0,
        "weight-shards",
        shards + " weight shards are no multiple of tp " + c.tp,
        "tensor_parallel_num_weight_shards must be divisible by tensor-model-parallel-size",
        "a multiple of " + c.tp);
    int instances = c.flags.integer("--num-distributed-optimizer-instances", 1);
    add(
        instances > 1 && c.dp() > 0 && c.dp() * c.cp % instances != 0,
        "optimizer-instances",
        instances + " optimizer instances do not divide dp x cp " + c.dp() * c.cp,
        "data parallel size should be divisible by partial DistOpt shard factor",
        "a divisor of " + c.dp() * c.cp);
    add(
        c.architecture < 10
            && (c.tp > 1 || c.cp > 1)
            && !fsdp()
            && !has("--overlap-moe-expert-parallel-comm")
            && !c.flags.environment("CUDA_DEVICE_MAX_CONNECTIONS", "1").equals("1"),
        "connections",
        "TP or CP on GPUs before Blackwell need CUDA_DEVICE_MAX_CONNECTIONS=1",
        "Using tensor model parallelism or context parallelism require setting the environment"
            + " variable CUDA_DEVICE_MAX_CONNECTIONS to 1",
        "export CUDA_DEVICE_MAX_CONNECTIONS=1");
  }

  private boolean fsdp() {
    return has("--use-megatron-fsdp") || has("--use-torch-fsdp2");
  }

  private void sequence() {
    int positions = c.flags.integer("--max-position-embeddings", c.sequence);
    add(
        positions < c.sequence,
        "positions",
        "max_position_embeddings " + positions + " is less than the sequence " + c.sequence,
        "max_position_embeddings must be at least seq_length",
        "--max-position-embeddings " + c.sequence);
    List<String> comm = c.flags.list("--cp-comm-type");
    List<String> sizes = c.flags.list("--hierarchical-context-parallel-sizes");
    add(
        comm.contains("a2a+p2p") && sizes.isEmpty(),
        "hierarchical-cp",
        "a2a+p2p needs the sizes of both levels",
        "--hierarchical-context-parallel-sizes must be set when a2a+p2p is used in cp comm",
        "--hierarchical-context-parallel-sizes A2A P2P, product " + c.cp);
    long product = 1;
    for (String s : sizes) {
      product *= s.matches("\\d{1,6}") ? Long.parseLong(s) : 0;
    }
    add(
        !sizes.isEmpty() && product != c.cp,
        "hierarchical-cp",
        "hierarchical sizes multiply to " + product + ", cp is " + c.cp,
        "hierarchical_context_parallel_sizes must multiply to context-parallel-size",
        "sizes whose product is " + c.cp);
    add(
        comm.size() > 1 && comm.size() != c.layers,
        "cp-comm-list",
        "--cp-comm-type lists " + comm.size() + " kinds for " + c.layers + " layers",
        "Length of cp_comm_type (" + comm.size() + ") should equal to the total number of layers",
        "one kind, or one per layer");
  }

  private void recompute() {
    String granularity =
        has("--recompute-activations") ? "selective" : c.flags.text("--recompute-granularity", "");
    boolean method = has("--recompute-method");
    int n = c.flags.integer("--recompute-num-layers", 0);
    boolean full = granularity.equals("full");
    boolean selective = granularity.equals("selective");
    add(
        full && !method,
        "recompute-method",
        "full recompute needs a method",
        "When using recompute_granularity: full, recompute_method must be block or uniform",
        "--recompute-method uniform");
    add(
        full && method && n < 1,
        "recompute-layers",
        "full recompute needs a number of layers",
        "recompute_num_layers must be between 1 and the layers of a pipeline rank",
        "--recompute-num-layers 1");
    add(
        selective && (method || n > 0),
        "recompute-selective",
        "selective recompute takes modules, no method or number of layers",
        "recompute_method is not yet supported for selective recomputing granularity",
        "drop --recompute-method and --recompute-num-layers");
    List<String> modules = c.flags.list("--recompute-modules");
    modules.stream()
        .filter(m -> !MODULES.contains(m))
        .forEach(
            m ->
                add(
                    true,
                    "recompute-modules",
                    m + " is no module of selective recompute",
                    "Invalid choices for recompute_modules: " + m,
                    "one of " + String.join(", ", MODULES.stream().sorted().toList())));
    add(
        modules.contains("shared_experts") && has("--moe-shared-expert-overlap"),
        "recompute-shared-experts",
        "shared experts can't be recomputed while they overlap",
        "shared_experts recompute cannot work with --moe-shared-expert-overlap",
        "drop one of them");
    boolean distribute = has("--distribute-saved-activations");
    add(
        distribute && (c.tp <= 1 || !full || has("--sequence-parallel")),
        "distribute-activations",
        "saved activations are distributed only with TP, full recompute and no sequence"
            + " parallelism",
        "distribute_saved_activations must be false when sequence parallel is enabled",
        "drop --distribute-saved-activations");
    int off = c.flags.integer("--cpu-offloading-num-layers", 0);
    add(
        off > 0 && c.pp > 1,
        "cpu-offload-pipeline",
        "activations can't be offloaded in a pipeline",
        "Currently there is no support for Pipeline parallelism with CPU offloading",
        "pp 1, or --fine-grained-activation-offloading");
    add(
        off > 0 && !granularity.isEmpty(),
        "cpu-offload-recompute",
        "activations can't be offloaded and recomputed",
        "CPU offloading does not work when activation recomputation is enabled",
        "drop one of them");
  }

  private void offload() {
    boolean aware = has("--use-precision-aware-optimizer");
    add(
        has("--optimizer-cpu-offload") && !aware,
        "optimizer-offload",
        "optimizer offload needs the precision-aware optimizer",
        "The optimizer cpu offload must be used in conjunction with"
            + " --use-precision-aware-optimizer",
        "--use-precision-aware-optimizer");
    for (String flag :
        List.of(
            "--exp-avg-dtype", "--exp-avg-sq-dtype", "--main-params-dtype", "--main-grads-dtype")) {
      add(
          !c.flags.text(flag, "fp32").equals("fp32") && !aware,
          "optimizer-types",
          flag + " " + c.flags.text(flag, "") + " needs the precision-aware optimizer",
          flag.substring(2).replace('-', '_')
              + " can only be fp32 when not using precision-aware"
              + " optimizer",
          "--use-precision-aware-optimizer");
    }
    add(
        has("--ddp-bucket-size") && has("--ddp-num-buckets"),
        "buckets",
        "bucket size and bucket count are both given",
        "Cannot specify both num_buckets and bucket_size",
        "keep one");
  }

  private void overlap() {
    add(
        has("--tp-comm-overlap") && c.tp == 1,
        "tp-overlap-single",
        "TP overlap needs tp > 1: sequence parallelism is dropped without it",
        "Tensor parallel communication/GEMM overlap can happen only when sequence parallelism is"
            + " enabled",
        "drop --tp-comm-overlap");
    boolean gather = has("--overlap-param-gather");
    add(
        gather && !has("--use-distributed-optimizer") && !has("--use-megatron-fsdp"),
        "param-gather-optimizer",
        "parameter gather overlaps only with the distributed optimizer or Megatron-FSDP",
        "--overlap-param-gather only supported with distributed optimizer, megatron fsdp",
        "--use-distributed-optimizer");
    add(
        gather && !has("--overlap-grad-reduce"),
        "param-gather-reduce",
        "parameter gather overlaps only with overlapped gradient reduction",
        "Must use --overlap-param-gather with --overlap-grad-reduce",
        "--overlap-grad-reduce");
  }
}
