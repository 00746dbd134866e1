package dev.meshplan.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.hardware.Precision;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Routing;
import dev.meshplan.plan.Schedule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExporterTest {
  private static String file(Jobs jobs, Format format, String name) {
    Export e = Exporters.export(format, jobs.build(), false);
    assertTrue(e.ok(), e.refused());
    return e.files().stream()
        .filter(f -> f.name().equals(name))
        .findFirst()
        .map(OutputFile::text)
        .orElseThrow();
  }

  private static String megatron(Jobs jobs) {
    return file(jobs, Format.MEGATRON, "train.sh");
  }

  private static void has(String text, String... parts) {
    for (String p : parts) {
      assertTrue(text.contains(p), p + " is not in\n" + text);
    }
  }

  private static Export refused(Jobs jobs, Format format) {
    Export e = Exporters.export(format, jobs.build(), false);
    assertFalse(e.ok());
    assertTrue(e.files().isEmpty());
    assertFalse(e.nearest().isEmpty(), "a refusal names the nearest plan");
    return e;
  }

  @Test
  void everyDegreeIsWrittenOut() {
    String s = megatron(Jobs.llama405());
    has(
        s,
        "--tensor-model-parallel-size 8\n",
        "--pipeline-model-parallel-size 16\n",
        "--context-parallel-size 1\n",
        "--decoder-first-pipeline-num-layers 7\n",
        "--decoder-last-pipeline-num-layers 7\n",
        "--num-layers 126\n",
        "--sequence-parallel\n",
        "export CUDA_DEVICE_MAX_CONNECTIONS=1\n",
        "unset NCCL_P2P_LEVEL");
  }

  @Test
  void deepSeekOnARackIsALayoutWithHybridEp() {
    String s = megatron(Jobs.deepseekNvl72());
    has(
        s,
        "--expert-model-parallel-size 64\n",
        "--expert-tensor-parallel-size 1\n",
        "--pipeline-model-parallel-layout 'E",
        "--mtp-num-layers 1\n",
        "--moe-layer-freq '([0]*3+[1]*58)'",
        "--moe-flex-dispatcher-backend hybridep\n",
        "--fp8-recipe mxfp8\n",
        "--multi-latent-attention\n",
        "export NVLINK_DOMAIN_SIZE=72\n");
    assertFalse(s.contains("--group-query-attention"));
  }

  @Test
  void layoutStringsNeverRepeatMoreThanOneCharacterAtOnce() {
    Jobs j = Jobs.of("deepseek-v3", "gb200-nvl72", 1, 1, 16, 64, 64, 2);
    int[] layers = new int[32];
    java.util.Arrays.fill(layers, 2);
    layers[0] = 3;
    layers[30] = 0;
    layers[31] = 0;
    j.layers = layers;
    j.globalBatch = 1024;
    assertEquals("Ettt|(tt|)*29,|mL", MegatronLayout.write(j.build().plan().stages()));
  }

  @Test
  void dispatchersFollowTheDomain() {
    Jobs hopper = Jobs.of("mixtral-8x7b", "hgx-h100", 1, 1, 1, 8, 8, 1);
    has(megatron(hopper), "--moe-flex-dispatcher-backend deepep\n");
    Jobs odd = Jobs.of("deepseek-v3", "hgx-h100", 1, 1, 1, 128, 128, 1);
    has(megatron(odd), "--moe-token-dispatcher-type alltoall\n");
    assertTrue(
        Exporters.export(Format.MEGATRON, odd.build(), false).notes().stream()
            .anyMatch(n -> n.contains("DeepEP has no kernels for EP 128")));
  }

  @Test
  void aRunTrainsUnlessForcedBalanceWasAskedFor() {
    Jobs j = Jobs.of("mixtral-8x7b", "hgx-h100", 1, 1, 1, 8, 8, 1);
    j.routing = Routing.BALANCED;
    has(megatron(j), "--moe-router-force-load-balancing\n", "# note: --moe-router-force");
    j.assumed = List.of("routing");
    String s = megatron(j);
    has(s, "--moe-router-load-balancing-type aux_loss\n", "# note: the plan assumes balanced");
    assertFalse(s.contains("force-load-balancing"));
  }

  @Test
  void scriptsStartByTorchrunOnlyWhereItsRanksAreThePlans() {
    Jobs whole = Jobs.of("llama-3.1-8b", "hgx-h100", 1, 1, 1, 16, 1, 1);
    has(megatron(whole), "--nproc-per-node=8\n", "--nnodes=\"${NNODES:-2}\"");
    Jobs six = Jobs.of("gpt2-124m", "hgx-h100", 6, 1, 1, 2, 1, 1);
    has(megatron(six), "--nproc-per-node=6\n", "--nnodes=\"${NNODES:-2}\"");
    Jobs tray = Jobs.of("llama-3.1-8b", "gb200-nvl72", 1, 1, 1, 4, 1, 1);
    tray.block = 8;
    has(megatron(tray), "--nproc-per-node=4\n", "--nnodes=\"${NNODES:-1}\"");
    has(file(tray, Format.SLURM, "job.sbatch"), "--nodes=2\n", "\"${HOSTS[@]:0:1}\"");
    has(file(tray, Format.KUBERNETES, "job.yaml"), "podset-required-topology", "completions: 1\n");
    tray.dims = new Dims(1, 1, 1, 12, 1, 1, 1);
    assertTrue(refused(tray, Format.KUBERNETES).refused().contains("1 of 2 pods"));
    Jobs inside = Jobs.of("deepseek-v3", "gb200-nvl72", 1, 1, 4, 32, 16, 1);
    inside.block = 18;
    String s = megatron(inside);
    has(s, "Start me by job.sbatch", "exit 1");
    assertFalse(s.contains("torchrun"));
    has(file(inside, Format.SLURM, "job.sbatch"), "MAP=\"$HERE/ranks.csv\"");
    Export plain = Exporters.export(Format.SLURM, whole.build(), false);
    assertEquals(List.of("job.sbatch"), plain.files().stream().map(OutputFile::name).toList());
  }

  @Test
  void recomputeAndSharding() {
    Jobs j = Jobs.of("llama-3.1-8b", "hgx-h100", 1, 1, 1, 8, 1, 1);
    j.memory = new MemoryPlan(3, 0, 0, Recompute.FULL, 0);
    has(
        megatron(j),
        "--use-megatron-fsdp\n",
        "--data-parallel-sharding-strategy optim_grads_params\n",
        "--ckpt-format fsdp_dtensor\n",
        "CUDA_DEVICE_MAX_CONNECTIONS=8\n",
        "--recompute-granularity full\n");
    j.memory = new MemoryPlan(1, 0, 0, Recompute.selective(Module.LAYERNORM, Module.MLP), 0.5);
    has(
        megatron(j),
        "--recompute-modules layernorm mlp\n",
        "--optimizer-cpu-offload\n",
        "--use-precision-aware-optimizer\n",
        "--optimizer-offload-fraction 0.5\n");
  }

  @Test
  void whatMegatronCannotSayIsRefusedWithTheNearestPlan() {
    Jobs zbv = Jobs.of("llama-3.1-70b", "hgx-h100", 8, 1, 4, 4, 1, 2);
    zbv.schedule = Schedule.ZBV;
    assertTrue(refused(zbv, Format.MEGATRON).nearest().contains("1f1b"));
    Jobs hpz = Jobs.of("llama-3.1-8b", "hgx-h100", 1, 1, 1, 16, 1, 1);
    hpz.memory = new MemoryPlan(3, 0, 8, Recompute.NONE, 0);
    refused(hpz, Format.MEGATRON);
    Jobs mxfp8 = Jobs.of("llama-3.1-8b", "hgx-h100", 1, 1, 1, 8, 1, 1);
    mxfp8.precision = Precision.MXFP8;
    assertTrue(refused(mxfp8, Format.MEGATRON).refused().contains("no mxfp8"));
    refused(Jobs.of("gemma-2-9b", "hgx-h100", 1, 1, 1, 8, 1, 1), Format.MEGATRON);
    refused(Jobs.of("bloom-176b", "hgx-a100-80", 8, 1, 12, 2, 1, 1), Format.MEGATRON);
  }

  @Test
  void deepSpeedKeepsTheBatchTripleUnlessToldNotTo() {
    Jobs j = Jobs.of("llama-3.1-8b", "hgx-h100", 1, 1, 1, 16, 1, 1);
    j.memory = new MemoryPlan(3, 0, 8, Recompute.FULL, 0);
    j.globalBatch = 64;
    String s = file(j, Format.DEEPSPEED, "ds_config.json");
    has(
        s,
        "\"train_batch_size\" : 64",
        "\"train_micro_batch_size_per_gpu\" : 1",
        "\"gradient_accumulation_steps\" : 4",
        "\"zero_hpz_partition_size\" : 8");
    Export micro = Exporters.export(Format.DEEPSPEED, j.build(), true);
    assertFalse(micro.files().get(0).text().contains("train_batch_size\""));
  }

  @Test
  void deepSpeedRefusesPipelinesItCannotRun() {
    Jobs j = Jobs.of("llama-3.1-8b", "hgx-h100", 1, 1, 2, 4, 1, 1);
    j.memory = new MemoryPlan(2, 0, 0, Recompute.NONE, 0);
    assertTrue(refused(j, Format.DEEPSPEED).refused().contains("sharding level 0 or 1 only"));
    Jobs tensor = Jobs.of("gpt3-13b", "hgx-a100-80", 4, 1, 1, 4, 1, 1);
    has(
        file(tensor, Format.DEEPSPEED, "train_deepspeed.sh"),
        "--no-pipeline-parallel\n",
        "--zero-stage 1\n",
        "--normalization layernorm\n",
        "--deepspeed_config \"$HERE/ds_config.json\"");
    Jobs ring = Jobs.of("llama-3.1-8b", "hgx-h100", 1, 2, 1, 4, 1, 1);
    assertTrue(refused(ring, Format.DEEPSPEED).refused().contains("Ulysses"));
  }

  @Test
  void torchtitanTakesShardsAndReplicas() {
    Jobs j = Jobs.of("llama-3.1-8b", "hgx-h100", 2, 1, 1, 16, 1, 1);
    j.memory = new MemoryPlan(3, 8, 0, Recompute.FULL, 0);
    String s = file(j, Format.TORCHTITAN, "meshplan_run.py");
    has(
        s,
        "from torchtitan.models.llama3.config_registry import llama3_8b\n",
        "    config.training.num_tokens_per_microbatch_per_dp_rank = 4096\n",
        "    config.training.num_tokens_per_train_step = 262144\n",
        "    config.parallelism.data_parallel_replicate_degree = 2\n",
        "    config.parallelism.data_parallel_shard_degree = 8\n",
        "    config.parallelism.tensor_parallel_degree = 2\n",
        "    config.activation_checkpoint = FullAC.Config()\n");
    has(file(j, Format.TORCHTITAN, "train.sh"), "--module meshplan_run --config plan");
    has(
        file(j, Format.TORCHTITAN, "config.toml"),
        "releases of 2025",
        "data_parallel_shard_degree = 8\n",
        "flavor = \"8B\"");
    Jobs one = Jobs.of("llama-3.1-8b", "hgx-h100", 1, 1, 1, 8, 1, 1);
    assertTrue(refused(one, Format.TORCHTITAN).nearest().contains("3"));
  }

  @Test
  void accelerateHasNoPipeline() {
    Jobs j = Jobs.of("llama-3.1-8b", "hgx-h100", 1, 2, 1, 8, 1, 1);
    j.memory = new MemoryPlan(3, 4, 0, Recompute.FULL, 0);
    j.cpKind = CpKind.ALL_TO_ALL;
    String s = file(j, Format.ACCELERATE, "accelerate.yaml");
    has(
        s,
        "fsdp_reshard_after_forward: true",
        "parallelism_config_dp_replicate_size: 2",
        "parallelism_config_sp_size: 2",
        "fsdp_transformer_layer_cls_to_wrap: LlamaDecoderLayer");
    refused(Jobs.llama405(), Format.ACCELERATE);
  }

  @ParameterizedTest
  @CsvSource({"8, 8, 2, 2", "72, 64, 16, 16", "36, 32, 8, 8", "18, 16, 9, 2", "72, 8, 18, 1"})
  void segmentsAreNodesNotGpus(int block, int ep, int segmentNodes, int unused) {
    Jobs j = Jobs.of("deepseek-v3", "gb200-nvl72", 1, 1, 4, 144, ep, 1);
    if (ep != 8) {
      j = Jobs.of("deepseek-v3", "gb200-nvl72", 1, 1, 4, 128, ep, 1);
    }
    j.block = block;
    String s = file(j, Format.SLURM, "job.sbatch");
    has(s, "#SBATCH --segment=" + segmentNodes + "\n", "--gpus-per-node=4\n", "--exclusive=topo");
    int nodes = Integer.parseInt(s.replaceFirst("(?s).*#SBATCH --nodes=(\\d+)\n.*", "$1"));
    assertEquals(0, nodes % segmentNodes);
    assertTrue(unused > 0);
  }

  @Test
  void blocksThatEndInsideATrayShareASegment() {
    Jobs j = Jobs.of("deepseek-v3", "gb200-nvl72", 1, 1, 4, 32, 16, 1);
    j.block = 18;
    Segments s = Segments.of(j.build());
    assertEquals(9, s.segmentNodes());
    assertEquals(2, s.blocksPerSegment());
    assertEquals(4 * 9, s.nodes());
    RankMap.Slot second = s.map().get(16);
    assertEquals(4, second.node());
    assertEquals(2, second.gpu());
    Export k = Exporters.export(Format.KUBERNETES, j.build(), false);
    assertFalse(k.ok());
  }

  @Test
  void rankGroupsAreMegatrons() {
    Jobs j = Jobs.of("llama-3.1-8b", "hgx-h100", 2, 2, 2, 2, 1, 1);
    List<RankMap.Slot> slots = RankMap.of(j.build());
    assertEquals(List.of(0, 1), group(slots, 0, s -> s.cp() + "," + s.dp() + "," + s.pp()));
    assertEquals(List.of(0, 2), group(slots, 0, s -> s.tp() + "," + s.dp() + "," + s.pp()));
    assertEquals(List.of(0, 4), group(slots, 0, s -> s.tp() + "," + s.cp() + "," + s.pp()));
    assertEquals(List.of(0, 8), group(slots, 0, s -> s.tp() + "," + s.cp() + "," + s.dp()));
  }

  private static List<Integer> group(
      List<RankMap.Slot> slots, int rank, java.util.function.Function<RankMap.Slot, String> key) {
    Map<String, List<Integer>> groups = new TreeMap<>();
    slots.forEach(s -> groups.computeIfAbsent(key.apply(s), k -> new ArrayList<>()).add(s.rank()));
    return groups.get(key.apply(slots.get(rank)));
  }

  @Test
  void faultyRacksAreUsedAsFarAsTheyAreHealthy() {
    Jobs j = Jobs.of("deepseek-v3", "gb200-nvl72", 1, 1, 3, 64, 64, 1);
    j.healthy = List.of(70, 66, 64, 60);
    j.domains = 4;
    List<RankMap.Slot> slots = RankMap.of(j.build());
    assertEquals(192, slots.size());
    assertEquals(List.of(0, 1, 2), slots.stream().map(RankMap.Slot::domain).distinct().toList());
  }

  @Test
  void bridgeLayoutsAreQuotedForHydra() {
    String s = file(Jobs.deepseekNvl72(), Format.MEGATRON_BRIDGE, "bridge.sh");
    has(s, "pipeline_model_parallel_layout='E", "virtual_pipeline_model_parallel_size=4\n");
  }

  @Test
  void everyRankHasItsOwnGpu() {
    for (Jobs j : List.of(Jobs.llama405(), Jobs.deepseekNvl72())) {
      List<RankMap.Slot> slots = RankMap.of(j.build());
      assertEquals(j.dims.gpus(), slots.size());
      assertEquals(
          slots.size(), slots.stream().map(s -> s.node() + "/" + s.gpu()).distinct().count());
    }
  }

  @Test
  void topologyFilesReadBackAsTheCluster() {
    Jobs j = Jobs.deepseekNvl72();
    for (String name : List.of("topology.yaml", "topology.conf")) {
      Imported i =
          InventoryImport.read(
              name,
              file(j, Format.SLURM_TOPOLOGY, name),
              Jobs.get(Jobs.CATALOG.systems(), j.system));
      assertFalse(i.partial(), i.text());
      has(i.yaml(), "domains: 4");
      assertEquals(List.of(), i.faults());
    }
  }

  @Test
  void aShortRackLowersTheBaseBlockToSixteenNodes() {
    Jobs j = Jobs.deepseekNvl72();
    j.healthy = List.of(72, 68, 72, 72);
    String s = file(j, Format.SLURM_TOPOLOGY, "topology.conf");
    has(s, "BlockSizes=16,32,64\n");
    assertEquals(null, SlurmTopology.wrongSizes(SlurmTopologyExporter.sizes(18, 5)));
  }

  @Test
  void kubernetesAsksForSlicesOfWholeNodes() {
    String s = file(Jobs.deepseekNvl72(), Format.KUBERNETES, "job.yaml");
    has(
        s,
        "kind: ComputeDomain",
        "kueue.x-k8s.io/podset-slice-required-topology: nvidia.com/gpu.clique",
        "kueue.x-k8s.io/podset-slice-size: \"16\"",
        "parallelism: 64",
        "completionMode: Indexed");
    String hgx = file(Jobs.llama405(), Format.KUBERNETES, "job.yaml");
    assertFalse(hgx.contains("kind: ComputeDomain"));
    has(hgx, "podset-unconstrained-topology: \"true\"");
  }
}
