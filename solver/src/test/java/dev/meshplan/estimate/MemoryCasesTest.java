package dev.meshplan.estimate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerGroup;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.Era;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.LossKernel;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Tuning;
import dev.meshplan.units.Quantity;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Memory questions that people asked in public, with the answers that maintainers or runs gave. */
class MemoryCasesTest {
  private static double states(MemoryCase c) {
    return (c.lineGib(0, MemoryLine.WEIGHTS)
            + c.lineGib(0, MemoryLine.MAIN_GRADIENTS)
            + c.lineGib(0, MemoryLine.OPTIMIZER))
        * Quantity.GIB;
  }

  /** Everything divided by all GPUs. */
  private static MemoryCase fullySharded(String model, int gpus, double offload) {
    MemoryCase c = new MemoryCase(model).dims(1, 1, 1, gpus, 1, 1, 1);
    c.memory = new MemoryPlan(3, 0, 0, Recompute.FULL, offload);
    return c;
  }

  private static MemoryVerdict verdict(MemoryCase c) {
    return c.memoryModel().verdict(c.candidate(), c.layout());
  }

  @Test
  void statesOf235bFitOn64GpusAndOn32OnlyWithTheOptimizerInHostMemory() {
    assertEquals(66.1e9, states(fullySharded("qwen3-235b-a22b", 64, 0)), 0.1e9);
    assertEquals(132.2e9, states(fullySharded("qwen3-235b-a22b", 32, 0)), 0.1e9);
    assertEquals(MemoryVerdict.OUT_OF_MEMORY, verdict(fullySharded("qwen3-235b-a22b", 32, 0)));
    MemoryCase host = fullySharded("qwen3-235b-a22b", 32, 1);
    assertEquals(44.1e9, states(host), 0.1e9);
    assertEquals(705e9, host.memoryModel().hostBytesPerNode(host.candidate(), host.layout()), 1e9);
    assertEquals(MemoryVerdict.FITS, verdict(host));
  }

  @Test
  void theSmallestGpuCountsOfReinforcementLearningNeedOffload() {
    assertEquals(41.9e9, states(fullySharded("deepseek-v3", 96, 1)), 0.1e9);
    assertEquals(44.1e9, states(fullySharded("qwen3-235b-a22b", 32, 1)), 0.1e9);
    assertEquals(125.8e9, states(fullySharded("deepseek-v3", 96, 0)), 0.2e9);
    assertEquals(MemoryVerdict.OUT_OF_MEMORY, verdict(fullySharded("deepseek-v3", 96, 0)));
    assertEquals(MemoryVerdict.OUT_OF_MEMORY, verdict(fullySharded("qwen3-235b-a22b", 32, 0)));
  }

  @Test
  void a13bModelNeedsFourGpusWhateverTheBatch() {
    MemoryCase two = fullySharded("llama-13b", 2, 0);
    two.system = "hgx-a800";
    two.sequence = 512;
    assertEquals(117e9, states(two), 0.5e9);
    assertEquals(MemoryVerdict.OUT_OF_MEMORY, verdict(two));
    MemoryCase four = fullySharded("llama-13b", 4, 0);
    four.system = "hgx-a800";
    four.sequence = 512;
    assertEquals(58.5e9, states(four), 0.3e9);
    assertEquals(MemoryVerdict.FITS, verdict(four));
  }

  @Test
  void shardsShrinkTowardsTheActivationsAsNodesAreAdded() {
    double[] expected = {56.9, 28.4, 14.2, 7.1, 3.6};
    double last = 0;
    for (int i = 0; i < expected.length; i++) {
      MemoryCase c = new MemoryCase("qwen3-30b-a3b").dims(1, 1, 1, 8 << i, 8, 1, 1).sharding(3);
      c.era = Era.TORCH_2025;
      c.gradientFusion = false;
      c.microBatch = 8;
      assertEquals(expected[i], states(c) / Quantity.GIB, 0.1);
      double a = c.allocatorGib(0);
      if (i > 0) {
        double[] measuredSteps = {29.1, 14.2, 7.1, 2.7};
        assertEquals(measuredSteps[i - 1], last - a, 1.0);
      }
      last = a;
    }
  }

  private static MemoryCase smallLatentMoe(Module... modules) {
    MemoryCase c = new MemoryCase("deepseek-v2-lite").dims(2, 1, 1, 4, 8, 1, 1);
    c.loss = LossKernel.FUSED;
    c.microBatches = 1;
    if (modules.length > 0) {
      c.recompute(Recompute.selective(modules));
    }
    return c;
  }

  @Test
  void whatEachRecomputeModuleBuysOnASmallMoe() {
    double none = smallLatentMoe().allocatorGib(0);
    assertEquals(0.0, smallLatentMoe(Module.CORE_ATTN).allocatorGib(0) / none - 1, 1e-3);
    double up = smallLatentMoe(Module.MLA_UP_PROJ).allocatorGib(0) / none - 1;
    double act = smallLatentMoe(Module.MOE_ACT).allocatorGib(0) / none - 1;
    assertEquals(-0.020, up, 0.005);
    assertEquals(-0.019, act, 0.005);
  }

  @Test
  void logitsOf774MillionParametersAreTheBlockThatFails() {
    MemoryCase c = new MemoryCase("gpt2-774m").dims(1, 1, 1, 1, 1, 1, 1).sharding(0);
    c.system = "dgx-2";
    c.era = Era.MEGATRON_2021;
    c.sequence = 1024;
    c.microBatch = 8;
    c.options = MemoryOptions::withDropout;
    MemoryShape shape = c.memoryModel().shape(c.candidate());
    assertEquals(786, 2 * shape.tokens * 50304 / Quantity.MIB, 1e-9);
    assertEquals(786, shape.fp32LogitsBytes / 2 / Quantity.MIB, 1e-9);
    assertEquals(MemoryVerdict.OUT_OF_MEMORY, verdict(c));
    c.microBatch = 4;
    c.recompute(Recompute.FULL);
    assertEquals(MemoryVerdict.FITS, verdict(c));
  }

  @Test
  void logitsAtLongSequencesShrinkByChunksOrByTensorParallelism() {
    MemoryCase c = new MemoryCase("qwen3-8b").dims(1, 1, 1, 8, 1, 1, 1);
    c.sequence = 22_260;
    MemoryShape whole = c.memoryModel().shape(c.candidate());
    assertEquals(12.6, whole.fp32LogitsBytes / Quantity.GIB, 0.05);
    assertTrue(whole.headBytes >= 1.5 * whole.fp32LogitsBytes);
    c.options = o -> o.withLossChunks(8);
    assertTrue(c.memoryModel().shape(c.candidate()).headBytes < 0.5 * whole.headBytes);
    c.options = o -> o;
    c.dims(4, 1, 1, 2, 1, 1, 1);
    assertEquals(
        0.25, c.memoryModel().shape(c.candidate()).fp32LogitsBytes / whole.fp32LogitsBytes, 1e-3);
    assertTrue(
        c.memoryModel().terms(c.candidate(), c.layout(), 0).stream()
            .anyMatch(t -> t.formula().contains("one fp32 block")));
  }

  @Test
  void adaptersOn235bAtLongSequencesNeedFullRecomputeAndContextParallelism() {
    MemoryCase c = new MemoryCase("qwen3-235b-a22b").dims(4, 1, 2, 8, 8, 1, 1);
    c.system = "hgx-h800";
    c.tuning = Tuning.LORA;
    c.loss = LossKernel.FUSED;
    c.sequence = 32_768;
    double none = c.memoryModel().worstDeviceBytes(c.candidate(), c.layout());
    assertEquals(MemoryVerdict.OUT_OF_MEMORY, verdict(c));
    c.recompute(Recompute.FULL);
    double full = c.memoryModel().worstDeviceBytes(c.candidate(), c.layout());
    assertEquals(MemoryVerdict.FITS, verdict(c));
    c.dims(4, 4, 2, 2, 8, 1, 1);
    double split = c.memoryModel().worstDeviceBytes(c.candidate(), c.layout());
    assertTrue(none > 3 * full && full > split);
  }

  @Test
  void memoryFollowsTokensOfARankWhetherContextOrBatchIsHalved() {
    MemoryCase context = new MemoryCase("gpt2-124m").dims(1, 2, 1, 4, 1, 1, 1);
    context.microBatch = 4;
    context.cpKind = CpKind.P2P;
    MemoryCase batch = new MemoryCase("gpt2-124m").dims(1, 1, 1, 8, 1, 1, 1);
    batch.microBatch = 2;
    assertEquals(batch.allocatorGib(0), context.allocatorGib(0), 1e-9);
    assertEquals(states(batch), states(context), 1);
    batch.microBatch = 4;
    assertNotEquals(batch.allocatorGib(0), context.allocatorGib(0), 0.1);
  }

  @Test
  void fourLayoutsOfTheSameTwelveLayers() {
    double[] measured = {66.6, 60.7, 39.1, 28.3};
    double[] predicted = {66.8, 60.7, 39.1, 28.3};
    int[][] degrees = {{1, 2, 4}, {2, 1, 4}, {4, 1, 2}, {8, 1, 1}};
    for (int i = 0; i < degrees.length; i++) {
      int[] d = degrees[i];
      MemoryCase c = new MemoryCase("llama3-70b-l12").dims(d[0], 1, d[1], d[2], 1, 1, 1);
      c.system = "hgx-b200";
      c.loss = LossKernel.FUSED;
      assertEquals(predicted[i], c.allocatorGib(0), 0.06);
      assertEquals(1, c.allocatorGib(0) / measured[i], 0.01);
    }
  }

  @Test
  void aShippedMoeConfigurationNeedsALowerBatchOrRecompute() {
    MemoryCase c = new MemoryCase("deepseek-v2-lite").dims(1, 1, 1, 8, 8, 1, 1).sharding(3);
    c.era = Era.TORCH_2025;
    c.framework = Framework.TORCHTITAN;
    c.gradientFusion = false;
    c.microBatch = 8;
    assertEquals(MemoryVerdict.OUT_OF_MEMORY, verdict(c));
    assertEquals(158, c.allocatorGib(0), 16);
    c.recompute(Recompute.FULL);
    assertEquals(57, c.allocatorGib(0), 6);
    assertEquals(MemoryVerdict.FITS, verdict(c));
    c.recompute(Recompute.NONE);
    c.microBatch = 2;
    assertEquals(MemoryVerdict.FITS, verdict(c));
  }

  @Test
  void stagesWithAndWithoutEmbeddingOfA104bModel() {
    Attention a =
        new Attention(
            Attention.Kind.GQA,
            80,
            80,
            145,
            145,
            0,
            null,
            null,
            true,
            true,
            Attention.QkNorm.NONE,
            false,
            true,
            1,
            false);
    FeedForward f = new FeedForward(4 * 11_600, false, true, 0, 0, 0, 0, false, 0, 0, 0);
    Model like = MemoryCase.model("gpt2-774m");
    MemoryCase c = new MemoryCase("gpt2-774m").dims(4, 1, 32, 1, 1, 1, 1).sharding(0);
    c.model =
        new Model(
            "104b",
            List.of(),
            "",
            11_600,
            50_257,
            true,
            Model.Positions.LEARNED,
            2048,
            like.norm(),
            2,
            false,
            false,
            List.of(new LayerGroup(64, List.of(new LayerKind("mha + dense", a, f)))),
            0,
            like.published(),
            "",
            List.of());
    assertEquals(17.2e9, states(c), 0.5e9);
    double inner =
        (c.lineGib(1, MemoryLine.WEIGHTS)
                + c.lineGib(1, MemoryLine.MAIN_GRADIENTS)
                + c.lineGib(1, MemoryLine.OPTIMIZER))
            * Quantity.GIB;
    assertEquals(14.5e9, inner, 0.1e9);
  }
}
