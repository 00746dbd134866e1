package dev.meshplan.view;

import dev.meshplan.communication.CollectiveCost;
import dev.meshplan.study.CollectiveQuestion;
import dev.meshplan.study.ExpertTraffic;
import dev.meshplan.study.TensorTraffic;
import dev.meshplan.units.Quantity;
import java.util.List;
import java.util.Locale;

/** Costs of collectives as text. */
public final class CollectiveTable {
  private CollectiveTable() {}

  /** One cost with its losers. */
  public static String of(CollectiveCost c) {
    StringBuilder s = new StringBuilder();
    s.append(
        line(
            "%s of %s over %d GPUs: %s by %s%n",
            c.collective().key(),
            Quantity.bytes(c.bytes()),
            c.ranks(),
            Quantity.seconds(c.seconds()),
            c.algorithm()));
    s.append(
        line(
            "  sent per GPU %s, bus bandwidth %s, basis %s%n",
            Quantity.bytes(c.wireBytes()), Quantity.bandwidth(c.busBandwidth()), c.basis().key()));
    if (!c.others().isEmpty()) {
      s.append("  not taken:\n");
    }
    for (CollectiveCost.Other o : c.others()) {
      s.append(
          line(
              "    %-28s %10s  %s%n", o.algorithm(), Quantity.seconds(o.seconds()), o.condition()));
    }
    return s.toString();
  }

  /** A table over sizes. */
  public static String of(List<CollectiveCost> costs) {
    StringBuilder s = new StringBuilder();
    s.append(line("%12s %12s %14s  %s%n", "size", "time", "bus bandwidth", "algorithm"));
    for (CollectiveCost c : costs) {
      s.append(
          line(
              "%12s %12s %14s  %s%n",
              Quantity.bytes(c.bytes()),
              Quantity.seconds(c.seconds()),
              Quantity.bandwidth(c.busBandwidth()),
              c.algorithm()));
    }
    return s.toString();
  }

  /** Ways of an expert exchange. */
  public static String experts(List<ExpertTraffic.Line> lines) {
    StringBuilder s = new StringBuilder();
    s.append(line("%-14s %12s %14s %14s%n", "way", "time", "counted", "bandwidth"));
    for (ExpertTraffic.Line l : lines) {
      s.append(
          line(
              "%-14s %12s %14s %14s%n",
              l.dispatcher().key(),
              Quantity.seconds(l.seconds()),
              Quantity.bytes(l.countedBytes()),
              Quantity.bandwidth(l.bandwidth())));
    }
    return s.toString();
  }

  /** What tensor parallelism sends. */
  public static String tensor(List<TensorTraffic.Line> lines) {
    StringBuilder s = new StringBuilder();
    s.append(
        line(
            "%8s %9s %11s %11s %11s %11s %11s %11s %9s  %s%n",
            "tokens",
            "messages",
            "message",
            "sent/GPU",
            "bandwidth",
            "delay",
            "together",
            "weights",
            "share",
            "limit"));
    for (TensorTraffic.Line l : lines) {
      s.append(
          line(
              "%8d %9.0f %11s %11s %11s %11s %11s %11s %9s  %s%n",
              l.tokens(),
              l.messages(),
              Quantity.bytes(l.messageBytes()),
              Quantity.bytes(l.sentBytes()),
              Quantity.seconds(l.bandwidthSeconds()),
              Quantity.seconds(l.delaySeconds()),
              Quantity.seconds(l.seconds()),
              Quantity.seconds(l.weightSeconds()),
              Quantity.percent(l.weightShare()),
              l.limit().key()));
    }
    return s.toString();
  }

  /** Variants of the gradient exchange. */
  public static String gradients(List<CollectiveQuestion.GradientLine> lines) {
    StringBuilder s = new StringBuilder();
    s.append(
        line(
            "%-16s %-26s %11s %11s %11s %11s%n",
            "format", "method", "gradients", "sent/GPU", "nominal", "time"));
    for (CollectiveQuestion.GradientLine l : lines) {
      s.append(
          line(
              "%-16s %-26s %11s %11s %11s %11s%n",
              l.format().key(),
              l.method().key(),
              Quantity.bytes(l.gradientBytes()),
              Quantity.bytes(l.wireBytes()),
              Quantity.seconds(l.nominalSeconds()),
              Quantity.seconds(l.seconds())));
    }
    return s.toString();
  }

  private static String line(String format, Object... values) {
    return String.format(Locale.ROOT, format.replace("%n", "\n"), values);
  }
}
