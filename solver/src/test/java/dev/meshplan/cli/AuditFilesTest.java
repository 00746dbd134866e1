package dev.meshplan.cli;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kinds of files that people have, each in the shape in which it is found in public. */
class AuditFilesTest {
  @TempDir Path folder;

  private String file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text).toString();
  }

  private Said audit(String file, int gpus, String... more) {
    List<String> args =
        new ArrayList<>(List.of("audit", file, "--system", "hgx-h100", "--gpus", "" + gpus));
    args.addAll(Arrays.asList(more));
    return Said.run(args.toArray(String[]::new));
  }

  @Test
  void megatronDeepSpeedWritesItsConfigurationItself() throws IOException {
    String script =
        """
        #!/bin/bash
        ZERO_STAGE=1
        GB=64; MB=1
        DS=ds_config.json
        cat <<EOT > $DS
        {
          "train_batch_size": $GB,
          "train_micro_batch_size_per_gpu": $MB,
          "zero_optimization": {"stage": $ZERO_STAGE},
          "bf16": {"enabled": true}
        }
        EOT
        ARGS=""
        ARGS=" --deepspeed ${ARGS}"
        ARGS=" --deepspeed_config=$DS ${ARGS}"
        ARGS=" --zero-stage=$ZERO_STAGE ${ARGS}"
        deepspeed --num_gpus 8 pretrain_gpt.py \\
          --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 \\
          --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 \\
          --max-position-embeddings 2048 --micro-batch-size $MB --global-batch-size $GB \\
          --bf16 --data-impl mmap $ARGS 2>&1 | tee out.log
        """;
    Said s = audit(file("ds.sh", script), 8, "--no-best").code(0);
    s.holds("Megatron-DeepSpeed launch: TP 2, PP 2, DP 2", "no rule is broken");
    assertFalse(s.text().contains("is not given"), s.text());
    String twice = script.replace("\"stage\": $ZERO_STAGE", "\"stage\": 2");
    audit(file("twice.sh", twice), 8, "--no-best")
        .code(7)
        .holds("--zero-stage 1, but the configuration says stage 2")
        .holds("ZeRO-2 and ZeRO-3 are incompatible with pipeline parallelism");
  }

  @Test
  void valuesThatTheTrainerFillsInComeFromItsScript() throws IOException {
    String json =
        """
        {
          "train_batch_size": "auto",
          "train_micro_batch_size_per_gpu": "auto",
          "gradient_accumulation_steps": "auto",
          "bf16": {"enabled": "auto"},
          "zero_optimization": {"stage": 3, "reduce_bucket_size": "auto"}
        }
        """;
    String ds = file("ds.json", json);
    audit(ds, 8, "--no-best", "--model", "qwen2.5-7b", "--sequence", "4096")
        .code(7)
        .holds("give the trainer's launch script too: --launch FILE");
    String script =
        "deepspeed --num_gpus=8 train.py --deepspeed ds.json --model_name_or_path Qwen/Qwen2.5-7B"
            + " --bf16 True --per_device_train_batch_size 1 --gradient_accumulation_steps 4"
            + " --model_max_length 4096 --gradient_checkpointing True\n";
    audit(ds, 8, "--no-best", "--launch", file("run.sh", script))
        .code(0)
        .holds("the model Qwen/Qwen2.5-7B is read as qwen2.5-7b", "no rule is broken");
    String yaml =
        """
        model_name_or_path: Qwen/Qwen2.5-7B-Instruct
        finetuning_type: lora
        lora_target: all
        lora_rank: 16
        deepspeed: ds.json
        cutoff_len: 4096
        per_device_train_batch_size: 2
        gradient_accumulation_steps: 8
        bf16: true
        """;
    audit(ds, 8, "--no-best", "--launch", file("sft.yaml", yaml))
        .code(0)
        .holds("adapters of rank 16 on every linear layer");
    audit(file("sft.yaml", yaml), 8).code(2).holds("audit that file, and give this one");
  }

  @Test
  void jsonWithCommentsAndTrailingCommasIsJudgedAndRefused() throws IOException {
    String json =
        """
        {
          // one sequence each
          "train_micro_batch_size_per_gpu": 1,
          "bf16": {"enabled": true}, # on
          "zero_optimization": {"stage": 1,},
        }
        """;
    audit(file("c.json", json), 8, "--no-best", "--model", "llama-3.1-8b", "--sequence", "4096")
        .code(7)
        .holds("line 2 is no JSON", "json.decoder.JSONDecodeError", "TP 1, PP 1, DP 8")
        .holds("memory: tight", "safe with: activation checkpointing in the model");
  }

  @Test
  void torchtitanNamesItsModelAndItsListsMaySpanLines() throws IOException {
    String toml =
        """
        [model]
        name = "llama3" # a "family"
        flavor = "8B"
        converters = [
          "float8",   # one
        ]
        [training]
        local_batch_size = 1
        seq_len = 8192
        [parallelism]
        tensor_parallel_degree = 8 # default / "never"
        """;
    audit(file("t.toml", toml), 64)
        .code(5)
        .holds("the model llama3 8B is read as llama-3.1-8b", "TP 8, PP 1, DP 8")
        .holds("- parallelism.tensor_parallel_degree 8\n    + parallelism.tensor_parallel_degree");
  }

  @Test
  void megatronBridgeOverridesAreFlags() throws IOException {
    String script =
        """
        torchrun --nproc-per-node=8 scripts/training/run_recipe.py \\
          --recipe llama31_8b_pretrain_config --mode pretrain --dataset mock \\
          model.tensor_model_parallel_size=3 model.sequence_parallel=true \\
          train.micro_batch_size=1 train.global_batch_size=64 model.seq_length=8192 \\
          dataset.seq_length=8192 mixed_precision=bf16_mixed ddp.use_distributed_optimizer=true
        """;
    audit(file("b.sh", script), 8, "--no-best")
        .code(7)
        .holds("Megatron-Bridge overrides", "tp x pp x cp = 3", "[heads]");
    audit(file("b.sh", script.replace("size=3", "size=2")), 8, "--no-best")
        .code(0)
        .holds("Megatron-Bridge overrides: TP 2, PP 1, DP 4", "is read as llama-3.1-8b");
  }

  @Test
  void whatIsNoPlanIsToldApart() throws IOException {
    audit(file("config.json", "{\"model_type\": \"llama\", \"architectures\": [\"X\"]}"), 8)
        .code(2)
        .holds("meshplan import model");
    audit(file("acc.yaml", "compute_environment: X\ndistributed_type: FSDP\n"), 8)
        .code(2)
        .holds("is an Accelerate configuration");
    audit(file("n.yml", "# 12 layers\n{\"pipe-parallel-size\": 1, \"num-layers\": 12}"), 8)
        .code(2)
        .holds("GPT-NeoX");
  }

  @Test
  void theDiffHoldsOnlyWhatThePlanDecides() throws IOException {
    String script =
        "torchrun pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32"
            + " --group-query-attention --num-query-groups 8 --ffn-hidden-size 14336 --swiglu"
            + " --disable-bias-linear --normalization RMSNorm --position-embedding-type rope"
            + " --untie-embeddings-and-output-weights --vocab-size 128256 --seq-length 8192"
            + " --micro-batch-size 1 --global-batch-size 64 --bf16 --tensor-model-parallel-size 8"
            + " --use-distributed-optimizer --lr 1e-4 --train-iters 10 --save x\n";
    Said s = audit(file("t.sh", script), 8);
    s.code(5).holds("- --tensor-model-parallel-size 8\n    + --tensor-model-parallel-size");
    for (String apart : List.of("--lr", "--save", "--hidden-size", "--vocab-size", "--train")) {
      assertFalse(s.text().contains("- " + apart) || s.text().contains("+ " + apart), s.text());
    }
  }

  /** A layout holds bars and stars, which a shell would take for pipes and file names. */
  @Test
  void aLineOfTheDiffCanBePastedIntoAShell() throws IOException {
    String script =
        "torchrun pretrain_gpt.py --num-layers 80 --hidden-size 8192 --num-attention-heads 64"
            + " --group-query-attention --num-query-groups 8 --ffn-hidden-size 28672 --swiglu"
            + " --disable-bias-linear --normalization RMSNorm --position-embedding-type rope"
            + " --untie-embeddings-and-output-weights --vocab-size 128256 --seq-length 8192"
            + " --micro-batch-size 1 --global-batch-size 512 --bf16 --tensor-model-parallel-size 8"
            + " --pipeline-model-parallel-size 4 --use-distributed-optimizer --sequence-parallel\n";
    Said s = audit(file("t.sh", script), 128);
    s.code(5);
    assertTrue(
        s.text().matches("(?s).*\\+ --pipeline-model-parallel-layout 'Et[^' ]*L'\n.*"), s.text());
  }

  @Test
  void expertTensorParallelismIsTpWhereAFileDoesNotSayIt() throws IOException {
    String script =
        "torchrun pretrain_gpt.py --num-layers 16 --hidden-size 2048 --num-attention-heads 16"
            + " --num-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 4096 --swiglu"
            + " --disable-bias-linear --seq-length 4096 --micro-batch-size 1"
            + " --global-batch-size 4 --bf16 --fp16 --tensor-model-parallel-size 4"
            + " --expert-model-parallel-size 2 --sequence-parallel --use-distributed-optimizer\n";
    Said s = audit(file("moe.sh", script), 8);
    s.code(7).holds("[fp16-bf16]: fp16 and bf16 are both on", "EP 2, ETP 4", "EP 8, ETP 1, ");
    s.holds("+ --expert-tensor-parallel-size 1", "+ --tensor-model-parallel-size 8");
  }
}
