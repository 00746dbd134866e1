package dev.meshplan.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.InputException;
import dev.meshplan.hardware.Precision;
import dev.meshplan.model.Model;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.RecomputeOptions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Questions that people asked in public, answered by what is written. */
class ExportQuestionsTest {
  private static String file(Jobs jobs, Format format, String name) {
    Export e = Exporters.export(format, jobs.build(), false);
    assertTrue(e.ok(), e.refused());
    return e.files().stream().filter(f -> f.name().equals(name)).findFirst().orElseThrow().text();
  }

  private static int number(String text, String key) {
    return Integer.parseInt(text.replaceFirst("(?s).*" + key + "[= ](\\d+)\n.*", "$1"));
  }

  @Test
  void c022TheBatchCanBeLeftToDeepSpeed() {
    Jobs j = Jobs.of("llama-3.1-8b", "hgx-h100", 1, 1, 1, 2, 1, 1);
    j.memory = new MemoryPlan(3, 0, 0, Recompute.NONE, 0);
    j.globalBatch = 16;
    Export e = Exporters.export(Format.DEEPSPEED, j.build(), true);
    String text = e.files().get(0).text();
    assertFalse(text.contains("\"train_batch_size\""));
    assertTrue(text.contains("\"gradient_accumulation_steps\" : 8"));
    assertTrue(e.notes().stream().anyMatch(n -> n.contains("it is 16 on 2 GPUs")));
  }

  @Test
  void c037AScriptWithoutAPipelineSaysSo() {
    Jobs j = Jobs.of("gpt3-13b", "hgx-a100-80", 4, 1, 1, 2, 1, 1);
    j.memory = new MemoryPlan(3, 0, 0, Recompute.NONE, 0);
    assertTrue(
        file(j, Format.DEEPSPEED, "train_deepspeed.sh").contains("--no-pipeline-parallel\n"));
  }

  @Test
  void c040AndC041TheDispatcherFollowsTheDomainAndItsKernels() {
    String rack = file(Jobs.deepseekNvl72(), Format.MEGATRON, "train.sh");
    assertTrue(rack.contains("--moe-flex-dispatcher-backend hybridep\n"));
    Jobs odd = Jobs.of("kimi-k2", "hgx-h100", 1, 1, 1, 96, 96, 1);
    String text = file(odd, Format.MEGATRON, "train.sh");
    assertTrue(text.contains("--moe-token-dispatcher-type alltoall\n"));
    assertFalse(text.contains("deepep"));
  }

  /** Megatron-LM refuses grouped GEMMs on Volta, and its reader says so. */
  @Test
  void expertsAreGroupedOnlyWhereTheGpuCan() {
    for (String system : List.of("hgx-a100-80", "dgx-1-v100")) {
      Jobs j = Jobs.of("mixtral-8x7b", system, 1, 1, 1, 8, 8, 1);
      j.precision = Precision.FP16;
      String text = file(j, Format.MEGATRON, "train.sh");
      boolean grouped = text.contains("--moe-grouped-gemm");
      assertEquals(system.equals("hgx-a100-80"), grouped);
      int capability = grouped ? 8 : 7;
      assertTrue(refused(text, capability).isEmpty(), refused(text, capability).toString());
      assertEquals(grouped, !refused(text, 7).isEmpty());
    }
  }

  /** Without grouped GEMMs Megatron-LM recomputes no activations of experts. */
  @Test
  void activationsOfExpertsAreRecomputedOnlyWhereTheyAreGrouped() {
    Model mixtral = Jobs.get(Jobs.CATALOG.models(), "mixtral-8x7b");
    for (boolean unfused : new boolean[] {false, true}) {
      long offered =
          RecomputeOptions.of(mixtral, unfused).values().stream()
              .filter(r -> r.modules().contains(Module.MOE_ACT))
              .count();
      assertEquals(unfused ? 0 : 2, offered);
    }
  }

  private static List<String> refused(String script, int capability) {
    return MegatronReader.read("t.sh", script, 8, capability, Map.of()).findings().stream()
        .filter(Finding::checked)
        .map(Finding::id)
        .toList();
  }

  @Test
  void c083ScriptsDoNotInheritSwitchesThatBreakPeerToPeer() {
    for (Format f : new Format[] {Format.MEGATRON, Format.MEGATRON_BRIDGE}) {
      Export e = Exporters.export(f, Jobs.llama405().build(), false);
      assertTrue(e.files().get(0).text().contains("unset NCCL_P2P_LEVEL NCCL_P2P_DISABLE"));
    }
  }

  @Test
  void c086ProcessesAreBoundToTheSocketOfTheirGpu() {
    assertTrue(file(Jobs.deepseekNvl72(), Format.MEGATRON, "train.sh").contains("LOCAL_RANK / 2"));
    assertTrue(file(Jobs.llama405(), Format.MEGATRON, "train.sh").contains("LOCAL_RANK / 4"));
  }

  @Test
  void c089AndC098SegmentsHoldTheExpertGroup() {
    Jobs eight = Jobs.of("qwen3-235b-a22b", "gb200-nvl72", 1, 1, 8, 32, 8, 1);
    eight.block = 8;
    assertEquals(2, number(file(eight, Format.SLURM, "job.sbatch"), "--segment"));
    Jobs many = Jobs.of("qwen3-235b-a22b", "gb200-nvl72", 1, 1, 4, 64, 64, 1);
    assertEquals(16, number(file(many, Format.SLURM, "job.sbatch"), "--segment"));
    Jobs half = Jobs.of("kimi-k2", "gb200-nvl72", 1, 1, 8, 32, 32, 1);
    half.block = 36;
    assertEquals(8, number(file(half, Format.SLURM, "job.sbatch"), "--segment"));
  }

  @Test
  void c097PodsAreAWholeNumberOfSlices() {
    Jobs j = Jobs.of("qwen3-235b-a22b", "gb200-nvl72", 1, 1, 4, 36, 36, 1);
    j.block = 36;
    String text = file(j, Format.KUBERNETES, "job.yaml");
    int pods = number(text, "parallelism:");
    assertEquals(36, pods);
    assertTrue(text.contains("podset-slice-size: \"9\""), text);
    assertEquals(0, pods % 9);
  }

  @Test
  void c115SlicedGpusCannotTrainTogether() {
    InputException e =
        assertThrows(
            InputException.class,
            () ->
                TopologyMatrix.read(
                    "t", Samples.text("topo-m/27-mig-nvidia-smi-L.txt"), "x", null, 0));
    assertTrue(e.getMessage().contains("A process sees one instance only"));
  }
}
