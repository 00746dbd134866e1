package dev.meshplan.study;

import dev.meshplan.estimate.EraProfile;
import dev.meshplan.estimate.StepConstants;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.Era;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Schedule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** What each effect of the step-time model is worth: errors without it, other constants kept. */
public final class RunAblation {
  private static final double MOVED = 0.05;
  private static final StepConstants ALL = StepConstants.SHIPPED;

  private RunAblation() {}

  /**
   * One effect.
   *
   * @param removed what is left out; "nothing" for the whole model
   * @param median of the absolute relative error of the step time
   * @param p90 nine tenths of the rows are better
   * @param denseMedian of dense models
   * @param moeMedian of models with experts
   * @param moved rows whose prediction changes by more than 5%
   */
  public record Line(
      String removed,
      int rows,
      double median,
      double p90,
      double denseMedian,
      double moeMedian,
      int moved) {}

  /**
   * Errors without each effect.
   *
   * @param unpriced runs of the file that cannot be priced
   */
  public record Table(List<Line> lines, int unpriced) {
    public Table {
      lines = List.copyOf(lines);
    }
  }

  /** Replays the scored runs of a file once per effect. */
  public static Table of(String file, String csv, Catalog catalog) {
    List<RunReplay> runs = new ArrayList<>();
    List<Double> measured = new ArrayList<>();
    int unpriced = 0;
    for (RunRow row : RunAccuracy.read(file, csv)) {
      double seconds = row.stepSeconds();
      if (row.has("excluded") || Double.isNaN(seconds)) {
        continue;
      }
      try {
        runs.add(RunReplay.of(row, catalog));
        measured.add(seconds);
      } catch (Unpriced | dev.meshplan.hardware.NoCostModel e) {
        unpriced++;
      }
    }
    double[] whole = predict(runs, RunReplay::seconds);
    List<Line> lines = new ArrayList<>();
    lines.add(line("nothing", runs, measured, whole, whole));

    effects()
        .forEach(
            (name, without) ->
                lines.add(line(name, runs, measured, predict(runs, without), whole)));
    return new Table(lines, unpriced);
  }

  private static double[] predict(List<RunReplay> runs, ToDoubleFunction<RunReplay> model) {
    return runs.stream().mapToDouble(model).toArray();
  }

  private static Map<String, ToDoubleFunction<RunReplay>> effects() {
    Map<String, ToDoubleFunction<RunReplay>> e = new LinkedHashMap<>();
    StepConstants.Gemms g = ALL.gemms();
    StepConstants.Host h = ALL.host();
    StepConstants.Overlap o = ALL.overlap();
    StepConstants.Step s = ALL.step();
    e.put("recompute", r -> seconds(r, recompute(r.candidate()), r.layout()));
    e.put(
        "software eras (newest for all)", r -> seconds(r, EraProfile.of(Era.MEGATRON_2026B), ALL));
    e.put("element-wise bytes", r -> seconds(r, era(r, 0, usual(r).expert()), ALL));
    e.put("expert factor of the era", r -> seconds(r, era(r, usual(r).elementwise(), 1), ALL));
    e.put("bubble", r -> seconds(r, scheduled(r.candidate()), r.layout()));
    e.put(
        "uneven stages (spread evenly)",
        r ->
            seconds(
                r,
                r.candidate(),
                Layout.even(
                    r.model(),
                    r.candidate().dims().pp(),
                    r.candidate().dims().vpp(),
                    r.model().mtpLayers())));
    e.put(
        "tensor overlap (all exposed)",
        r -> seconds(r, overlap(overlap(1, o.regather(), o.expert(), o.shardedMutual(), o))));
    e.put(
        "tensor traffic of overlapped runs",
        r -> seconds(r, overlap(overlap(0, 0, o.expert(), o.shardedMutual(), o))));
    e.put(
        "exchange overlap (all exposed)",
        r -> seconds(r, overlap(overlap(o.tensor(), o.regather(), 1, o.shardedMutual(), o))));
    e.put(
        "slowdown of gathering behind compute",
        r -> seconds(r, overlap(overlap(o.tensor(), o.regather(), o.expert(), 0, o))));
    e.put(
        "CPU launch floor",
        r ->
            seconds(
                r,
                host(
                    new StepConstants.Host(
                        h.gapSeconds(), h.backward(), 0, 0, 0, 1, 1, 1, h.imbalance()))));
    e.put(
        "kernel gaps",
        r ->
            seconds(
                r,
                host(
                    new StepConstants.Host(
                        0,
                        h.backward(),
                        h.dense(),
                        h.moe(),
                        h.single(),
                        h.grace(),
                        h.partialDense(),
                        h.partialMoe(),
                        h.imbalance()))));
    e.put(
        "casts to low precision",
        r ->
            seconds(
                r,
                new StepConstants(
                    new StepConstants.Gemms(
                        g.grouped(),
                        g.backward(),
                        g.gradientBytes(),
                        g.shardedGradientBytes(),
                        g.unfusedGradientBytes(),
                        0,
                        0,
                        0,
                        0,
                        g.router()),
                    ALL.cores(),
                    ALL.bytes(),
                    h,
                    o,
                    s)));
    e.put(
        "optimizer, overhead and jitter",
        r ->
            seconds(
                r,
                new StepConstants(
                    g,
                    ALL.cores(),
                    ALL.bytes(),
                    h,
                    o,
                    new StepConstants.Step(s.sends(), s.sendsOverlapped(), 0, 0, 0, 0, 0, 0, 0))));
    return e;
  }

  private static StepConstants overlap(StepConstants.Overlap o) {
    return new StepConstants(ALL.gemms(), ALL.cores(), ALL.bytes(), ALL.host(), o, ALL.step());
  }

  private static StepConstants.Overlap overlap(
      double tensor, double regather, double expert, double mutual, StepConstants.Overlap o) {
    return new StepConstants.Overlap(
        tensor,
        regather,
        o.contextShare(),
        o.contextAlways(),
        expert,
        mutual,
        mutual == 0 ? 0 : o.shardedAlways(),
        o.shardedCallSeconds(),
        o.shardedCallInsideSeconds(),
        o.dataShare(),
        o.dataHidden(),
        o.broadcastSeconds());
  }

  private static StepConstants host(StepConstants.Host h) {
    return new StepConstants(ALL.gemms(), ALL.cores(), ALL.bytes(), h, ALL.overlap(), ALL.step());
  }

  private static EraProfile usual(RunReplay r) {
    return EraProfile.of(r.training().era());
  }

  private static EraProfile era(RunReplay r, double elementwise, double expert) {
    EraProfile p = usual(r);
    return new EraProfile(
        p.attention(),
        p.attentionShare(),
        elementwise,
        expert,
        p.host(),
        p.kernels(),
        p.lossForwardBytes(),
        p.lossBackwardBytes(),
        p.shardedNetworkShare(),
        p.optimizer(),
        p.stack(),
        p.scatterGather(),
        p.shardByBroadcast(),
        p.basis());
  }

  private static Candidate recompute(Candidate c) {
    MemoryPlan m = c.memory();
    return new Candidate(
        c.dims(),
        c.batch(),
        c.schedule(),
        new MemoryPlan(
            m.sharding(), m.shardGroup(), m.secondaryGroup(), Recompute.NONE, m.optimizerOffload()),
        c.blockGpus(),
        c.cpInside());
  }

  private static Candidate scheduled(Candidate c) {
    return new Candidate(
        c.dims(), c.batch(), Schedule.ZB_2P, c.memory(), c.blockGpus(), c.cpInside());
  }

  private static double seconds(RunReplay r, StepConstants constants) {
    return seconds(r, usual(r), constants);
  }

  private static double seconds(RunReplay r, EraProfile era, StepConstants constants) {
    return r.time(era, constants).seconds(r.candidate(), r.layout(), r.spread(), r.flushes());
  }

  private static double seconds(RunReplay r, Candidate c, Layout layout) {
    return r.time().seconds(c, layout, r.spread(), r.flushes());
  }

  private static Line line(
      String name,
      List<RunReplay> runs,
      List<Double> measured,
      double[] predicted,
      double[] whole) {
    double[] all = new double[predicted.length];
    List<Double> dense = new ArrayList<>();
    List<Double> moe = new ArrayList<>();
    int moved = 0;
    for (int i = 0; i < all.length; i++) {
      all[i] = Math.abs(predicted[i] / measured.get(i) - 1);
      (runs.get(i).model().moe() ? moe : dense).add(all[i]);
      moved += Math.abs(predicted[i] / whole[i] - 1) > MOVED ? 1 : 0;
    }
    Arrays.sort(all);
    return new Line(
        name,
        all.length,
        RunSummary.quantile(all, 0.5),
        RunSummary.quantile(all, 0.9),
        median(dense),
        median(moe),
        moved);
  }

  private static double median(List<Double> errors) {
    return RunSummary.quantile(errors.stream().mapToDouble(e -> e).sorted().toArray(), 0.5);
  }
}
