package dev.meshplan.formats;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Precision;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Batch;
import dev.meshplan.plan.Blocks;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.CudaGraph;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Dispatcher;
import dev.meshplan.plan.Era;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Limits;
import dev.meshplan.plan.Locality;
import dev.meshplan.plan.LossKernel;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Objective;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Placement;
import dev.meshplan.plan.Plan;
import dev.meshplan.plan.PlanRequest;
import dev.meshplan.plan.Pool;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Routing;
import dev.meshplan.plan.Schedule;
import dev.meshplan.plan.Training;
import dev.meshplan.plan.Tuning;
import java.util.List;
import java.util.Map;

/** Hand-made answers for exporter tests. */
final class Jobs {
  static final Catalog CATALOG = Catalog.open(null);

  String model = "llama-3.1-8b";
  String system = "hgx-h100";
  String name = "job";
  Dims dims = new Dims(1, 1, 1, 8, 1, 1, 1);
  int microBatch = 1;
  int globalBatch = 0;
  int sequence = 4096;
  Precision precision = Precision.BF16;
  MemoryPlan memory = new MemoryPlan(1, 0, 0, Recompute.NONE, 0);
  Schedule schedule = null;
  int[] layers = null;
  int block = 0;
  int domains = 0;
  List<Integer> healthy = List.of();
  CpKind cpKind = CpKind.P2P;
  boolean a2aOverlap = false;
  Routing routing = Routing.NATURAL;
  double optimizerBytes = 12;
  Tuning tuning = Tuning.FULL;
  List<String> assumed = List.of();
  GradientType gradientType = GradientType.BF16;

  static Jobs of(String model, String system, int tp, int cp, int pp, int dp, int ep, int vpp) {
    Jobs j = new Jobs();
    j.model = model;
    j.system = system;
    j.dims = new Dims(tp, cp, pp, dp, ep, 1, vpp);
    return j;
  }

  static <T> T get(dev.meshplan.config.Library<T> library, String id) {
    return library.get(
        id,
        new Errors(),
        m -> {
          throw new InputException("test", id, "", m);
        });
  }

  Job build() {
    Model m = get(CATALOG.models(), model);
    SystemSpec s = get(CATALOG.systems(), system);
    Gpu g = get(CATALOG.gpus(), s.gpu());
    int size = s.domain().size();
    int b = block == 0 ? size : block;
    int gpus = (int) dims.gpus();
    Schedule sch =
        schedule != null ? schedule : dims.vpp() > 1 ? Schedule.INTERLEAVED : Schedule.ONE_F_ONE_B;
    Layout layout =
        layers == null
            ? Layout.even(m, dims.pp(), dims.vpp(), m.mtpLayers())
            : Layout.of(m, dims.pp(), dims.vpp(), layers, m.mtpLayers(), sch.shapedLikeV());
    int gbs = globalBatch == 0 ? microBatch * dims.dp() * 4 * dims.pp() : globalBatch;
    Training t =
        new Training(
            gbs,
            sequence,
            0,
            precision,
            Framework.MEGATRON,
            Era.MEGATRON_2026B,
            tuning,
            gradientType,
            optimizerBytes,
            Dispatcher.DEDUPE,
            CudaGraph.NONE,
            routing,
            true,
            false,
            true,
            true,
            a2aOverlap,
            cpKind,
            0,
            LossKernel.FUSED,
            true,
            assumed);
    int w = Blocks.working(b, Blocks.unit(dims, true, b));
    int perDomain = Math.max(1, size / b) * w;
    int used = domains > 0 ? domains : (gpus + perDomain - 1) / perDomain;
    Pool pool = new Pool(system, "", gpus, used, 0, healthy, List.of(), List.of(), Double.NaN);
    Placement placement =
        new Placement(
            used * size,
            gpus,
            used * size - gpus,
            b,
            used,
            List.of(new Placement.PoolUse(0, system, b, used, gpus)),
            "tp-cp-ep-dp-pp");
    Plan plan =
        new Plan(
            dims,
            new Batch(microBatch, gbs / (microBatch * dims.dp())),
            sch,
            memory,
            layout.stages(),
            true,
            placement);
    PlanRequest request =
        new PlanRequest(
            model,
            List.of(pool),
            t,
            Objective.TIME,
            Locality.STRICT,
            Map.of(),
            new Limits(0.92, 1000),
            3);
    Answer answer =
        new Answer(
            "0.1.0",
            request,
            Outcome.FOUND,
            null,
            plan,
            null,
            List.of(),
            List.of(),
            null,
            null,
            List.of(),
            List.of(),
            List.of());
    return new Job(answer, m, List.of(new Machine(pool, s, g, null)), name);
  }

  static Jobs llama405() {
    Jobs j = of("llama-3.1-405b", "hgx-h100", 8, 1, 16, 8, 1, 1);
    j.layers = new int[] {7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7};
    j.sequence = 8192;
    return j;
  }

  static Jobs deepseekNvl72() {
    Jobs j = of("deepseek-v3", "gb200-nvl72", 1, 1, 4, 64, 64, 4);
    j.globalBatch = 2048;
    j.precision = Precision.MXFP8;
    return j;
  }
}
