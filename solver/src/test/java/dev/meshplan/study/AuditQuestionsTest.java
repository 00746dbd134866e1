package dev.meshplan.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.formats.Finding;
import dev.meshplan.plan.Catalog;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Questions that people asked in public, answered through an audit. Numbers are those of the book.
 */
class AuditQuestionsTest {
  private static final Catalog CATALOG = Catalog.open(null);

  private static AuditReport audit(String model, String system, int gpus, String flags) {
    String text = "python pretrain_gpt.py " + flags + "\n";
    AuditInput i =
        AuditInput.read(AuditQuestion.of("train.sh", text, system, gpus, model), CATALOG);
    return Audit.of(i.plan(), i.problem(), false, "test");
  }

  private static AuditReport titan(String model, int gpus, String toml) {
    AuditInput i =
        AuditInput.read(AuditQuestion.of("config.toml", toml, "hgx-h100", gpus, model), CATALOG);
    return Audit.of(i.plan(), i.problem(), false, "test");
  }

  private static Finding finding(AuditReport r, String id) {
    return r.findings().stream()
        .filter(f -> f.id().equals(id))
        .findFirst()
        .orElseThrow(() -> new AssertionError(id + " is not among " + r.findings()));
  }

  private static void legal(AuditReport r) {
    assertEquals(List.of(), r.findings().stream().filter(f -> !f.id().equals("memory")).toList());
  }

  private static final String BATCH = " --seq-length 4096 --micro-batch-size 1 ";

  @Test
  void c001FiftyTwoHeadsDoNotSplitByThree() {
    AuditReport r =
        audit(
            "llama-33b",
            "dgx-1-v100",
            3,
            "--num-layers 60 --tensor-model-parallel-size 3 --fp16 --global-batch-size 3" + BATCH);
    assertTrue(finding(r, "heads").sentence().contains("52"));
    assertEquals(7, r.exitCode());
  }

  @Test
  void c004AndC006NarrowExpertsDoNotSplitIntoQuantisationBlocks() {
    String flags =
        "--num-layers 48 --num-experts 128 --moe-ffn-hidden-size 768 --bf16 --fp8-format e4m3"
            + " --fp8-recipe blockwise --global-batch-size 64 --sequence-parallel"
            + " --tensor-model-parallel-size 4 --expert-tensor-parallel-size 4"
            + BATCH;
    assertTrue(
        finding(audit("qwen3-30b-a3b", "hgx-h100", 8, flags), "fp8-blocks")
            .sentence()
            .contains("192"));
    legal(
        audit(
            "qwen3-30b-a3b",
            "hgx-h100",
            8,
            flags.replace("--expert-tensor-parallel-size 4", "--expert-tensor-parallel-size 1")));
  }

  @Test
  void c008AndC009HeadsForbidTp14AndTp24() {
    for (int tp : List.of(14, 24)) {
      AuditReport r =
          audit(
              "deepseek-v3",
              "hgx-h200",
              tp,
              "--num-layers 61 --multi-latent-attention --num-experts 256 --bf16"
                  + " --tensor-model-parallel-size "
                  + tp
                  + " --global-batch-size 8"
                  + BATCH);
      assertTrue(finding(r, "heads").sentence().contains("128"));
    }
  }

  @Test
  void c012AnOddSequenceDoesNotSplitByTp() {
    AuditReport r =
        titan(
            "llama-3.1-8b",
            8,
            """
            [training]
            local_batch_size = 1
            seq_len = 8193
            [parallelism]
            tensor_parallel_degree = 2
            """);
    assertTrue(finding(r, "sequence-tp").sentence().contains("Nearest: 8192, 8194"));
  }

  @Test
  void c014TheExpertProductMustDivideTheWorld() {
    String flags =
        "--num-layers 94 --num-experts 128 --bf16 --sequence-parallel"
            + " --tensor-model-parallel-size 8 --context-parallel-size 2"
            + " --expert-model-parallel-size 128 --expert-tensor-parallel-size 1"
            + " --seq-length 262144 --micro-batch-size 1 --global-batch-size 64";
    finding(audit("qwen3-235b-a22b", "hgx-h100", 64, flags), "expert-grid");
    assertTrue(
        audit("qwen3-235b-a22b", "hgx-h100", 128, flags).findings().stream()
            .noneMatch(f -> f.id().equals("expert-grid")));
  }

  @Test
  void c016ExpertTensorParallelismDefaultsToTp() {
    String flags =
        "--num-layers 32 --num-experts 8 --bf16 --sequence-parallel --tensor-model-parallel-size 2"
            + " --pipeline-model-parallel-size 2 --expert-model-parallel-size 2"
            + " --global-batch-size 8"
            + BATCH;
    Finding f = finding(audit("mixtral-8x7b", "hgx-h100", 4, flags), "expert-grid");
    assertTrue(f.sentence().contains("etp 2 x ep 2 = 4"), f.sentence());
    legal(audit("mixtral-8x7b", "hgx-h100", 4, flags + " --expert-tensor-parallel-size 1"));
  }

  @Test
  void c018TorchtitanFoldsExpertsOverAllAxesAndHasNoExpertTensorAxis() {
    String toml =
        """
        [training]
        local_batch_size = 1
        seq_len = 4096
        [parallelism]
        data_parallel_shard_degree = 2
        context_parallel_degree = 2
        tensor_parallel_degree = 2
        expert_parallel_degree = 8
        """;
    legal(titan("qwen3-30b-a3b", 8, toml));
    assertTrue(
        titan("qwen3-30b-a3b", 8, toml + "expert_tensor_parallel_degree = 2\n").findings().stream()
            .anyMatch(f -> f.id().equals("expert-tensor")));
  }

  @Test
  void c019DataParallelismIsDerived() {
    AuditReport r =
        audit(
            "llama-2-7b",
            "hgx-h100",
            8,
            "--num-layers 32 --bf16 --sequence-parallel --tensor-model-parallel-size 8"
                + " --global-batch-size 1"
                + BATCH);
    assertEquals(1, r.plan().dims().dp());
    legal(r);
  }

  @Test
  void c020ExpertsOverTwoNodesAreLegalAndCross() {
    AuditReport r =
        audit(
            "qwen3-30b-a3b",
            "hgx-h100",
            16,
            "--num-layers 48 --num-experts 128 --bf16 --sequence-parallel"
                + " --tensor-model-parallel-size 4 --expert-model-parallel-size 16"
                + " --expert-tensor-parallel-size 1 --use-distributed-optimizer"
                + " --global-batch-size 16"
                + BATCH);
    legal(r);
    assertTrue(
        r.crossings().get(0).contains("EP 16 leaves its 8-GPU domain after 8 ranks"),
        r.crossings().toString());
  }

  @Test
  void c024AndC025TheBatchIsHeldAndMustDivide() {
    AuditReport r =
        audit(
            "llama-3.1-8b",
            "hgx-h100",
            8,
            "--num-layers 32 --bf16 --seq-length 4096 --micro-batch-size 2 --global-batch-size"
                + " 100");
    assertTrue(finding(r, "batch-product").sentence().contains("Nearest: 96, 112"));
    String two =
        "--num-layers 32 --bf16 --seq-length 4096 --micro-batch-size 16"
            + " --global-batch-size 32";
    assertEquals(
        1,
        AuditInput.read(
                AuditQuestion.of("a", "x.py " + two, "hgx-h100", 2, "llama-3.1-8b"), CATALOG)
            .plan()
            .batch()
            .gradientAccumulation());
    assertEquals(
        2,
        AuditInput.read(
                AuditQuestion.of(
                    "a",
                    "x.py " + two + " --tensor-model-parallel-size 2",
                    "hgx-h100",
                    2,
                    "llama-3.1-8b"),
                CATALOG)
            .plan()
            .batch()
            .gradientAccumulation());
  }

  @Test
  void c027ThirtyLayersOnFourStagesNeedFirstAndLastCounts() {
    AuditReport r =
        audit(
            "",
            "hgx-h100",
            4,
            "--num-layers 30 --hidden-size 2048 --num-attention-heads 16 --bf16"
                + " --pipeline-model-parallel-size 4 --global-batch-size 8"
                + BATCH);
    Finding f = finding(r, "layers-pipeline");
    assertTrue(
        f.cure()
            .contains(
                "--decoder-first-pipeline-num-layers 7 --decoder-last-pipeline-num-layers 7, middle"
                    + " stages 8"),
        f.cure());
  }

  @Test
  void c029InterleavingNeedsAsManyMicroBatchesAsStages() {
    AuditReport r =
        audit(
            "",
            "hgx-h100",
            6,
            "--num-layers 36 --hidden-size 2048 --num-attention-heads 16 --bf16"
                + " --pipeline-model-parallel-size 6 --num-virtual-stages-per-pipeline-rank 2"
                + " --global-batch-size 3"
                + BATCH);
    assertTrue(finding(r, "vpp-micro-batches").says().contains("[PP=6, M=3]"));
  }

  @Test
  void c031TorchInterleavingTakesRoundsOfMicroBatches() {
    for (int m : List.of(10, 3, 9)) {
      AuditReport r =
          titan(
              "llama-3.1-8b",
              8,
              "[training]\nlocal_batch_size = "
                  + m
                  + "\nseq_len = 4096\n[parallelism]\n"
                  + "pipeline_parallel_degree = 4\ndata_parallel_shard_degree = 2\n"
                  + "pipeline_parallel_schedule = \"Interleaved1F1B\"\n");
      assertEquals(
          m == 9, r.findings().stream().anyMatch(f -> f.id().equals("micro-batch-rounds")), "" + m);
    }
  }

  @Test
  void c032FortySixLayersOnFourStages() {
    String flags =
        "--num-layers 46 --num-experts 128 --bf16 --sequence-parallel"
            + " --tensor-model-parallel-size 8 --pipeline-model-parallel-size 4"
            + " --expert-model-parallel-size 16 --expert-tensor-parallel-size 1"
            + " --micro-batch-size 2 --global-batch-size 16 --seq-length 4096";
    AuditReport r = audit("glm-4.5-air", "hgx-h100", 32, flags);
    assertTrue(
        finding(r, "layers-pipeline")
            .cure()
            .startsWith(
                "--decoder-first-pipeline-num-layers 11 --decoder-last-pipeline-num-layers 11"));
    finding(r, "expert-grid");
    assertTrue(
        audit("glm-4.5-air", "hgx-h100", 64, flags).findings().stream()
            .noneMatch(f -> f.id().equals("expert-grid")));
  }

  @Test
  void c038OverlappedExpertsNeedVirtualStagesAndNarrowRecompute() {
    AuditReport r =
        audit(
            "deepseek-v3",
            "hgx-h100",
            64,
            "--num-layers 61 --multi-latent-attention --num-experts 256 --bf16"
                + " --pipeline-model-parallel-size 8 --decoder-last-pipeline-num-layers 5"
                + " --expert-model-parallel-size 8 --moe-token-dispatcher-type alltoall"
                + " --overlap-moe-expert-parallel-comm --recompute-granularity selective"
                + " --recompute-modules moe --global-batch-size 64"
                + BATCH);
    assertTrue(finding(r, "expert-overlap").cure().contains("virtual-stages"));
    assertTrue(finding(r, "ep-overlap-modules").cure().contains("moe_act layernorm"));
  }

  @Test
  void c043AQuarterTrillionParametersDoNotFitThirtyTwoGpusWithoutOffload() {
    String flags =
        "--num-layers 94 --num-experts 128 --bf16 --sequence-parallel --use-distributed-optimizer"
            + " --tensor-model-parallel-size 4 --expert-model-parallel-size 8"
            + " --expert-tensor-parallel-size 1 --global-batch-size 32"
            + " --recompute-granularity full --recompute-method uniform --recompute-num-layers 1"
            + BATCH;
    AuditReport r = audit("qwen3-235b-a22b", "hgx-h100", 32, flags);
    assertEquals(AuditReport.Fit.DOES_NOT_FIT, r.fit());
    assertEquals(6, r.exitCode());
  }

  @Test
  void c047ThirteenBillionParametersDoNotFitTwoGpus() {
    AuditReport r =
        audit(
            "llama-2-13b",
            "hgx-a800",
            2,
            "--num-layers 40 --bf16 --sequence-parallel --tensor-model-parallel-size 2"
                + " --use-distributed-optimizer --seq-length 512 --micro-batch-size 1"
                + " --global-batch-size 1");
    assertEquals(AuditReport.Fit.DOES_NOT_FIT, r.fit());
  }

  @Test
  void c067EmbeddingAndHeadTakeTheirOwnSlots() {
    String flags =
        "--num-layers 70 --hidden-size 14336 --num-attention-heads 112 --bf16"
            + " --tensor-model-parallel-size 4 --sequence-parallel"
            + " --pipeline-model-parallel-size 12 --global-batch-size 64"
            + BATCH;
    finding(audit("", "hgx-a100-80", 384, flags), "layers-pipeline");
    AuditReport r =
        audit(
            "",
            "hgx-a100-80",
            384,
            flags
                + " --account-for-embedding-in-pipeline-split"
                + " --account-for-loss-in-pipeline-split");
    legal(r);
    assertEquals(5, r.plan().stages().get(0).layers());
    assertEquals(6, r.plan().stages().get(1).layers());
  }

  @Test
  void anAuditFindsEverythingAtOnceAndTheBestPlanBesideIt() {
    String text =
        """
        #!/bin/bash
        TP=4; PP=2
        GPUS_PER_NODE=8
        WORLD=$(($GPUS_PER_NODE * 2))
        ARGS=(
          --tensor-model-parallel-size $TP   # four
          --pipeline-model-parallel-size ${PP}
          --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --swiglu
          --ffn-hidden-size 14336 --group-query-attention --num-query-groups 8
          --seq-length 4096 --micro-batch-size 1 --global-batch-size 128 --bf16
          --untie-embeddings-and-output-weights --disable-bias-linear --normalization RMSNorm
          --position-embedding-type rope --vocab-size 128256 --overlap-param-gather
        )
        export CUDA_DEVICE_MAX_CONNECTIONS=8
        torchrun --nproc-per-node 8 pretrain_gpt.py "${ARGS[@]}" --tensr-parallel 3
        """;
    AuditInput i = AuditInput.read(AuditQuestion.of("train.sh", text, "hgx-h100", 16, ""), CATALOG);
    AuditReport r = Audit.of(i.plan(), i.problem(), true, "test");
    for (String id :
        List.of("unknown-flag", "connections", "param-gather-optimizer", "param-gather-reduce")) {
      assertTrue(finding(r, id).checked());
    }
    assertEquals(7, r.exitCode());
    assertEquals(4, r.plan().dims().tp());
    assertEquals(2, r.plan().dims().dp());
    assertFalse(r.changes().isEmpty());
    assertTrue(r.gain() > 0, "gain " + r.gain());
    assertTrue(r.bestStepSeconds() < r.estimate().stepSeconds());
  }
}
