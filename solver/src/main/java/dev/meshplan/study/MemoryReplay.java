package dev.meshplan.study;

import dev.meshplan.estimate.MemoryModel;
import dev.meshplan.estimate.MemoryOptions;
import dev.meshplan.plan.Batch;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.EraDefaults;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.StageMemory;
import dev.meshplan.plan.Training;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The memory of a measured run as the planner would have predicted it. What a run leaves open
 * (recompute, sharding, micro-batch) also gives a range over the choices.
 *
 * @param row the run
 * @param deviceShare device reading of the worst rank over usable memory, smallest of the choices
 * @param usualShare the same with what the stack usually does
 * @param worst readings of the rank with the largest device reading
 * @param lowBytes lower end of the row's own reading over what it leaves open
 * @param highBytes upper end of it
 * @param recomputeKnown whether the row says what is recomputed
 * @param assumed columns that were empty and filled from defaults
 */
record MemoryReplay(
    RunRow row,
    double deviceShare,
    double usualShare,
    StageMemory worst,
    double lowBytes,
    double highBytes,
    boolean recomputeKnown,
    List<String> assumed) {

  /**
   * Predicts a run.
   *
   * @throws Unpriced with the reason when its columns do not describe a plan
   */
  static MemoryReplay of(RunRow row, Catalog catalog) throws Unpriced {
    RunReplay run = RunReplay.of(MemoryRow.fill(row, catalog), catalog);
    StageMemory worst = worst(model(run), run, run.candidate());
    double usable = run.machine().gpu().usableMemoryBytes().value();
    double low = Double.POSITIVE_INFINITY;
    double high = 0;
    double share = Double.POSITIVE_INFINITY;
    for (GradientType gradients : gradients(row, run)) {
      MemoryModel memory = model(run, gradients);
      for (Candidate choice : choices(row, run.candidate())) {
        StageMemory s = worst(memory, run, choice);
        low = Math.min(low, reading(row, s));
        high = Math.max(high, reading(row, s));
        share = Math.min(share, s.deviceBytes() / usable);
      }
    }
    return new MemoryReplay(
        row,
        share,
        worst.deviceBytes() / usable,
        worst,
        low,
        high,
        recomputeKnown(row),
        run.assumed());
  }

  /** The plans that a row's empty cells leave open; the usual one first. */
  private static List<Candidate> choices(RunRow row, Candidate usual) {
    Set<Recompute> recomputes = new LinkedHashSet<>();
    recomputes.add(usual.memory().recompute());
    if (!recomputeKnown(row)) {
      recomputes.add(Recompute.NONE);
      recomputes.add(Recompute.FULL);
    }
    Set<Integer> shardings = new LinkedHashSet<>();
    shardings.add(usual.memory().sharding());
    if (!row.has("zero_stage_or_dist_opt")) {
      shardings.add(1);
    }
    Set<Integer> micros = new LinkedHashSet<>();
    micros.add(usual.batch().microBatch());
    if (!row.has("mbs")) {
      micros.add(1);
    }
    List<Candidate> choices = new ArrayList<>();
    for (Recompute recompute : recomputes) {
      for (int sharding : shardings) {
        for (int micro : micros) {
          choices.add(with(usual, recompute, sharding, micro));
        }
      }
    }
    return choices;
  }

  /** Selective recompute without a list of modules leaves open what is kept. */
  private static boolean recomputeKnown(RunRow row) {
    return switch (row.text("recompute")) {
      case "none", "full" -> true;
      case "selective" -> row.has("recompute_modules") || row.has("recompute_layers");
      default -> row.has("recompute_layers");
    };
  }

  /** Number formats of the gradients that the row leaves open. */
  private static Set<GradientType> gradients(RunRow row, RunReplay run) {
    Set<GradientType> types = new LinkedHashSet<>();
    types.add(run.training().gradientType());
    if (!row.has("grad_dtype") && !row.text("precision").equals("fp16")) {
      types.add(GradientType.BF16);
      types.add(GradientType.FP32);
    }
    return types;
  }

  private static StageMemory worst(MemoryModel memory, RunReplay run, Candidate c) {
    Layout layout = run.layout();
    return memory.stages(c, layout).get(memory.worstRank(c, layout));
  }

  /** The memory model of a run. */
  static MemoryModel model(RunReplay run) {
    return model(run, run.training().gradientType());
  }

  private static MemoryModel model(RunReplay run, GradientType gradients) {
    Training t = fused(run.training(), gradients);
    return new MemoryModel(run.model(), t, run.machine(), MemoryOptions.of(t));
  }

  /**
   * Weight gradients are accumulated as the era does: runs whose overlap switches are off are timed
   * as if they were not, but hold the cached blocks that come with it.
   */
  private static Training fused(Training t, GradientType gradients) {
    return new Training(
        t.globalBatch(),
        t.sequence(),
        t.tokens(),
        t.precision(),
        t.framework(),
        t.era(),
        t.tuning(),
        gradients,
        t.optimizerBytes(),
        t.dispatcher(),
        t.cudaGraph(),
        t.routing(),
        t.sequenceParallel(),
        t.tpOverlap(),
        t.dpOverlap(),
        t.ppOverlap(),
        t.a2aOverlap(),
        t.cpKind(),
        t.documentTokens(),
        t.lossKernel(),
        EraDefaults.of(t.era()).gradientFusion(),
        t.assumed());
  }

  private static Candidate with(Candidate c, Recompute recompute, int sharding, int micro) {
    MemoryPlan m = c.memory();
    int sequences = c.batch().microBatch() * c.batch().gradientAccumulation();
    return new Candidate(
        c.dims(),
        new Batch(micro, Math.max(1, sequences / micro)),
        c.schedule(),
        new MemoryPlan(
            sharding, m.shardGroup(), m.secondaryGroup(), recompute, m.optimizerOffload()),
        c.blockGpus(),
        c.cpInside());
  }

  private static double reading(RunRow row, StageMemory s) {
    return switch (row.text("memory_reading")) {
      case "allocator" -> s.allocatorBytes();
      case "reserved" -> s.reservedBytes();
      default -> s.deviceBytes();
    };
  }

  /** The prediction in the reading that the row gives; device bytes where it gives none. */
  double predictedBytes() {
    return reading(row, worst);
  }
}
