package dev.meshplan.cli;

import dev.meshplan.config.InputException;
import dev.meshplan.config.Text;
import dev.meshplan.plan.Catalog;
import dev.meshplan.study.AccuracySummary;
import dev.meshplan.study.CollectiveAccuracy;
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
    output.write(spec.commandLine().getOut(), output.json() ? Text.json(report) : table(report));
    return Main.OK;
  }

  static String text(Path file) {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new InputException(file.toString(), "", "", "can't be read: " + e.getMessage());
    }
  }

  private static String table(CollectiveAccuracy.Report report) {
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
    return s.toString();
  }

  private static String share(double v) {
    return Double.isNaN(v) ? "-" : Quantity.percent(v);
  }
}
