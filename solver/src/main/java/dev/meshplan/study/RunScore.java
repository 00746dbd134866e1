package dev.meshplan.study;

import dev.meshplan.estimate.ErrorBands;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.ErrorBand;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
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
    List<RunAccuracy.Row> rows) {

  static RunScore of(RunRow row, Catalog catalog, MemoryAccuracy.Run memory) {
    RunReplay replay = null;
    String reason = "";
    try {
      replay = RunReplay.of(row, catalog);
    } catch (Unpriced | NoCostModel e) {
      reason = e.getMessage();
    }
    return new Reader(row, replay, reason).score(memory);
  }

  /** Splits a run into its time and its memory figure. */
  private static final class Reader {
    private final RunRow row;
    private final RunReplay replay;
    private String reason;
    private double seconds = Double.NaN;
    private double low = Double.NaN;
    private double high = Double.NaN;

    Reader(RunRow row, RunReplay replay, String reason) {
      this.row = row;
      this.replay = replay;
      this.reason = reason;
    }

    RunScore score(MemoryAccuracy.Run memory) {
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
      rows.add(time(measured, error, skip));
      if (row.has("peak_mem_gib")) {
        rows.add(memory(memory));
      }
      return new RunScore(row, replay, seconds, error, rows);
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

    private static RunAccuracy.Row memory(MemoryAccuracy.Run m) {
      String skip = m.skippedReason();
      if (skip.isEmpty() && Double.isNaN(m.relativeError())) {
        skip = "micro-batch not stated";
      }
      boolean open = m.highBytes() > m.lowBytes();
      return new RunAccuracy.Row(
          m.id(),
          m.system(),
          "memory",
          m.reading(),
          m.measuredBytes(),
          m.predictedBytes(),
          m.relativeError(),
          open ? m.lowBytes() : Double.NaN,
          open ? m.highBytes() : Double.NaN,
          m.assumed(),
          null,
          skip.isEmpty() ? null : skip);
    }

    private RunAccuracy.Row time(double measured, double error, String skip) {
      ErrorBand band =
          replay == null
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
          "time",
          null,
          measured,
          seconds,
          error,
          low,
          high,
          replay == null ? row.assumed() : replay.assumed(),
          band,
          skip.isEmpty() ? null : skip);
    }
  }
}
