package dev.meshplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Public questions about shapes, pipelines and combinations, put to audit as users put them. */
class CaseShapesTest {
  private static final String BATCH = " --seq-length 4096 --micro-batch-size 1 ";

  @TempDir Path folder;

  private Said audit(String name, String text, String system, int gpus, String... more)
      throws IOException {
    String file = Files.writeString(folder.resolve(name), text).toString();
    List<String> args =
        new ArrayList<>(
            List.of("audit", file, "--system", system, "--gpus", "" + gpus, "--no-best"));
    args.addAll(Arrays.asList(more));
    return Said.run(args.toArray(String[]::new));
  }

  private Said megatron(String model, String system, int gpus, String flags) throws IOException {
    return audit(
        "train.sh", "torchrun pretrain_gpt.py " + flags + "\n", system, gpus, "--model", model);
  }

  @Test
  void c006NarrowExpertsCanOnlyStayWhole() throws IOException {
    String flags =
        "--num-layers 24 --hidden-size 2048 --num-attention-heads 16 --num-experts 64"
            + " --moe-router-topk 8 --moe-ffn-hidden-size 320 --swiglu --bf16 --fp8-format e4m3"
            + " --fp8-recipe blockwise --sequence-parallel --disable-bias-linear"
            + " --moe-token-dispatcher-type alltoall --global-batch-size 8"
            + BATCH;
    for (int tp : List.of(2, 4, 8)) {
      megatron("", "l40s-pcie-8", 8, flags + " --tensor-model-parallel-size " + tp)
          .holds("experts of width 320 over etp " + tp, "no multiple of the fp8 block of 128")
          .holds("--expert-tensor-parallel-size 1 (keep experts whole: EP instead)");
    }
    String whole = " --expert-tensor-parallel-size 1 --expert-model-parallel-size 8";
    megatron("", "l40s-pcie-8", 8, flags + whole).lacks("fp8 block");
  }

  @Test
  void c008AndC009WhatHeadsForbidAPipelineAllows() throws IOException {
    String flags =
        "--num-layers 61 --multi-latent-attention --num-experts 256 --bf16 --sequence-parallel"
            + " --expert-tensor-parallel-size 1 --global-batch-size 16"
            + BATCH;
    String tp = " --tensor-model-parallel-size ";
    String pp = " --pipeline-model-parallel-size ";
    megatron("deepseek-v3", "hgx-h100", 14, flags + tp + 14)
        .holds("[heads]", "heads 128, tp 14", "--tensor-model-parallel-size 2");
    megatron(
            "deepseek-v3",
            "hgx-h100",
            14,
            flags + tp + 2 + pp + "7 --decoder-last-pipeline-num-layers 7")
        .lacks("refused")
        .holds("does not fit");
    megatron("deepseek-v3", "hgx-h100", 24, flags + tp + 24).holds("heads 128, tp 24");
    megatron(
            "deepseek-v3",
            "hgx-h100",
            24,
            flags + tp + 8 + pp + "3 --decoder-last-pipeline-num-layers 21")
        .lacks("refused");
  }

  @Test
  void c011UlyssesSplitsSevenKeyHeadsBySevenOnly() throws IOException {
    String flags =
        "deepspeed pretrain_gpt.py --deepspeed --zero-stage 1 --no-pipeline-parallel --bf16"
            + " --num-layers 28 --hidden-size 3584 --num-attention-heads 28"
            + " --num-key-value-heads 7 --max-position-embeddings 28672 --seq-length 28672"
            + " --micro-batch-size 1 --global-batch-size 2 --ds-sequence-parallel-size ";
    audit("two.sh", flags + "2\n", "hgx-h100", 14)
        .holds(
            "fails later, not checked at start [cp-heads]",
            "kv_heads 7",
            "instead: --ds-sequence-parallel-size 1 or 7");
    Said seven = audit("seven.sh", flags + "7\n", "hgx-h100", 14);
    assertEquals(0, seven.code(), seven.text());
  }

  @Test
  void c014UnpaddedSequencesMustSplitByContextAndTensorRanks() throws IOException {
    String flags =
        "--num-layers 94 --num-experts 128 --bf16 --sequence-parallel"
            + " --tensor-model-parallel-size 8 --context-parallel-size 2"
            + " --expert-model-parallel-size 128 --expert-tensor-parallel-size 1"
            + " --micro-batch-size 1 --global-batch-size 64 --seq-length ";
    megatron("qwen3-235b-a22b", "hgx-h100", 128, flags + 262144).lacks("sequence");
    megatron("qwen3-235b-a22b", "hgx-h100", 128, flags + 262132)
        .holds("sequence", "Nearest: 262128, 262144");
  }

  @Test
  void c034LeftOverLayersGoToTheMiddle() throws IOException {
    String flags =
        "--hidden-size 4096 --num-attention-heads 32 --bf16 --pipeline-model-parallel-size 4"
            + " --global-batch-size 8"
            + BATCH
            + "--num-layers ";
    megatron("", "hgx-h100", 4, flags + 94)
        .holds(
            "--decoder-first-pipeline-num-layers 23 --decoder-last-pipeline-num-layers 23, middle"
                + " stages 24");
    megatron("", "hgx-h100", 4, flags + 61).holds("middle stages 16");
  }

  @Test
  void c037ZeroThreeWithoutAPipelineMustSaySo() throws IOException {
    String flags =
        "deepspeed pretrain_gpt.py --deepspeed --zero-stage 3 --fp16 --num-layers 24"
            + " --hidden-size 2048 --num-attention-heads 16 --max-position-embeddings 2048"
            + " --seq-length 2048 --micro-batch-size 1 --global-batch-size 8"
            + " --tensor-model-parallel-size 4 ";
    Said refused = audit("a.sh", flags + "\n", "hgx-a100-80", 8);
    refused.holds(
        "the framework: ZeRO-2 and ZeRO-3 are incompatible with pipeline parallelism",
        "instead: --no-pipeline-parallel");
    assertEquals(7, refused.code());
    audit("b.sh", flags + "--no-pipeline-parallel\n", "hgx-a100-80", 8)
        .lacks("incompatible with pipeline");
    audit("c.sh", flags + "--pipeline-model-parallel-size 2\n", "hgx-a100-80", 8)
        .holds("ZeRO stage 3 with a pipeline of 2 stages");
  }

  @Test
  void c040AndC041DeepEpHasKernelsForSomeGroupsOnNodesOfEight() throws IOException {
    String flags =
        "--num-layers 48 --num-experts 384 --hidden-size 2048 --num-attention-heads 16 --bf16"
            + " --moe-ffn-hidden-size 512 --moe-router-topk 8 --expert-tensor-parallel-size 1"
            + " --disable-bias-linear --moe-token-dispatcher-type flex --moe-enable-deepep"
            + " --global-batch-size 192"
            + BATCH
            + "--expert-model-parallel-size ";
    megatron("", "gb200-nvl72", 64, flags + 32)
        .holds("an expert group of 32 spans nodes of 4", "--moe-flex-dispatcher-backend hybridep");
    megatron("", "hgx-h100", 192, flags + 96)
        .holds("not of 96", "--moe-token-dispatcher-type alltoall");
    megatron("", "gh200-1", 2, flags + 2).holds("spans nodes of 1");
    megatron("", "hgx-h100", 64, flags + 64).lacks("DeepEP");
  }

  @Test
  void c069SixtyOneLayersOnEightStagesHoldEightAtMost() throws IOException {
    megatron(
            "",
            "hgx-h200",
            8,
            "--hidden-size 2048 --num-attention-heads 16 --bf16 --pipeline-model-parallel-size 8"
                + " --num-layers 61 --global-batch-size 8"
                + BATCH)
        .holds(
            "--decoder-first-pipeline-num-layers 6 --decoder-last-pipeline-num-layers 7, middle"
                + " stages 8");
  }
}
