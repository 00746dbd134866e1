package dev.meshplan.view;

import dev.meshplan.plan.Alternative;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Estimate;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Plan;
import dev.meshplan.plan.Pool;
import dev.meshplan.plan.Proof;
import dev.meshplan.plan.RuleVerdict;
import dev.meshplan.plan.Stage;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * An answer as text for a terminal: the answer first, then proof, bill, memory, rules, runners-up.
 */
public final class PlanText {
  private static final double MILLION = 1e6;

  private final StringBuilder out = new StringBuilder();

  private PlanText() {}

  /** The text of an answer. */
  public static String of(Answer a) {
    PlanText t = new PlanText();
    if (a.outcome() == Outcome.FOUND) {
      t.found(a);
    } else {
      t.out.append(NoPlanText.of(a));
    }
    return t.out.toString();
  }

  /** The text of a given plan that was priced: what it breaks, its bill and its memory. */
  public static String ofGiven(Answer a) {
    PlanText t = new PlanText();
    List<RuleVerdict> broken = a.rules().stream().filter(r -> !r.satisfied()).toList();
    if (a.estimate() != null) {
      t.line(headline(a));
    }
    if (broken.isEmpty()) {
      t.line("The plan obeys all " + a.rules().size() + " rules.");
    } else {
      t.line("");
      t.line("The plan breaks " + broken.size() + " of " + a.rules().size() + " rules:");
      for (RuleVerdict r : broken) {
        t.line("  " + r.id() + " [" + r.kind().key().replace('_', ' ') + "]: " + r.sentence());
      }
    }
    if (a.estimate() == null) {
      t.line("No estimate: a shape or a group is not whole, so there is nothing to price.");
      return t.out.toString();
    }
    t.layout(a.plan());
    t.line("");
    t.out.append(BillText.of(a.estimate()));
    t.assumed(a);
    return t.out.toString();
  }

  private void found(Answer a) {
    Plan p = a.plan();
    Estimate e = a.estimate();
    line(headline(a));
    line("");
    proof(a.proof());
    layout(p);
    line("");
    out.append(BillText.of(e));
    rules(a.rules());
    alternatives(a);
    priced(a);
    for (String note : a.notes()) {
      line("Note: " + note);
    }
    String band =
        String.format(
            Locale.ROOT,
            "%+.0f%% to %+.0f%%",
            100 * e.errorBand().low(),
            100 * e.errorBand().high());
    line(
        "Basis: "
            + e.basis().key().replace('_', ' ')
            + "; measured steps of this kind ("
            + e.errorBand().kind()
            + ") lie within "
            + band
            + ".");
    assumed(a);
  }

  /** The answer in one sentence. */
  static String headline(Answer a) {
    Plan p = a.plan();
    Estimate e = a.estimate();
    StringBuilder s = new StringBuilder();
    s.append(a.request().model())
        .append(" on ")
        .append(cluster(a.request().cluster()))
        .append(": ")
        .append(p.dims().text())
        .append(", micro-batch ")
        .append(p.batch().microBatch())
        .append(" x ")
        .append(p.batch().gradientAccumulation())
        .append(", ")
        .append(p.memory().recompute().text())
        .append(", sharding ")
        .append(p.memory().sharding())
        .append(p.memory().shardGroup() > 0 ? " in groups of " + p.memory().shardGroup() : "")
        .append(p.memory().secondaryGroup() > 0 ? " with hpZ " + p.memory().secondaryGroup() : "")
        .append(", blocks of ")
        .append(p.placement().blockGpus())
        .append(": ")
        .append(Quantity.seconds(e.stepSeconds()))
        .append(" per step, ")
        .append(Quantity.count(e.tokensPerSecond()))
        .append(" tokens/s, MFU ")
        .append(Quantity.percent(e.mfu()))
        .append(", ")
        .append(Quantity.bytes(e.peakMemoryBytes()))
        .append(" of ")
        .append(Quantity.bytes(e.limitBytes()))
        .append(" per GPU");
    if (!Double.isNaN(e.dollarsPerToken())) {
      s.append(", ")
          .append(Quantity.digits(e.dollarsPerToken() * MILLION))
          .append(" USD per million tokens");
    }
    return s.append(".").toString();
  }

  static String cluster(List<Pool> pools) {
    return pools.stream()
        .map(p -> p.gpus() + " GPUs of " + p.system())
        .collect(Collectors.joining(" + "));
  }

  private void proof(Proof p) {
    if (p.status() == Proof.Status.OPTIMAL) {
      line(
          "Proven: no plan of the space is below "
              + value(p.boundValue(), p)
              + " ("
              + Quantity.count(p.candidates())
              + " candidates accounted for, "
              + Quantity.count(p.evaluated())
              + " priced).");
    } else {
      line(
          "Not proven: the limit of evaluations was reached. No plan can be below "
              + value(p.boundValue(), p)
              + " (gap "
              + Quantity.percent(p.gap())
              + ").");
    }
  }

  private static String value(Double v, Proof p) {
    return v == null ? "nothing" : Quantity.digits(v) + " " + p.objectiveUnit();
  }

  private void layout(Plan p) {
    line(
        "GPUs: "
            + p.placement().gpusUsed()
            + " work, "
            + p.placement().gpusIdle()
            + " idle, "
            + p.placement().gpusPaid()
            + " paid, in "
            + p.placement().domainsUsed()
            + " scale-up domains. Rank order "
            + p.placement().rankOrder()
            + ", schedule "
            + p.schedule().key()
            + ".");
    if (p.dims().pp() > 1) {
      line("Layers per stage: " + layers(p));
    }
  }

  /** Layers of each virtual stage, equal neighbours folded: 7, 8 x 14, 7. */
  static String layers(Plan p) {
    List<String> parts = new ArrayList<>();
    List<Stage> stages = p.stages();
    for (int i = 0; i < stages.size(); ) {
      int j = i;
      while (j < stages.size() && stages.get(j).layers() == stages.get(i).layers()) {
        j++;
      }
      parts.add(stages.get(i).layers() + (j - i > 1 ? " x " + (j - i) : ""));
      i = j;
    }
    return String.join(", ", parts) + " (embedding on the first, head and loss on the last)";
  }

  private void rules(List<RuleVerdict> rules) {
    List<RuleVerdict> binding = rules.stream().filter(RuleVerdict::binding).toList();
    if (!binding.isEmpty()) {
      line("");
      line("Binding rules (a faster neighbour would break them):");
      for (RuleVerdict r : binding) {
        line("  " + r.id() + " [" + r.kind().key().replace('_', ' ') + "]: " + r.sentence());
      }
    }
  }

  private void alternatives(Answer a) {
    if (a.alternatives().isEmpty()) {
      return;
    }
    line("");
    line("Runners-up:");
    for (Alternative alt : a.alternatives()) {
      line(
          String.format(
              Locale.ROOT,
              "  %+6.1f%%  %s, micro-batch %d, %s: %s%s%s",
              100 * alt.slower(),
              alt.plan().dims().text(),
              alt.plan().batch().microBatch(),
              alt.plan().memory().recompute().text(),
              Quantity.seconds(alt.stepSeconds()),
              alt.lostBy().isEmpty()
                  ? ""
                  : ", loses " + Quantity.seconds(alt.lostSeconds()) + " by " + alt.lostBy(),
              alt.tie() ? " (a tie within the error of a difference)" : ""));
    }
  }

  private void priced(Answer a) {
    if (a.priced() != null && !Double.isNaN(a.priced().gain())) {
      line("");
      line(
          "Kept apart by choice: with locality: priced "
              + a.priced().group()
              + " would cross its domain and gain "
              + Quantity.percent(a.priced().gain())
              + " ("
              + a.priced().dims().text()
              + ").");
    }
  }

  private void assumed(Answer a) {
    List<String> keys = a.request().training().assumed();
    if (!keys.isEmpty()) {
      line(
          "Assumed from era "
              + a.request().training().era().key()
              + ": "
              + String.join(", ", keys)
              + ".");
    }
  }

  private void line(String text) {
    out.append(text).append('\n');
  }
}
