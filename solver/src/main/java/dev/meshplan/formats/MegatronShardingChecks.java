package dev.meshplan.formats;

import java.util.ArrayList;
import java.util.List;

/** Flags of low precision and sharding that Megatron-LM d98e8a64 refuses together. */
final class MegatronShardingChecks {
  private final MegatronConfig c;
  private final List<Finding> out = new ArrayList<>();

  private MegatronShardingChecks(MegatronConfig c) {
    this.c = c;
  }

  static List<Finding> of(MegatronConfig c) {
    MegatronShardingChecks s = new MegatronShardingChecks(c);
    s.precision();
    s.blocks();
    s.sharding();
    return s.out;
  }

  private boolean has(String flag) {
    return c.has(flag);
  }

  private boolean fsdp() {
    return has("--use-megatron-fsdp") || has("--use-torch-fsdp2");
  }

  private void add(boolean broken, String id, String sentence, String says, String cure) {
    if (broken) {
      out.add(Finding.illegal(id, sentence, says, cure));
    }
  }

  private void precision() {
    boolean fp8 = has("--fp8-format");
    add(
        has("--fp16") && has("--bf16"),
        "fp16-bf16",
        "fp16 and bf16 are both on",
        "AssertionError: assert not args.bf16",
        "keep one");
    add(
        fp8 && has("--fp4-format"),
        "fp8-fp4",
        "fp8 and fp4 are both asked for",
        "--fp4-format and --fp8-format cannot be used simultaneously",
        "keep one");
    add(
        has("--fp8-param-gather") && !fp8,
        "fp8-gather",
        "fp8 parameter gather needs fp8",
        "fp8_param must be used together with fp8 mode",
        "--fp8-format hybrid");
    add(
        has("--reuse-grad-buf-for-mxfp8-param-ag") && !has("--fp8-param-gather"),
        "fp8-reuse",
        "gradient buffers are reused only when parameters are gathered in fp8",
        "Reuse grad buffer only when keeping params in MXFP8",
        "--fp8-param-gather");
    boolean mx = c.flags.text("--fp8-recipe", "").equals("mxfp8") && fp8;
    if (mx && c.architecture < 10) {
      out.add(
          Finding.unchecked(
              "mxfp8-hardware",
              "mxfp8 needs Blackwell; Megatron-LM starts and Transformer Engine fails",
              "--fp8-recipe tensorwise"));
    }
  }

  /**
   * Block-wise fp8 scales blocks of 128: a split must not cut through one. Whole matrices may end
   * in a part of a block.
   */
  private void blocks() {
    if (!has("--fp8-format") || !c.flags.text("--fp8-recipe", "").equals("blockwise")) {
      return;
    }
    int expert = c.flags.integer("--moe-ffn-hidden-size", 0);
    if (c.moe() && c.etp > 1 && expert > 0 && (expert % c.etp != 0 || expert / c.etp % 128 != 0)) {
      out.add(
          Finding.unchecked(
              "fp8-blocks",
              "experts of width "
                  + expert
                  + " over etp "
                  + c.etp
                  + " are "
                  + expert / c.etp
                  + " wide, no multiple of the fp8 block of 128",
              "--expert-tensor-parallel-size 1 (keep experts whole: EP instead)"));
    }
    int dense = c.flags.integer("--ffn-hidden-size", 0);
    if (dense > 0 && c.tp > 1 && (dense % c.tp != 0 || dense / c.tp % 128 != 0)) {
      out.add(
          Finding.unchecked(
              "fp8-blocks",
              "the MLP of width "
                  + dense
                  + " over tp "
                  + c.tp
                  + " is no multiple of the fp8 block of 128",
              "a smaller tp"));
    }
  }

  private void sharding() {
    boolean fsdp = has("--use-megatron-fsdp");
    add(
        fsdp && !c.flags.text("--ckpt-format", "torch_dist").equals("fsdp_dtensor"),
        "fsdp-checkpoint",
        "Megatron-FSDP needs its own checkpoint format",
        "Megatron-FSDP only supports fsdp_dtensor checkpoint format",
        "--ckpt-format fsdp_dtensor");
    add(
        fsdp() && c.flags.environment("CUDA_DEVICE_MAX_CONNECTIONS", "1").equals("1"),
        "fsdp-connections",
        "FSDP does not run with CUDA_DEVICE_MAX_CONNECTIONS=1",
        "FSDP always requires CUDA_DEVICE_MAX_CONNECTIONS value large than one",
        "export CUDA_DEVICE_MAX_CONNECTIONS=8");
    add(
        has("--use-torch-fsdp2") && c.pp > 1,
        "fsdp2-pipeline",
        "torch FSDP2 has no pipeline",
        "--use-torch-fsdp2 is not supported with pipeline parallelism",
        "pp 1, or --use-distributed-optimizer");
    add(
        has("--use-torch-fsdp2") && (c.ep > 1 || has("--use-distributed-optimizer")),
        "fsdp2-others",
        "torch FSDP2 works without expert parallelism and without the distributed optimizer",
        "--use-torch-fsdp2 is not supported with MCore's distributed optimizer",
        "drop them, or --use-megatron-fsdp");
  }
}
