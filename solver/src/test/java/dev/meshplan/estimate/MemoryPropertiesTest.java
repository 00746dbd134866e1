package dev.meshplan.estimate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.plan.Batch;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.Era;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.LossKernel;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.MemoryTerm;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Schedule;
import dev.meshplan.plan.StageMemory;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MemoryPropertiesTest {
  private static final String[] MODELS = {
    "llama-3.1-8b", "llama-3.1-405b", "mixtral-8x22b", "deepseek-v3", "qwen3-235b-a22b", "gpt3-175b"
  };
  private static final Recompute[] RECOMPUTES = {
    Recompute.NONE,
    Recompute.FULL,
    Recompute.selective(Module.CORE_ATTN),
    Recompute.selective(Module.LAYERNORM, Module.MOE_ACT, Module.MLA_UP_PROJ),
    Recompute.selective(Module.MLP),
    new Recompute(Recompute.Granularity.FULL, List.of(), 0.5)
  };
  private static final double SAME = 1 + 1e-12;

  private static MemoryCase random(Random r) {
    MemoryCase c = new MemoryCase(MODELS[r.nextInt(MODELS.length)]);
    int tp = 1 << r.nextInt(4);
    int cp = 1 << r.nextInt(3);
    int pp = 1 << r.nextInt(4);
    int dp = 8 << r.nextInt(4);
    int ep = c.model.moe() ? 1 << r.nextInt(4) : 1;
    int vpp = pp > 1 && r.nextInt(3) == 0 ? 2 : 1;
    c.dims(tp, cp, pp, dp, ep, 1, vpp);
    c.microBatch = 1 << r.nextInt(3);
    c.microBatches = pp * (1 + r.nextInt(8));
    c.sequence = 1024 << r.nextInt(4);
    c.loss = LossKernel.values()[r.nextInt(3)];
    c.gradients = GradientType.values()[r.nextInt(2)];
    c.era =
        new Era[] {Era.MEGATRON_2025, Era.TORCH_2025, Era.MEGATRON_DEEPSPEED_2022, Era.NEMO_2024}
            [r.nextInt(4)];
    c.framework = c.era == Era.TORCH_2025 ? Framework.TORCHTITAN : Framework.MEGATRON;
    c.gradientFusion = c.era != Era.TORCH_2025;
    c.memory = new MemoryPlan(r.nextInt(4), 0, 0, RECOMPUTES[r.nextInt(RECOMPUTES.length)], 0);
    c.mtp = c.model.mtpLayers();
    return c;
  }

  private static double worstAllocator(MemoryCase c) {
    return c.stages().stream().mapToDouble(StageMemory::allocatorBytes).max().orElseThrow();
  }

  @Test
  void memoryNeverRisesWithMoreRanksOnAnyOtherAxisThanThePipeline() {
    Random r = new Random(1);
    for (int i = 0; i < 400; i++) {
      MemoryCase c = random(r);
      c.cpKind = CpKind.P2P;
      double before = worstAllocator(c);
      int[] d = {c.dims.tp(), c.dims.cp(), c.dims.pp(), c.dims.dp(), c.dims.ep(), 1, c.dims.vpp()};
      int axis = new int[] {0, 1, 3, 4}[r.nextInt(c.model.moe() ? 4 : 3)];
      d[axis] *= 2;
      c.dims(d[0], d[1], d[2], d[3], d[4], d[5], d[6]);
      assertTrue(worstAllocator(c) <= before * SAME, c.model.id() + " " + c.dims + " axis " + axis);
    }
  }

  @Test
  void memoryNeverRisesWithRecomputeOrSmallerGradientsAndAlwaysRisesWithTheMicroBatch() {
    Random r = new Random(2);
    for (int i = 0; i < 400; i++) {
      MemoryCase c = random(r);
      c.gradients = GradientType.FP32;
      c.recompute(Recompute.NONE);
      double plain = worstAllocator(c);
      c.gradients = GradientType.BF16;
      assertTrue(worstAllocator(c) <= plain * SAME);
      c.gradients = GradientType.FP32;
      if (layersInFlight(c) > 1) {
        c.recompute(Recompute.FULL);
        assertTrue(worstAllocator(c) <= plain * SAME, c.model.id() + " " + c.dims);
        c.recompute(Recompute.selective(Module.MOE_ACT));
        assertTrue(worstAllocator(c) <= plain * SAME, c.model.id() + " " + c.dims);
      }
      c.recompute(Recompute.NONE);
      double device = c.memoryModel().worstDeviceBytes(c.candidate(), c.layout());
      c.microBatch *= 2;
      assertTrue(worstAllocator(c) >= plain);
      double larger = c.memoryModel().worstDeviceBytes(c.candidate(), c.layout());
      assertTrue(larger >= device);
      assertTrue(larger > device || device > c.machine().gpu().usableMemoryBytes().value());
    }
  }

  private static int layersInFlight(MemoryCase c) {
    int least = Integer.MAX_VALUE;
    Layout layout = c.layout();
    for (int rank = 0; rank < layout.pp(); rank++) {
      least = Math.min(least, layout.rankLayers(rank));
    }
    return least;
  }

  @Test
  void memoryDoesNotDependOnTheNumberOfMicroBatchesOnceThePipelineIsFull() {
    Random r = new Random(3);
    for (int i = 0; i < 400; i++) {
      MemoryCase c = random(r);
      c.microBatches = 3 * c.dims.pp();
      double full = worstAllocator(c);
      c.microBatches = (4 + r.nextInt(40)) * c.dims.pp();
      assertEquals(full, worstAllocator(c), full * 1e-12);
    }
  }

  @Test
  void linesAddUpToTheirReadingsAndTheWorstRankIsTheMaximum() {
    Random r = new Random(4);
    for (int i = 0; i < 200; i++) {
      MemoryCase c = random(r);
      MemoryModel m = c.memoryModel();
      List<StageMemory> stages = m.stages(c.candidate(), c.layout());
      double worst = 0;
      for (StageMemory s : stages) {
        worst = Math.max(worst, s.deviceBytes());
        List<MemoryTerm> terms = m.terms(c.candidate(), c.layout(), s.stage());
        double sum = terms.stream().mapToDouble(MemoryTerm::bytes).sum();
        assertEquals(s.deviceBytes(), sum, s.deviceBytes() * 1e-12);
        double a =
            terms.stream()
                .filter(
                    t ->
                        MemoryLine.valueOf(t.id().toUpperCase(java.util.Locale.ROOT)).reading()
                            == MemoryLine.Reading.A)
                .mapToDouble(MemoryTerm::bytes)
                .sum();
        assertEquals(s.allocatorBytes(), a, a * 1e-12);
        assertTrue(s.allocatorBytes() < s.reservedBytes());
        assertTrue(s.reservedBytes() < s.deviceBytes());
        assertTrue(terms.stream().noneMatch(t -> t.formula().isBlank() || t.bytes() < 0));
      }
      assertEquals(worst, m.worstDeviceBytes(c.candidate(), c.layout()), worst * 1e-12);
      assertEquals(
          worst,
          m.deviceBytes(c.candidate(), c.layout(), m.worstRank(c.candidate(), c.layout())),
          worst * 1e-12);
    }
  }

  @Test
  void theFloorIsNeverAboveTheWorstRankOfAnyLayoutRecomputeOrMicroBatch() {
    Random r = new Random(5);
    for (int i = 0; i < 400; i++) {
      MemoryCase c = random(r);
      MemoryModel m = c.memoryModel();
      Candidate own = c.candidate();
      double worst = m.worstDeviceBytes(own, c.layout()) * SAME;
      double floor = m.floorBytes(own);
      assertTrue(floor > 0);
      assertTrue(floor <= worst, c.model.id() + own);
      Candidate smallest =
          new Candidate(
              own.dims(),
              new Batch(1, own.batch().microBatch() * own.batch().gradientAccumulation()),
              own.schedule(),
              new MemoryPlan(
                  c.memory.sharding(),
                  c.memory.shardGroup(),
                  c.memory.secondaryGroup(),
                  Recompute.FULL,
                  c.memory.optimizerOffload()),
              own.blockGpus(),
              own.cpInside());
      assertTrue(m.floorBytes(smallest) <= worst, c.model.id() + own);
    }
  }

  @Test
  void linearPiecesBoundEveryRankAndMeetTheOneThatHoldsAllKinds() {
    Random r = new Random(6);
    for (int i = 0; i < 300; i++) {
      MemoryCase c = random(r);
      MemoryModel m = c.memoryModel();
      Layout layout = c.layout();
      MemorySplit split = m.split(c.candidate(), layout);
      int kinds = layout.kinds().size();
      for (int rank = 0; rank < layout.pp(); rank++) {
        int[][] layers = new int[layout.vpp()][kinds];
        boolean every = true;
        for (int k = 0; k < kinds; k++) {
          every &= layout.rankCount(rank, k) > 0;
          for (int j = 0; j < layout.vpp(); j++) {
            layers[j][k] = layout.chunkCount(j * layout.pp() + rank, k);
          }
        }
        double exact = m.deviceBytes(c.candidate(), layout, rank);
        double bound = split.bytes(rank, layers);
        assertTrue(
            bound >= exact / SAME || bound > c.machine().gpu().usableMemoryBytes().value(),
            c.model.id() + c.dims + c.memory);
        if (every && c.era != Era.MEGATRON_DEEPSPEED_2022) {
          assertEquals(exact, bound, exact * 0.02);
        }
      }
    }
  }

  @Test
  void theReplayByRunsMeetsTheReplayByPasses() {
    Random r = new Random(7);
    for (int i = 0; i < 500; i++) {
      int pp = 2 + r.nextInt(10);
      int vpp = 2 + r.nextInt(5);
      int m = r.nextBoolean() ? pp * (1 + r.nextInt(4)) : 1 + r.nextInt(40);
      int rank = r.nextInt(pp);
      int extra = r.nextInt(2);
      double[] bytes = new double[vpp];
      for (int j = 0; j < vpp; j++) {
        bytes[j] = r.nextInt(4) == 0 ? 0 : 1 + r.nextInt(20);
      }
      double expected = 0;
      for (double[] counts : MemoryInFlight.peaks(pp, vpp, rank, m, extra)) {
        double sum = 0;
        for (int j = 0; j < vpp; j++) {
          sum += counts[j] * bytes[j];
        }
        expected = Math.max(expected, sum);
      }
      assertEquals(expected, MemoryInFlight.peakBytes(pp, vpp, rank, m, extra, bytes), 1e-9);
    }
  }

  @Test
  void equalChunksGiveTheClosedForm() {
    double[] bytes = {1, 1, 1, 1};
    assertEquals(8 * (1 + 7.0 / 32), MemoryInFlight.peakBytes(8, 4, 0, 64, 0, bytes) / 4, 1e-9);
  }

  @Test
  void schedulesHoldTheMicroBatchesTheyArePublishedWith() {
    assertEquals(6, MemoryInFlight.count(Schedule.ONE_F_ONE_B, 8, 2, 64));
    assertEquals(3, MemoryInFlight.count(Schedule.ONE_F_ONE_B, 8, 2, 3));
    assertEquals(64, MemoryInFlight.count(Schedule.GPIPE, 8, 2, 64));
    assertEquals(11, MemoryInFlight.count(Schedule.ZB_2P, 8, 2, 64));
    assertEquals(8, MemoryInFlight.count(Schedule.ZBV, 8, 2, 64));
    assertEquals(6, MemoryInFlight.count(Schedule.V_HALF, 8, 2, 64));
    assertEquals(8 / 3.0 + 2, MemoryInFlight.count(Schedule.V_MIN, 8, 2, 64), 1e-12);
  }

  @Test
  void pricingAKnownShapeAllocatesNothing() {
    MemoryCase c = new MemoryCase("deepseek-v3").dims(1, 1, 16, 128, 64, 1, 2);
    c.microBatches = 128;
    MemoryModel m = c.memoryModel();
    var candidate = c.candidate();
    Layout layout = c.layout();
    double sum = 0;
    for (int i = 0; i < 2000; i++) {
      sum += m.worstDeviceBytes(candidate, layout);
    }
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
    for (int i = 0; i < 2000; i++) {
      sum += m.worstDeviceBytes(candidate, layout);
    }
    long after = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
    assertTrue(sum > 0);
    assertTrue(after - before < 2000, "bytes allocated: " + (after - before));
  }
}
