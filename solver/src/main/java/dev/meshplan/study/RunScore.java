package dev.meshplan.study;

import dev.meshplan.estimate.ErrorBands;
import dev.meshplan.estimate.MemoryModel;
import dev.meshplan.estimate.MemoryVerdict;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.ErrorBand;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.StageMemory;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.List;

/**
 * One run, replayed.
 *
 * @param replay null when the run could not be read
 * @param seconds predicted; NaN when it could not be priced
 * @param relativeError of the time; NaN when skipped
 */
record RunScore(
    RunRow row,
    RunReplay replay,
    double seconds,
    double relativeError,
    List<RunAccuracy.Row> rows,
    RunAccuracy.Verdict verdict) {

  static RunScore of(RunRow row, Catalog catalog) {
    RunReplay replay = null;
    String reason = "";
    try {
      replay = RunReplay.of(row, catalog);
    } catch (Unpriced | NoCostModel e) {
      reason = e.getMessage();
    }
    return new RunScore.Reader(row, replay, reason).score();
  }

  /** Splits a run into its time and its memory figure. */
  private static final class Reader {
    private final RunRow row;
    private final RunReplay replay;
    private String reason;
    private double seconds = Double.NaN;
    private double low = Double.NaN;
    private double high = Double.NaN;
    private List<StageMemory> stages = List.of();

    Reader(RunRow row, RunReplay replay, String reason) {
      this.row = row;
      this.replay = replay;
      this.reason = reason;
    }

    RunScore score() {
      if (replay != null) {
        price();
      }
      String excluded = row.text("excluded");
      double measured = row.stepSeconds();
      String skip = excluded.isEmpty() ? reason : "excluded: " + excluded;
      if (skip.isEmpty() && Double.isNaN(measured)) {
        skip = row.text("oom").equals("yes") ? "failed for memory" : noTime();
      }
      double error = skip.isEmpty() ? seconds / measured - 1 : Double.NaN;
      List<RunAccuracy.Row> rows = new ArrayList<>();
      rows.add(line("time", null, measured, seconds, error, low, high, skip));
      if (row.has("peak_mem_gib")) {
        rows.add(memory(excluded));
      }
      return new RunScore(row, replay, seconds, error, rows, verdict());
    }

    private String noTime() {
      return row.has("tflops_per_gpu") || row.has("mfu")
          ? "neither step time nor token rate; FLOP/s only compare by the source's own formula"
          : "neither step time nor token rate";
    }

    private void price() {
      try {
        seconds = replay.seconds();
        if (row.text("recompute").equals("unknown") && !row.has("recompute_layers")) {
          double none = seconds(Recompute.NONE);
          double full = seconds(Recompute.FULL);
          low = Math.min(none, full);
          high = Math.max(none, full);
        }
        stages =
            new MemoryModel(replay.model(), replay.training(), replay.machine())
                .stages(replay.candidate(), replay.layout());
      } catch (NoCostModel e) {
        reason = e.getMessage();
      }
    }

    private double seconds(Recompute recompute) {
      Candidate c = replay.candidate();
      MemoryPlan m = c.memory();
      MemoryPlan other =
          new MemoryPlan(
              m.sharding(), m.shardGroup(), m.secondaryGroup(), recompute, m.optimizerOffload());
      Candidate with =
          new Candidate(c.dims(), c.batch(), c.schedule(), other, c.blockGpus(), c.cpInside());
      return replay.time().seconds(with, replay.layout(), replay.spread(), replay.flushes());
    }

    private RunAccuracy.Row memory(String excluded) {
      double measured = row.number("peak_mem_gib") * Quantity.GIB;
      String reading = row.text("memory_reading");
      double predicted = Double.NaN;
      for (StageMemory s : stages) {
        double bytes =
            switch (reading) {
              case "allocator" -> s.allocatorBytes();
              case "reserved" -> s.reservedBytes();
              default -> s.deviceBytes();
            };
        predicted = Double.isNaN(predicted) ? bytes : Math.max(predicted, bytes);
      }
      String skip = excluded.startsWith("all:") ? "excluded: " + excluded : reason;
      double error = skip.isEmpty() ? predicted / measured - 1 : Double.NaN;
      return line(
          "memory", reading, measured, predicted, error, Double.NaN, Double.NaN, skip);
    }

    private RunAccuracy.Row line(
        String quantity,
        String reading,
        double measured,
        double predicted,
        double error,
        double least,
        double most,
        String skip) {
      ErrorBand band =
          replay == null || !quantity.equals("time")
              ? null
              : ErrorBands.widened(
                  ErrorBands.of(
                      replay.model(),
                      replay.training(),
                      replay.machine(),
                      replay.candidate().dims().gpus()),
                  replay.assumed());
      return new RunAccuracy.Row(
          row.id(),
          row.text("system"),
          quantity,
          reading,
          measured,
          predicted,
          error,
          least,
          most,
          replay == null ? row.assumed() : replay.assumed(),
          band,
          skip.isEmpty() ? null : skip);
    }

    private RunAccuracy.Verdict verdict() {
      boolean failed = row.text("oom").equals("yes");
      boolean ran = row.has("step_time_s") || row.has("tokens_per_s_per_gpu");
      if (stages.isEmpty() || !(failed || ran)) {
        return null;
      }
      double most = 0;
      for (StageMemory s : stages) {
        most = Math.max(most, s.deviceBytes());
      }
      double usable = replay.machine().gpu().usableMemoryBytes().value();
      return new RunAccuracy.Verdict(
          row.id(), !failed, MemoryVerdict.of(most, usable).key(), most, usable);
    }
  }
}
