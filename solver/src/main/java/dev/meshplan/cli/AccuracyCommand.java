package dev.meshplan.cli;

import dev.meshplan.config.InputException;
import dev.meshplan.config.Text;
import dev.meshplan.plan.Catalog;
import dev.meshplan.study.AccuracySummary;
import dev.meshplan.study.CollectiveAccuracy;
import dev.meshplan.study.LabSpread;
import dev.meshplan.study.RunAblation;
import dev.meshplan.study.RunAccuracy;
import dev.meshplan.units.Quantity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Predictions against measurements. */
@Command(
    name = "accuracy",
    mixinStandardHelpOptions = true,
    description = "Replay measurements and print how far the predictions are.",
    footer = {
      "",
      "Examples:",
      "  meshplan accuracy --runs runs.csv",
      "  meshplan accuracy --runs runs.csv --ablation",
      "  meshplan accuracy --collectives measured.csv --systems",
      "  meshplan accuracy --collectives measured.csv --json"
    })
final class AccuracyCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private Output output;

  @Option(
      names = "--collectives",
      paramLabel = "FILE",
      description = "CSV of measured collectives (nccl-tests rows and expert exchange).")
  private Path collectives;

  @Option(
      names = "--runs",
      paramLabel = "FILE",
      description = "CSV of measured training runs, one per row.")
  private Path runs;

  @Option(
      names = "--ablation",
      description = "With --runs: errors with one effect of the step time left out at a time.")
  private boolean ablation;

  @Option(
      names = "--systems",
      description = "With --collectives: only the totals of each system, as a table.")
  private boolean systems;

  @Option(names = "--catalog", paramLabel = "FOLDER", description = "Folder whose files win.")
  private Path folder;

  @Override
  public Integer call() {
    if (runs != null && ablation) {
      RunAblation.Table table = RunAblation.of(runs.toString(), text(runs), Catalog.open(folder));
      output.write(
          spec.commandLine().getOut(),
          output.json() ? Text.json(table) : RunAccuracyTable.ablation(table));
      return Main.OK;
    }
    if (runs != null) {
      RunAccuracy.Report report =
          RunAccuracy.replay(runs.toString(), text(runs), Catalog.open(folder));
      output.write(
          spec.commandLine().getOut(),
          output.json() ? Text.json(report) : RunAccuracyTable.text(report));
      return Main.OK;
    }
    if (collectives == null) {
      throw new InputException(
          "--runs",
          "",
          "",
          "is missing: name a CSV file of runs or, with --collectives, of collectives.");
    }
    CollectiveAccuracy.Report report =
        CollectiveAccuracy.replay(collectives.toString(), text(collectives), Catalog.open(folder));
    output.write(
        spec.commandLine().getOut(), output.json() ? Text.json(report) : table(report, systems));
    return Main.OK;
  }

  static String text(Path file) {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new InputException(file.toString(), "", "", "can't be read: " + e.getMessage());
    }
  }

  private static String table(CollectiveAccuracy.Report report, boolean systems) {
    StringBuilder s = new StringBuilder();
    s.append(
        String.format(
            Locale.ROOT,
            "%-18s %-15s %-8s %-12s %5s %5s %8s %8s %8s %11s %11s%n",
            "system",
            "collective",
            "scope",
            "size",
            "rows",
            "skip",
            "median",
            "p90",
            "bias",
            "plain ring",
            "NCCL model"));
    for (AccuracySummary.Line l : report.summary()) {
      if (systems && !l.collective().equals("all")) {
        continue;
      }
      s.append(
          String.format(
              Locale.ROOT,
              "%-18s %-15s %-8s %-12s %5d %5d %8s %8s %8s %11s %11s%n",
              l.system(),
              l.collective(),
              l.scope(),
              l.sizeClass(),
              l.rows(),
              l.skipped(),
              share(l.median()),
              share(l.p90()),
              share(l.bias()),
              share(l.ringMedian()),
              share(l.ncclMedian())));
    }
    LabSpread spread = report.spread();
    if (spread.pairs() > 0) {
      s.append(
          String.format(
              Locale.ROOT,
              "Two publishers who measured the same differ by %s in the median, %s at p90 (%d"
                  + " pairs).%n",
              share(spread.median()),
              share(spread.p90()),
              spread.pairs()));
    }
    return s.toString();
  }

  private static String share(double v) {
    return Double.isNaN(v) ? "-" : Quantity.percent(v);
  }
}
