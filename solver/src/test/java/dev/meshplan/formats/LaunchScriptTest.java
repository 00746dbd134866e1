package dev.meshplan.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.InputException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Shapes that launch scripts have in public repositories, in our own words. */
class LaunchScriptTest {
  private static MegatronFlags flags(String text, Map<String, String> given) {
    return MegatronFlags.read("train.sh", text, given);
  }

  private static MegatronFlags flags(String text) {
    return flags(text, Map.of());
  }

  private static int tp(String text) {
    return flags(text).integer("--tensor-model-parallel-size", -1);
  }

  private static List<String> ids(MegatronFlags f) {
    return f.findings().stream().map(Finding::id).toList();
  }

  @Test
  void pairsQuotedInAnArraySplitWhereItIsNotQuoted() {
    String script = "A=(\n  \"--tensor-model-parallel-size 4\"  # pairs\n  '--bf16'\n)\n";
    assertEquals(4, tp(script + "torchrun pretrain_gpt.py ${A[@]}\n"));
    assertEquals(4, tp(script + "torchrun pretrain_gpt.py ${A[*]}\n"));
    MegatronFlags whole = flags(script + "torchrun pretrain_gpt.py \"${A[@]}\"\n");
    assertTrue(ids(whole).contains("unknown-flag"), "one word to the program, as in a shell");
  }

  @Test
  void flagsAfterACommentInsideACommandReachNoProgram() {
    MegatronFlags f =
        flags(
            """
            torchrun pretrain_gpt.py \\
              --tensor-model-parallel-size 2 \\
              # --sequence-parallel \\
              --pipeline-model-parallel-size 4
            """);
    assertEquals(2, f.integer("--tensor-model-parallel-size", -1));
    assertEquals(-1, f.integer("--pipeline-model-parallel-size", -1));
    assertTrue(
        f.findings().stream()
            .anyMatch(
                x ->
                    x.id().equals("lost-flags")
                        && x.sentence().contains("--pipeline-model-parallel-size")));
  }

  @Test
  void anArgumentListNeedsNoProgramAndNoBackslashes() {
    MegatronFlags f =
        flags("--tensor-model-parallel-size 2\n--pipeline-model-parallel-size=4\n--bf16\n");
    assertEquals(2, f.integer("--tensor-model-parallel-size", -1));
    assertEquals(4, f.integer("--pipeline-model-parallel-size", -1));
    assertEquals(List.of(), f.findings());
  }

  @Test
  void redirectionsAndPipesAreNoValues() {
    MegatronFlags f =
        flags("python pretrain_gpt.py --seed 1 --bf16 2>&1 | tee -a log_$(date +%F).txt\n");
    assertEquals(List.of(), f.findings());
    assertEquals(Map.of("--seed", "1", "--bf16", ""), f.all());
    assertEquals(List.of(), flags("python pretrain_gpt.py --bf16 &> out.log &\n").findings());
  }

  @Test
  void branchesAreTakenByTheirConditions() {
    String script =
        """
        SIZE=${1:-7B}
        if [ $SIZE = 13B ]; then TP=2; PP=4
        elif [[ "$SIZE" == "7B" && 1 -lt 2 ]]; then
          TP=4
        else
          TP=8
        fi
        case $SIZE in
          13B) MORE="--seed 13" ;;
          7B|8B)
            MORE="--seed 7"
            ;;
          *) exit 1 ;;
        esac
        python pretrain_gpt.py --tensor-model-parallel-size $TP $MORE
        """;
    assertEquals(4, tp(script));
    assertEquals(7, flags(script).integer("--seed", -1));
    MegatronFlags large = flags(script, Map.of("1", "13B"));
    assertEquals(2, large.integer("--tensor-model-parallel-size", -1));
    assertEquals(13, large.integer("--seed", -1));
  }

  @Test
  void aTestJoinedToACommandDecidesOverIt() {
    String script =
        """
        A="--seed 1"
        [[ $TP -gt 1 ]] && A+=" --sequence-parallel"
        [ "$TP" -eq 1 ] || A="$A --tp-comm-overlap"
        python pretrain_gpt.py --tensor-model-parallel-size $TP $A
        """;
    assertTrue(flags(script, Map.of("TP", "2")).has("--sequence-parallel"));
    assertTrue(flags(script, Map.of("TP", "2")).has("--tp-comm-overlap"));
    assertEquals(2, flags(script, Map.of("TP", "1")).all().size());
  }

  @Test
  void whatTheFileDoesNotSetIsAskedForAndNotPutToDefaults() {
    String script =
        """
        if [ $MODEL = small ]; then TP=1; fi
        python pretrain_gpt.py --tensor-model-parallel-size ${TP} --pipeline-model-parallel-size $2
        """;
    MegatronFlags f = flags(script);
    f.integer("--tensor-model-parallel-size", 1);
    f.integer("--pipeline-model-parallel-size", 1);
    InputException e = assertThrows(InputException.class, f::throwIfUnknown);
    assertTrue(e.getMessage().contains("--set TP=VALUE, or --set MODEL=VALUE"), e.getMessage());
    assertTrue(e.getMessage().contains("--set 2=VALUE"), e.getMessage());
    MegatronFlags told = flags(script, Map.of("TP", "8", "2", "4"));
    assertEquals(8, told.integer("--tensor-model-parallel-size", 1));
    assertEquals(4, told.integer("--pipeline-model-parallel-size", 1));
    told.throwIfUnknown();
  }

  @Test
  void valuesThatDoNotMatterMayBeUnknown() {
    MegatronFlags f =
        flags(
            "python pretrain_gpt.py --save $CHECKPOINT_PATH --load \"$(ls -t | head -1)\""
                + " --tensor-model-parallel-size 2 --bf16 $EXTRA \"$@\"\n");
    assertEquals(2, f.integer("--tensor-model-parallel-size", -1));
    f.throwIfUnknown();
    assertEquals(List.of(), f.findings());
    assertTrue(f.notes().contains("what $EXTRA adds to the command is not seen"));
  }

  @Test
  void arithmeticIsDone() {
    String start = "GPUS=8; NODES=4; PP=2; ";
    String end = "\npython pretrain_gpt.py --tensor-model-parallel-size $T\n";
    assertEquals(16, tp(start + "T=$((GPUS*NODES / PP))" + end));
    assertEquals(16, tp(start + "T=$(( ${GPUS} * $NODES / PP ))" + end));
    assertEquals(16, tp(start + "T=$(expr $GPUS \\* $NODES / $PP)" + end));
    assertEquals(16, tp(start + "T=`expr $GPUS \\* $NODES / $PP`" + end));
    assertEquals(16, tp(start + "T=$(echo \"$GPUS * $NODES / $PP\" | bc)" + end));
    assertEquals(16, tp(start + "T=$[GPUS*NODES/PP]" + end));
    assertEquals(4, tp(start + "T=$(( GPUS > 4 ? 4 : GPUS ))" + end));
    assertEquals(8, tp(start + "T=${T:-${TENSOR:-$GPUS}}" + end));
    MegatronFlags positional = flags("T=$(( $1 * 2 ))" + end, Map.of("1", "4"));
    assertEquals(8, positional.integer("--tensor-model-parallel-size", -1));
    MegatronFlags unset = flags("T=$(( $1 * 2 ))" + end);
    unset.integer("--tensor-model-parallel-size", -1);
    assertThrows(InputException.class, unset::throwIfUnknown);
  }

  @Test
  void commandsInsideStringsAreRead() {
    String args = "ARGS=\" --tensor-model-parallel-size 2 \\\n   --bf16 \\\n\"\n";
    assertEquals(2, tp(args + "CMD=\"python pretrain_gpt.py $ARGS\"\neval $CMD\n"));
    assertEquals(2, tp(args + "CMD=\"python pretrain_gpt.py $ARGS\"\necho $CMD\neval \"$CMD\"\n"));
    assertEquals(
        2,
        tp(
            args
                + "srun --jobid $SLURM_JOBID bash -c \"torchrun --node_rank \\$SLURM_PROCID"
                + " pretrain_gpt.py $ARGS\" 2>&1 | tee log\n"));
    assertEquals(2, tp("export MODEL_ARGS=\"--tensor-model-parallel-size 2 --bf16\"\n"));
  }

  @Test
  void prefixesOfTheProgramAreNotItsFlags() {
    for (String prefix :
        List.of(
            "torchrun --nproc-per-node 8 --nnodes 2 --node_rank $RANK",
            "python -m torch.distributed.launch --nproc_per_node=8",
            "srun --ntasks 16 --container-image=nvcr.io/x --mpi=pmix python -u",
            "deepspeed --num_nodes 2 --hostfile=h --master_port 1",
            "NCCL_DEBUG=INFO CUDA_DEVICE_MAX_CONNECTIONS=1 python",
            "docker run --gpus all --rm image python")) {
      MegatronFlags f = flags(prefix + " /opt/megatron/pretrain_gpt.py --bf16 --seed 3\n");
      assertEquals(Map.of("--bf16", "", "--seed", "3"), f.all(), prefix);
      assertEquals(List.of(), f.findings(), prefix);
    }
  }

  @Test
  void valuesTooManyAreWhatTheParserSays() {
    MegatronFlags f = flags("python pretrain_gpt.py --sequence-parallel true --seed 1 2\n");
    assertEquals(List.of("stray-argument", "stray-argument"), ids(f));
    assertEquals("error: unrecognized arguments: true", f.findings().get(0).says());
    assertEquals(
        List.of("flag-value"), ids(flags("python pretrain_gpt.py --seed --bf16 --load\n")));
  }

  @Test
  void flagsOfOlderReleasesAndOfForksAreToldApartFromTypingErrors() {
    MegatronFlags f = flags("python pretrain_gpt.py --data-impl mmap --DDP-impl local --bf16\n");
    assertEquals(List.of("older-flags"), ids(f));
    MegatronFlags typo = flags("python pretrain_gpt.py --tensor-model-paralel-size 2\n");
    assertTrue(typo.findings().get(0).sentence().contains("Nearest: --tensor-model-parallel-size"));
    MegatronFlags fork = flags("python my_pretrain.py --bf16 --patch-tokenizer-type Llama\n");
    assertEquals(List.of(), fork.findings());
    assertTrue(fork.notes().get(0).startsWith("--patch-tokenizer-type: taken as flags of my_"));
  }

  @Test
  void serversAreNotTraining() {
    InputException e =
        assertThrows(
            InputException.class, () -> flags("vllm serve meta-llama/X --tensor-parallel-size 3"));
    assertTrue(e.getMessage().contains("starts a server"));
  }
}
