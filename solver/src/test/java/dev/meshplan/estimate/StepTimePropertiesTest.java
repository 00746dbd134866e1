package dev.meshplan.estimate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.communication.Communication;
import dev.meshplan.communication.Fabric;
import dev.meshplan.config.Errors;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.Precision;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Batch;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.CudaGraph;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Dispatcher;
import dev.meshplan.plan.Era;
import dev.meshplan.plan.EraDefaults;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Routing;
import dev.meshplan.plan.Schedule;
import dev.meshplan.plan.TimeTerm;
import dev.meshplan.plan.Training;
import dev.meshplan.plan.Tuning;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What must hold of every step time. */
class StepTimePropertiesTest {
  private static final Catalog CATALOG = Catalog.open(null);
  private static final Machine H100 = machine("hgx-h100", "ndr-400g");

  @Test
  void aDegreeOfOneCausesNoTrafficOnItsAxis() {
    Model m = model("mixtral-8x22b");
    Dims d = new Dims(1, 1, 1, 1, 1, 1, 1);
    List<String> ids =
        ids(
            step(m, 8, CudaGraph.NONE, H100)
                .bill(plan(d, 1, 8, Recompute.NONE, 0), Layout.even(m, 1, 1, 0), Spread.inside(d)));
    for (String axis :
        List.of(
            "tensor_traffic",
            "context_traffic",
            "expert_traffic",
            "pipeline_traffic",
            "data_traffic",
            "sharded_traffic",
            "bubble")) {
      assertTrue(!ids.contains(axis), axis);
    }
  }

  @Test
  void termsAddUpAndNeverShowMoreThanTheirLinkIsBusy() {
    for (Case c : cases(200)) {
      StepBill bill = c.model.bill(c.plan, c.layout, c.spread);
      double sum = 0;
      for (TimeTerm t : bill.terms()) {
        sum += t.exposedSeconds();
        assertTrue(t.exposedSeconds() <= t.linkSeconds() * (1 + 1e-12), c + ": " + t);
        assertTrue(t.exposedSeconds() >= 0, c + ": " + t);
      }
      assertEquals(bill.stepSeconds(), sum, 1e-9 * sum, c.toString());
      assertEquals(
          c.model.seconds(c.plan, c.layout, c.spread), bill.stepSeconds(), 0, c.toString());
    }
  }

  @Test
  void theLowerBoundIsNeverAboveAPlan() {
    for (Case c : cases(1500)) {
      Dims d = c.plan.dims();
      double floor = c.model.floorSeconds(d.tp(), d.cp(), d.pp(), d.dp());
      double seconds = c.model.seconds(c.plan, c.layout, c.spread);
      assertTrue(floor <= seconds, c + ": bound " + floor + " > " + seconds);
    }
  }

  @Test
  void fasterHardwareIsNeverSlower() {
    List<Machine> faster =
        List.of(
            new Machine(null, scaleUp(H100.system(), 2), H100.gpu(), H100.network()),
            new Machine(null, H100.system(), gpu(H100.gpu(), 2, 1), H100.network()),
            new Machine(null, H100.system(), gpu(H100.gpu(), 1, 2), H100.network()),
            new Machine(null, H100.system(), H100.gpu(), network(H100.network(), 2)));
    for (String id : List.of("llama-3.1-8b", "mixtral-8x22b", "deepseek-v3")) {
      Model m = model(id);
      for (Case c : cases(m, H100, 40)) {
        double before = c.model.seconds(c.plan, c.layout, c.spread);
        for (Machine machine : faster) {
          double after = step(m, 512, CudaGraph.NONE, machine).seconds(c.plan, c.layout, c.spread);
          assertTrue(after <= before * (1 + 1e-12), c + ": " + before + " to " + after);
        }
      }
    }
  }

  @Test
  void fullRecomputeAddsAboutOneForward() {
    Model m = model("llama-3.1-70b");
    Dims d = new Dims(8, 1, 1, 8, 1, 1, 1);
    StepTimeModel time = step(m, 512, CudaGraph.FULL, H100);
    Spread s = Spread.of(d, 8, false);
    LayerCost none = time.costs(plan(d, 1, 64, Recompute.NONE, 1), s).kinds[0];
    LayerCost full = time.costs(plan(d, 1, 64, Recompute.FULL, 1), s).kinds[0];
    double added = full.backwardSeconds - none.backwardSeconds;
    assertTrue(added >= 0.9 * none.forwardSeconds && added <= 1.1 * none.forwardSeconds);
  }

  @Test
  void doublingTheBatchDoublesTheBodyAndLeavesTheBubble() {
    Model m = model("llama-3.1-70b");
    Dims d = new Dims(4, 1, 4, 4, 1, 1, 1);
    Spread s = Spread.of(d, 8, false);
    Layout layout = Layout.even(m, 4, 1, 0);
    StepTimeModel one = step(m, 512, CudaGraph.NONE, H100);
    one.seconds(plan(d, 1, 128, Recompute.NONE, 1), layout, s);
    StepTimeModel two = step(m, 1024, CudaGraph.NONE, H100);
    two.seconds(plan(d, 1, 256, Recompute.NONE, 1), layout, s);
    assertEquals(2 * one.body, two.body, 1e-9 * two.body);
    assertEquals(one.bubble, two.bubble, 1e-9 * two.bubble);
  }

  @Test
  void aFullGraphNeverSlowsAPlan() {
    for (String id : List.of("llama-3.1-8b", "mixtral-8x22b", "deepseek-v3")) {
      Model m = model(id);
      StepTimeModel graph = step(m, 512, CudaGraph.FULL, H100);
      for (Case c : cases(m, H100, 40)) {
        assertTrue(
            graph.seconds(c.plan, c.layout, c.spread)
                <= c.model.seconds(c.plan, c.layout, c.spread),
            c.toString());
      }
    }
  }

  @Test
  void layerSecondsAreWhatAStepIsMadeOf() {
    Model m = model("llama-3.1-8b");
    Dims d = new Dims(1, 1, 1, 1, 1, 1, 1);
    StepTimeModel time = step(m, 4, CudaGraph.NONE, H100);
    Candidate c = plan(d, 1, 4, Recompute.NONE, 0);
    LayerSeconds l = time.layerSeconds(c, Spread.inside(d));
    time.seconds(c, Layout.even(m, 1, 1, 0), Spread.inside(d));
    assertEquals(4 * (32 * l.layer(0) + l.head()), time.body, 1e-9 * time.body);
  }

  private static final class Case {
    final StepTimeModel model;
    final Candidate plan;
    final Layout layout;
    final Spread spread;
    final String name;

    Case(String name, StepTimeModel model, Candidate plan, Layout layout, Spread spread) {
      this.name = name;
      this.model = model;
      this.plan = plan;
      this.layout = layout;
      this.spread = spread;
    }

    @Override
    public String toString() {
      return name + " " + plan;
    }
  }

  private static List<Case> cases(int perKind) {
    List<Case> all = new ArrayList<>();
    String[] models = {"llama-3.1-8b", "llama-3.1-405b", "mixtral-8x22b", "deepseek-v3"};
    Machine rack = machine("gb200-nvl72", "ndr-400g");
    for (String id : models) {
      all.addAll(cases(model(id), H100, perKind / 8));
      all.addAll(cases(model(id), rack, perKind / 8));
    }
    return all;
  }

  /** Random plans of up to 512 GPUs, legal or not: the estimator prices what it is given. */
  private static List<Case> cases(Model m, Machine machine, int count) {
    Random random = new Random(m.id().hashCode() + machine.system().domain().size());
    StepTimeModel time = step(m, 512, CudaGraph.NONE, machine);
    List<Case> cases = new ArrayList<>();
    while (cases.size() < count) {
      int tp = 1 << random.nextInt(4);
      int cp = 1 << random.nextInt(2);
      int pp = 1 << random.nextInt(4);
      int dp = 1 << random.nextInt(5);
      int vpp = pp > 1 && random.nextInt(3) == 0 ? 2 : 1;
      int ep = 1;
      int etp = 1;
      if (m.moe()) {
        ep = 1 << random.nextInt(4);
        etp = 1 << random.nextInt(2);
        if (tp * cp * dp % (ep * etp) != 0 || m.experts() % ep != 0) {
          continue;
        }
      }
      int micro = 1 << random.nextInt(3);
      if (512 / dp < micro) {
        continue;
      }
      Dims d = new Dims(tp, cp, pp, dp, ep, etp, vpp);
      Schedule schedule =
          vpp > 1
              ? Schedule.INTERLEAVED
              : List.of(Schedule.ONE_F_ONE_B, Schedule.ZB_1P, Schedule.ZB_2P)
                  .get(random.nextInt(3));
      int sharding = pp > 1 ? random.nextInt(2) : random.nextInt(4);
      Recompute recompute =
          random.nextInt(3) == 0
              ? Recompute.FULL
              : random.nextInt(2) == 0
                  ? Recompute.selective(dev.meshplan.plan.Module.CORE_ATTN)
                  : Recompute.NONE;
      Candidate c =
          new Candidate(
              d,
              new Batch(micro, 512 / dp / micro),
              schedule,
              new MemoryPlan(sharding, 0, 0, recompute, 0),
              machine.system().domain().size(),
              false);
      int mtp = m.mtpLayers();
      Spread s = Spread.of(d, machine.system().domain().size() / 8 * 8, false);
      cases.add(new Case(m.id(), time, c, Layout.even(m, pp, vpp, mtp), s));
    }
    return cases;
  }

  private static Candidate plan(Dims d, int micro, int m, Recompute recompute, int sharding) {
    return new Candidate(
        d,
        new Batch(micro, m),
        d.vpp() > 1 ? Schedule.INTERLEAVED : Schedule.ONE_F_ONE_B,
        new MemoryPlan(sharding, 0, 0, recompute, 0),
        8,
        false);
  }

  private static List<String> ids(StepBill bill) {
    return bill.terms().stream().map(TimeTerm::id).collect(Collectors.toList());
  }

  private static StepTimeModel step(Model m, int batch, CudaGraph graph, Machine machine) {
    Communication communication =
        new Communication(Fabric.of(machine.system(), machine.gpu(), machine.network()));
    return new StepTimeModel(m, training(batch, graph), machine, communication);
  }

  private static Training training(int batch, CudaGraph graph) {
    EraDefaults usual = EraDefaults.of(Era.MEGATRON_2026A);
    return new Training(
        batch,
        4096,
        0,
        Precision.BF16,
        Framework.MEGATRON,
        Era.MEGATRON_2026A,
        Tuning.FULL,
        usual.gradientType(),
        12,
        Dispatcher.DEDUPE,
        graph,
        Routing.BALANCED,
        true,
        true,
        true,
        true,
        false,
        CpKind.P2P,
        0,
        usual.lossKernel(),
        true,
        List.of());
  }

  private static Model model(String id) {
    return CATALOG.models().get(id, new Errors(), message -> {});
  }

  private static Machine machine(String system, String network) {
    SystemSpec s = CATALOG.systems().get(system, new Errors(), message -> {});
    Gpu g = CATALOG.gpus().get(s.gpu(), new Errors(), message -> {});
    return new Machine(null, s, g, CATALOG.networks().get(network, new Errors(), message -> {}));
  }

  private static Network network(Network n, double factor) {
    return n.withPortBandwidth(n.portBandwidth() * factor);
  }

  private static Gpu gpu(Gpu g, double compute, double memory) {
    var peaks = new java.util.EnumMap<Precision, Double>(Precision.class);
    g.peaks().forEach((p, v) -> peaks.put(p, v * compute));
    return new Gpu(
        g.id(),
        g.aliases(),
        g.name(),
        g.vendor(),
        g.architecture(),
        g.year(),
        g.status(),
        g.memoryBytes(),
        g.usableMemoryBytes(),
        g.memoryBandwidth() * memory,
        peaks,
        g.efficiency(),
        g.power(),
        g.sms(),
        g.sources(),
        g.notes());
  }

  private static SystemSpec scaleUp(SystemSpec s, double factor) {
    SystemSpec.Domain d = s.domain();
    return new SystemSpec(
        s.id(),
        s.aliases(),
        s.name(),
        s.gpu(),
        s.gpusPerNode(),
        new SystemSpec.Domain(
            d.size(),
            d.kind(),
            d.link(),
            d.bandwidth() * factor,
            d.pairBandwidth() * factor,
            d.blocks(),
            d.boardGpus(),
            d.hostBandwidth(),
            d.pcie(),
            d.directLinks(),
            d.axes(),
            d.collectives()),
        s.nicsPerNode(),
        s.network(),
        s.host(),
        s.power(),
        s.cooling(),
        s.space(),
        s.status(),
        s.sources(),
        s.notes());
  }
}
