package dev.meshplan.estimate;

import dev.meshplan.config.Library;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.GpuReader;
import dev.meshplan.hardware.Precision;
import dev.meshplan.hardware.SystemReader;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.model.Model;
import dev.meshplan.model.ModelReader;
import dev.meshplan.plan.Batch;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.CudaGraph;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Dispatcher;
import dev.meshplan.plan.Era;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.LossKernel;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Routing;
import dev.meshplan.plan.Schedule;
import dev.meshplan.plan.StageMemory;
import dev.meshplan.plan.Training;
import dev.meshplan.plan.Tuning;
import dev.meshplan.units.Quantity;
import java.util.List;
import java.util.function.UnaryOperator;

/** One plan of the memory tests, built step by step from the settings that most of them share. */
final class MemoryCase {
  private static final Library<Model> MODELS =
      new Library<>("models", "model", ModelReader::read, null);
  private static final Library<Gpu> GPUS =
      new Library<>("hardware/gpus", "GPU", GpuReader::read, null);
  private static final Library<SystemSpec> SYSTEMS =
      new Library<>("hardware/systems", "system", SystemReader::read, null);

  Model model;
  String system = "hgx-h100";
  Era era = Era.MEGATRON_2025;
  Framework framework = Framework.MEGATRON;
  Tuning tuning = Tuning.FULL;
  GradientType gradients = GradientType.FP32;
  double optimizerBytes = 12;
  Precision precision = Precision.BF16;
  LossKernel loss = LossKernel.UNFUSED;
  boolean gradientFusion = true;
  boolean sequenceParallel = true;
  boolean a2aOverlap;
  Routing routing = Routing.BALANCED;
  CpKind cpKind = CpKind.ALL_TO_ALL;
  Dispatcher dispatcher = Dispatcher.NAIVE;
  int sequence = 4096;
  Dims dims = new Dims(1, 1, 1, 1, 1, 1, 1);
  int microBatch = 1;
  int microBatches = 8;
  Schedule schedule = Schedule.ONE_F_ONE_B;
  MemoryPlan memory = new MemoryPlan(1, 0, 0, Recompute.NONE, 0);
  int[] layers;
  int mtp;
  UnaryOperator<MemoryOptions> options = o -> o;

  MemoryCase(String model) {
    this.model = model(model);
  }

  static Model model(String id) {
    return MODELS.all().get(id);
  }

  MemoryCase dims(int tp, int cp, int pp, int dp, int ep, int etp, int vpp) {
    dims = new Dims(tp, cp, pp, dp, ep, etp, vpp);
    schedule = vpp > 1 ? Schedule.INTERLEAVED : schedule;
    return this;
  }

  MemoryCase recompute(Recompute recompute) {
    memory =
        new MemoryPlan(
            memory.sharding(),
            memory.shardGroup(),
            memory.secondaryGroup(),
            recompute,
            memory.optimizerOffload());
    return this;
  }

  MemoryCase sharding(int level) {
    memory =
        new MemoryPlan(
            level,
            memory.shardGroup(),
            memory.secondaryGroup(),
            memory.recompute(),
            memory.optimizerOffload());
    return this;
  }

  MemoryCase layers(int... layers) {
    this.layers = layers;
    return this;
  }

  Training training() {
    return new Training(
        dims.dp() * microBatch * microBatches,
        sequence,
        0,
        precision,
        framework,
        era,
        tuning,
        gradients,
        optimizerBytes,
        dispatcher,
        CudaGraph.NONE,
        routing,
        sequenceParallel,
        true,
        true,
        true,
        a2aOverlap,
        cpKind,
        0,
        loss,
        gradientFusion,
        List.of());
  }

  Machine machine() {
    SystemSpec s = SYSTEMS.all().get(system);
    return new Machine(null, s, GPUS.all().get(GPUS.id(s.gpu())), null);
  }

  MemoryModel memoryModel() {
    Training t = training();
    return new MemoryModel(model, t, machine(), options.apply(MemoryOptions.of(t)));
  }

  Candidate candidate() {
    return new Candidate(dims, new Batch(microBatch, microBatches), schedule, memory, 8, true);
  }

  Layout layout() {
    return layers == null
        ? Layout.even(model, dims.pp(), dims.vpp(), mtp)
        : Layout.of(model, dims.pp(), dims.vpp(), layers, mtp, schedule.shapedLikeV());
  }

  List<StageMemory> stages() {
    return memoryModel().stages(candidate(), layout());
  }

  /** Reading A of a rank, GiB. */
  double allocatorGib(int rank) {
    return stages().get(rank).allocatorBytes() / Quantity.GIB;
  }

  /** A line of a rank, GiB; 0 when it is absent. */
  double lineGib(int rank, MemoryLine line) {
    return memoryModel().terms(candidate(), layout(), rank).stream()
            .filter(t -> t.id().equals(line.key()))
            .mapToDouble(t -> t.bytes())
            .sum()
        / Quantity.GIB;
  }
}
