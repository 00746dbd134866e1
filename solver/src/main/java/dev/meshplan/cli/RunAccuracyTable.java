package dev.meshplan.cli;

import dev.meshplan.study.RunAblation;
import dev.meshplan.study.RunAccuracy;
import dev.meshplan.study.RunRanking;
import dev.meshplan.study.RunSummary;
import dev.meshplan.units.Quantity;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Prints how far the predictions of measured runs are. */
final class RunAccuracyTable {
  private static final int SHOWN = 20;

  private RunAccuracyTable() {}

  static String text(RunAccuracy.Report report) {
    StringBuilder s = new StringBuilder();
    String heading = "";
    for (RunSummary.Line l : report.summary()) {
      if (!l.quantity().equals(heading)) {
        heading = l.quantity();
        s.append(
            String.format(
                Locale.ROOT,
                "%s%n%-10s %-32s %6s %6s %8s %8s %8s%n",
                heading.equals("time") ? "Step time" : "\nPeak memory",
                "by",
                "group",
                "rows",
                "skip",
                "median",
                "p90",
                "bias"));
      }
      s.append(
          String.format(
              Locale.ROOT,
              "%-10s %-32s %6d %6d %8s %8s %8s%n",
              l.by(),
              l.group(),
              l.rows(),
              l.skipped(),
              share(l.median()),
              share(l.p90()),
              share(l.bias())));
    }
    ranking(report, s);
    verdicts(report, s);
    skipped(report, s);
    return s.toString();
  }

  /** Errors with one effect left out at a time. */
  static String ablation(RunAblation.Table table) {
    StringBuilder s = new StringBuilder();
    s.append(
        String.format(
            Locale.ROOT,
            "%-40s %6s %8s %8s %8s %8s %8s%n",
            "left out",
            "rows",
            "median",
            "p90",
            "dense",
            "MoE",
            "moved"));
    for (RunAblation.Line l : table.lines()) {
      s.append(
          String.format(
              Locale.ROOT,
              "%-40s %6d %8s %8s %8s %8s %8d%n",
              l.removed(),
              l.rows(),
              share(l.median()),
              share(l.p90()),
              share(l.denseMedian()),
              share(l.moeMedian()),
              l.moved()));
    }
    return s.toString();
  }

  private static void ranking(RunAccuracy.Report report, StringBuilder s) {
    if (report.ranking().isEmpty()) {
      return;
    }
    s.append(
        String.format(
            Locale.ROOT,
            "%nOrder of plans%n%-64s %4s %7s %6s %6s %7s %7s%n",
            "sweep",
            "rows",
            "spread",
            "rho",
            "pairs",
            "regret",
            "top 3"));
    for (RunRanking.Line l : report.ranking()) {
      s.append(
          String.format(
              Locale.ROOT,
              "%-64s %4d %6.2fx %6.2f %6s %7s %7s%n",
              l.set(),
              l.rows(),
              l.spread(),
              l.spearman(),
              share(l.pairs()),
              share(l.regret()),
              share(l.regretTopThree())));
    }
  }

  private static void verdicts(RunAccuracy.Report report, StringBuilder s) {
    s.append(
        String.format(
            Locale.ROOT,
            "%nMemory verdicts: %d runs ran, %d of them called out of memory%n",
            report.ran(),
            report.ranCalledOom()));
    for (RunAccuracy.Verdict v : report.verdicts()) {
      s.append(
          String.format(
              Locale.ROOT,
              "  %-20s %s, called %s%s%n",
              v.id(),
              v.ran() ? "ran" : "failed for memory",
              v.verdict() == null ? "nothing: " + v.skippedReason() : v.verdict(),
              v.verdict() == null || v.verdict().equals(v.usualVerdict())
                  ? ""
                  : " (" + v.usualVerdict() + " with the usual settings of its stack)"));
    }
  }

  private static void skipped(RunAccuracy.Report report, StringBuilder s) {
    Map<String, Integer> reasons = new TreeMap<>();
    for (RunAccuracy.Row r : report.rows()) {
      if (r.skippedReason() != null) {
        reasons.merge(r.quantity() + ": " + r.skippedReason(), 1, Integer::sum);
      }
    }
    if (reasons.isEmpty()) {
      return;
    }
    s.append(String.format(Locale.ROOT, "%nNot scored%n"));
    reasons.entrySet().stream()
        .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
        .limit(SHOWN)
        .forEach(e -> s.append(String.format(Locale.ROOT, "%6d  %s%n", e.getValue(), e.getKey())));
  }

  private static String share(double v) {
    return Double.isNaN(v) ? "-" : Quantity.percent(v);
  }
}
