package dev.meshplan.optimize;

import dev.meshplan.estimate.LayerSeconds;
import dev.meshplan.estimate.PipelineReplay;
import dev.meshplan.plan.Estimate;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Plan;
import dev.meshplan.plan.Pool;
import dev.meshplan.plan.Problem;
import dev.meshplan.rules.Point;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Remarks that belong to an answer: ties, tight memory, assumptions about faults. */
final class Notes {
  /** Share of usable memory above which runs were reported to fail. */
  private static final double SAFE_SHARE = 0.92;

  private Notes() {}

  static List<String> of(
      Problem problem, Oracle oracle, Found found, Plan plan, Estimate estimate) {
    List<String> notes = new ArrayList<>();
    Point p = found.point();
    List<Integer> equal = new ArrayList<>();
    for (int b : oracle.machine.system().domain().blocks()) {
      Point other = p.copy().set(dev.meshplan.plan.Axis.BLOCK_GPUS, b);
      boolean allowed =
          oracle.machine.pool().blocks().isEmpty() || oracle.machine.pool().blocks().contains(b);
      if (allowed
          && b != p.block()
          && oracle.supply.fewest(other.gpus(), b, oracle.unit(other)) > 0
          && dev.meshplan.plan.Blocks.working(b, oracle.unit(other)) > 0
          && b >= p.tp() * (p.cpInside() ? p.cp() : 1)
          && b >= p.ep() * p.etp()
          && oracle.value(other, oracle.seconds(other)) == found.value()) {
        equal.add(b);
      }
    }
    if (!equal.isEmpty()) {
      notes.add(
          "Blocks of "
              + p.block()
              + " cost the same as blocks of "
              + String.join(", ", equal.stream().map(String::valueOf).toList())
              + "; the smallest that carries the groups is taken: easier to schedule, and a fault"
              + " takes less with it.");
    }
    double usable = oracle.machine.gpu().usableMemoryBytes().value();
    if (estimate.peakMemoryBytes() > SAFE_SHARE * usable) {
      notes.add(
          "TIGHT: the worst stage uses more than 92% of usable memory; runs were reported to fail"
              + " from 93% on.");
    }
    Pool pool = oracle.machine.pool();
    if (!pool.healthy().isEmpty()) {
      notes.add(
          "Faults are given by count; they are assumed to be packed into as few trays as possible.");
    }
    if (plan.placement().gpusUsed() < pool.gpus()) {
      notes.add(
          (pool.gpus() - plan.placement().gpusUsed())
              + " of the "
              + pool.gpus()
              + " GPUs stay free: no plan with more of them is cheaper.");
    }
    String events = events(oracle, p);
    if (events != null) {
      notes.add(events);
    }
    return notes;
  }

  /** Where a replay of the passes differs from the closed form by more than 2%; else null. */
  private static String events(Oracle oracle, Point p) {
    int m = p.microBatches(oracle.facts.training().globalBatch());
    Layout layout = oracle.layout(p);
    boolean replayed = p.vpp() > 1 && !layout.alike();
    if (p.pp() == 1 || replayed) {
      return null;
    }
    LayerSeconds layers = oracle.time.layerSeconds(oracle.facts.candidate(p), oracle.spread(p));
    double[] forward = new double[p.pp() * p.vpp()];
    double[] backward = new double[forward.length];
    double[] rank = new double[p.pp()];
    for (int v = 0; v < forward.length; v++) {
      double seconds =
          v == forward.length - 1 ? layers.head() + layout.mtpLayers() * layers.mtp() : 0;
      for (int k = 0; k < layout.kinds().size(); k++) {
        seconds += layout.chunkCount(v, k) * layers.layer(k);
      }
      forward[v] = seconds / 3;
      backward[v] = seconds - forward[v];
      rank[v % p.pp()] += seconds;
    }
    double most = Arrays.stream(rank).max().getAsDouble();
    double closed = m * most + (Arrays.stream(rank).sum() - most) / p.vpp();
    double more = PipelineReplay.seconds(p.pp(), p.vpp(), m, forward, backward) / closed - 1;
    return Math.abs(more) <= 0.02
        ? null
        : "A replay of every pass takes "
            + Math.round(1000 * Math.abs(more)) / 10.0
            + "% "
            + (more > 0 ? "longer" : "less")
            + " in the pipeline than the closed form that was proven: stages are uneven.";
  }
}
