package dev.meshplan.view;

import dev.meshplan.plan.Alternative;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Estimate;
import dev.meshplan.plan.Infeasible;
import dev.meshplan.plan.MemoryTerm;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Plan;
import dev.meshplan.plan.Pool;
import dev.meshplan.plan.Proof;
import dev.meshplan.plan.RuleVerdict;
import dev.meshplan.plan.Stage;
import dev.meshplan.plan.StageMemory;
import dev.meshplan.plan.Tally;
import dev.meshplan.plan.TimeTerm;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * An answer as text for a terminal: the answer first, then proof, bill, memory, rules, runners-up.
 */
public final class PlanText {
  private static final double MILLION = 1e6;
  private static final int STAGES_SHOWN = 8;

  private final StringBuilder out = new StringBuilder();

  private PlanText() {}

  /** The text of an answer. */
  public static String of(Answer a) {
    PlanText t = new PlanText();
    if (a.outcome() == Outcome.FOUND) {
      t.found(a);
    } else {
      t.none(a);
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
    t.bill(a.estimate());
    t.line("");
    t.memory(a.estimate());
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
    bill(e);
    line("");
    memory(e);
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

  private static String cluster(List<Pool> pools) {
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

  private void bill(Estimate e) {
    line("Step bill                       exposed        link");
    for (TimeTerm t : e.timeTerms()) {
      if (t.linkSeconds() > 0 || t.exposedSeconds() != 0) {
        line(
            String.format(
                Locale.ROOT,
                "  %-24s %12s %11s  %5.1f%%",
                t.id(),
                Quantity.seconds(t.exposedSeconds()),
                Quantity.seconds(t.linkSeconds()),
                100 * t.exposedSeconds() / e.stepSeconds()));
      }
    }
  }

  private void memory(Estimate e) {
    line(
        "Memory per GPU (limit "
            + Quantity.bytes(e.limitBytes())
            + ")   allocated    reserved   on device");
    List<StageMemory> stages = e.memoryStages();
    StageMemory worst =
        stages.stream().max(Comparator.comparingDouble(StageMemory::deviceBytes)).orElseThrow();
    for (StageMemory m : stages) {
      boolean shown =
          stages.size() <= STAGES_SHOWN
              || m.stage() < 2
              || m.stage() >= stages.size() - 2
              || m.stage() == worst.stage();
      if (shown) {
        line(
            String.format(
                Locale.ROOT,
                "  stage %-4d%s %33s %11s %11s",
                m.stage(),
                m.stage() == worst.stage() ? " worst" : "      ",
                Quantity.bytes(m.allocatorBytes()),
                Quantity.bytes(m.reservedBytes()),
                Quantity.bytes(m.deviceBytes())));
      }
    }
    String top =
        e.memoryTerms().stream()
            .sorted(Comparator.comparingDouble(MemoryTerm::bytes).reversed())
            .limit(5)
            .map(m -> m.id() + " " + Quantity.bytes(m.bytes()))
            .collect(Collectors.joining(", "));
    line("  of the worst stage: " + top);
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

  private void none(Answer a) {
    if (a.outcome() == Outcome.UNKNOWN) {
      line(
          "No plan found before the limit of evaluations: it is not known whether one exists."
              + " Raise limits.evaluations.");
      return;
    }
    Infeasible i = a.infeasible();
    line(
        "No plan: "
            + a.request().model()
            + " can't be trained on "
            + cluster(a.request().cluster())
            + " as asked.");
    line("");
    line(
        i.core().size() == 1
            ? "This rule alone leaves nothing:"
            : "These rules together leave nothing; without any one of them a plan exists:");
    for (Infeasible.CoreRule r : i.core()) {
      line("  " + r.id() + " [" + r.kind().key().replace('_', ' ') + "]: " + r.sentence());
      line("      source: " + r.source());
    }
    if (i.nearest() != null) {
      line("");
      line(
          "Nearest: "
              + i.nearest().dims().text()
              + ", micro-batch "
              + i.nearest().batch().microBatch()
              + ", "
              + i.nearest().memory().recompute().text()
              + ": "
              + i.nearest().miss()
              + (i.nearest().missBytes() > 0
                  ? " (" + Quantity.bytes(i.nearest().missBytes()) + " too much)"
                  : ""));
    }
    if (i.cure() != null) {
      line(
          "Smallest cure: "
              + i.cure().change()
              + " ("
              + i.cure().key()
              + ": "
              + i.cure().value()
              + "), then "
              + i.cure().result()
              + ".");
    } else {
      line("No single change of pins, locality, memory share or GPUs cures it.");
    }
    if (a.priced() != null) {
      line(
          "With locality: priced "
              + a.priced().group()
              + " would cross its domain: "
              + a.priced().dims().text()
              + " at "
              + Quantity.digits(a.priced().objectiveValue())
              + " "
              + a.proof().objectiveUnit()
              + ".");
    }
    line("");
    line("How the " + Quantity.count(a.proof().candidates()) + " candidates ended:");
    for (Tally t : a.tally().stream().limit(8).toList()) {
      line(String.format(Locale.ROOT, "  %20s  %s", Quantity.count(t.candidates()), t.id()));
    }
  }

  private void line(String text) {
    out.append(text).append('\n');
  }
}
