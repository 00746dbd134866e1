package dev.meshplan.estimate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.model.Model;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.Era;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.LossKernel;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Recompute;
import dev.meshplan.units.Quantity;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Worked examples whose values two implementations agreed on, to 0.1%. */
class MemoryExamplesTest {
  private static void near(double expected, double actual) {
    assertEquals(expected, actual, Math.max(expected * 1e-3, 0.0051));
  }

  private static MemoryCase llama405b() {
    MemoryCase c = new MemoryCase("llama-3.1-405b").dims(8, 1, 16, 8, 1, 1, 1);
    c.sequence = 8192;
    c.microBatches = 128;
    c.layers(7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7);
    return c;
  }

  @Test
  void theLinesOfTheFirstStageOfA405bPlan() {
    MemoryCase c = llama405b();
    near(5.688, c.lineGib(0, MemoryLine.WEIGHTS));
    near(11.376, c.lineGib(0, MemoryLine.MAIN_GRADIENTS));
    near(4.266, c.lineGib(0, MemoryLine.OPTIMIZER));
    near(55.620, c.lineGib(0, MemoryLine.ACTIVATIONS));
    near(0.742, c.lineGib(0, MemoryLine.PLACEHOLDER_GRADIENTS));
    assertEquals(0.0625, c.lineGib(0, MemoryLine.PIPELINE_BUFFERS), 1e-9);
    assertEquals(0.703, c.lineGib(0, MemoryLine.TRANSIENT), 1e-3);
    assertEquals(1.301, c.lineGib(15, MemoryLine.TRANSIENT), 1e-3);
  }

  @Test
  void allocatorAndReservedOfA405bPlanByStage() {
    MemoryCase c = llama405b();
    near(78.56, c.allocatorGib(0));
    near(83.47, c.allocatorGib(1));
    near(27.01, c.allocatorGib(15));
    near(82.49, c.stages().get(0).reservedBytes() / Quantity.GIB);
    near(87.64, c.stages().get(1).reservedBytes() / Quantity.GIB);
    near(28.36, c.stages().get(15).reservedBytes() / Quantity.GIB);
    assertEquals(1, c.memoryModel().worstRank(c.candidate(), c.layout()));
    assertEquals(MemoryVerdict.OUT_OF_MEMORY, c.memoryModel().verdict(c.candidate(), c.layout()));
  }

  @Test
  void recomputeOfA405bPlan() {
    MemoryCase mlp = llama405b().recompute(Recompute.selective(Module.MLP));
    near(41.27, mlp.allocatorGib(0));
    near(43.49, mlp.allocatorGib(1));
    assertEquals(0.336, mlp.lineGib(0, MemoryLine.RECOMPUTE_WORKING_SET), 1e-3);
    MemoryCase full = llama405b().recompute(Recompute.FULL);
    near(26.90, full.allocatorGib(0));
    near(28.09, full.allocatorGib(1));
    near(24.22, full.allocatorGib(15));
    assertEquals(0.465, full.lineGib(0, MemoryLine.RECOMPUTE_WORKING_SET), 1e-3);
  }

  @Test
  void virtualStagesOfA405bPlan() {
    MemoryCase c = llama405b().dims(8, 1, 16, 8, 1, 1, 8);
    int[] layers = new int[128];
    Arrays.fill(layers, 1);
    layers[0] = 0;
    layers[127] = 0;
    c.layers(layers);
    near(78.56, c.allocatorGib(0));
    near(93.89, c.allocatorGib(1));
    near(79.65, c.allocatorGib(15));
    assertEquals(1, c.memoryModel().worstRank(c.candidate(), c.layout()));
    MemoryModel m = c.memoryModel();
    assertTrue(
        MemoryInFlight.peaks(16, 8, 15, 128, 0).stream()
            .anyMatch(v -> Arrays.equals(v, new double[] {32, 32, 22, 16, 11, 0, 0, 0})));
    double[] counts = m.inFlight(c.candidate(), c.layout(), 15);
    assertEquals(113, Arrays.stream(counts).sum() - counts[7]);
    assertArrayEquals(
        new double[] {31, 16, 16, 16, 16, 16, 16, 16}, m.inFlight(c.candidate(), c.layout(), 0));
  }

  private static MemoryCase deepseekV3() {
    MemoryCase c = new MemoryCase("deepseek-v3").dims(1, 1, 16, 128, 64, 1, 1);
    c.microBatches = 120;
    c.loss = LossKernel.FUSED;
    c.mtp = 1;
    int[] layers = new int[16];
    Arrays.fill(layers, 4);
    layers[15] = 1;
    return c.layers(layers);
  }

  @Test
  void theStagesOfADeepseekV3Plan() {
    MemoryCase c = deepseekV3();
    near(5.749, c.lineGib(0, MemoryLine.WEIGHTS));
    near(1.238, c.lineGib(0, MemoryLine.OPTIMIZER));
    near(5.168, c.lineGib(15, MemoryLine.WEIGHTS));
    near(90.560, c.lineGib(0, MemoryLine.ACTIVATIONS));
    near(105.016, c.lineGib(1, MemoryLine.ACTIVATIONS));
    near(3.7193, c.lineGib(15, MemoryLine.ACTIVATIONS));
    assertEquals(1.251, c.lineGib(0, MemoryLine.PLACEHOLDER_GRADIENTS), 1e-3);
    assertEquals(0.513, c.lineGib(1, MemoryLine.PLACEHOLDER_GRADIENTS), 1e-3);
    assertEquals(1.305, c.lineGib(0, MemoryLine.TRANSIENT), 1e-3);
    assertEquals(3.917, c.lineGib(15, MemoryLine.TRANSIENT), 4e-3);
    near(111.81, c.allocatorGib(0));
    near(120.21, c.allocatorGib(1));
    near(26.04, c.allocatorGib(15));
  }

  @Test
  void recomputeAndSmallStatesOfADeepseekV3Plan() {
    Recompute modules =
        Recompute.selective(Module.MLA_UP_PROJ, Module.MOE_ACT, Module.LAYERNORM, Module.MLP);
    MemoryCase c = deepseekV3().recompute(modules);
    near(51.59, c.allocatorGib(0));
    near(76.88, c.allocatorGib(1));
    near(25.31, c.allocatorGib(15));
    c.gradients = GradientType.BF16;
    c.optimizerBytes = 8;
    near(72.49, c.allocatorGib(1));
  }

  @Test
  void anExampleOnOneNode() {
    MemoryCase c = new MemoryCase("llama-3.1-8b").dims(1, 2, 1, 4, 1, 1, 1);
    c.sequence = 8192;
    c.gradients = GradientType.BF16;
    c.cpKind = CpKind.P2P;
    near(14.958, c.lineGib(0, MemoryLine.WEIGHTS));
    near(11.218, c.lineGib(0, MemoryLine.OPTIMIZER));
    near(17.017, c.lineGib(0, MemoryLine.ACTIVATIONS));
    near(0.406, c.lineGib(0, MemoryLine.PLACEHOLDER_GRADIENTS));
    near(2.998, c.lineGib(0, MemoryLine.TRANSIENT));
    near(61.65, c.allocatorGib(0));
    near(64.74, c.stages().get(0).reservedBytes() / Quantity.GIB);
  }

  @Test
  void theSameSplitByTensors() {
    MemoryCase c = new MemoryCase("llama-3.1-8b").dims(2, 1, 1, 4, 1, 1, 1);
    c.sequence = 8192;
    near(11.219, c.lineGib(0, MemoryLine.OPTIMIZER));
    near(17.017, c.lineGib(0, MemoryLine.ACTIVATIONS));
    near(53.97, c.allocatorGib(0));
  }

  @Test
  void theSameFullySharded() {
    MemoryCase c = new MemoryCase("llama-3.1-8b").dims(1, 1, 1, 8, 1, 1, 1).sharding(3);
    c.era = Era.TORCH_2025;
    c.sequence = 8192;
    c.gradientFusion = false;
    c.recompute(Recompute.FULL);
    near(3.739, c.lineGib(0, MemoryLine.MAIN_GRADIENTS));
    near(11.218, c.lineGib(0, MemoryLine.OPTIMIZER));
    near(2.197, c.lineGib(0, MemoryLine.FSDP_GATHER));
    near(2.000, c.lineGib(0, MemoryLine.ACTIVATIONS));
    near(1.001, c.lineGib(0, MemoryLine.RECOMPUTE_WORKING_SET));
    near(5.996, c.lineGib(0, MemoryLine.TRANSIENT));
    near(26.25, c.allocatorGib(0));
  }

  @Test
  void aCut70bAndACutDeepseekV2() {
    MemoryCase llama = new MemoryCase("llama3-70b-l12").dims(1, 1, 2, 4, 1, 1, 1);
    llama.loss = LossKernel.FUSED;
    near(66.79, llama.allocatorGib(0));
    near(63.13, llama.allocatorGib(1));
    MemoryCase deepseek = new MemoryCase("deepseek-v2-l4").dims(1, 1, 2, 4, 4, 1, 1);
    deepseek.loss = LossKernel.FUSED;
    near(31.24, deepseek.allocatorGib(0));
    near(44.52, deepseek.allocatorGib(1));
  }

  @Test
  void anEmbeddingOfA176bModelWeighsAlmostOneAndAHalfLayers() {
    Model bloom = MemoryCase.model("bloom-176b");
    MemoryCase c = new MemoryCase("bloom-176b");
    MemoryShape shape = c.memoryModel().shape(c.candidate());
    assertEquals(3.60e9, shape.headMatrix, 0.01e9);
    double layer = shape.tensor[0] + shape.replicated[0];
    assertEquals(1.46, shape.headMatrix / layer, 0.01);
    assertEquals(0, (bloom.layerCount() + 2) % 12);
  }
}
