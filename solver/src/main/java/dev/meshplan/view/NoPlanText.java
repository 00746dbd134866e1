package dev.meshplan.view;

import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Infeasible;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Tally;
import dev.meshplan.units.Quantity;
import java.util.Locale;

/** Why there is no plan: the rules that leave nothing, the nearest miss, the smallest cure. */
final class NoPlanText {

  private final StringBuilder out = new StringBuilder();

  private NoPlanText() {}

  /** The text of an answer without a plan. */
  static String of(Answer a) {
    NoPlanText t = new NoPlanText();
    t.none(a);
    return t.out.toString();
  }

  private void none(Answer a) {
    if (a.outcome() == Outcome.UNKNOWN) {
      String bound =
          a.proof().boundValue() == null
              ? ""
              : " None is below "
                  + Quantity.digits(a.proof().boundValue())
                  + " "
                  + a.proof().objectiveUnit()
                  + ".";
      line(
          "No plan found in "
              + Quantity.count(a.proof().evaluated())
              + " evaluations, the limit: it is not known whether one exists."
              + bound
              + " Raise limits.evaluations.");
      return;
    }
    Infeasible i = a.infeasible();
    line(
        "No plan: "
            + a.request().model()
            + " can't be trained on "
            + PlanText.cluster(a.request().cluster())
            + " as asked.");
    line("");
    line(
        i.core().size() == 1
            ? "This rule alone leaves nothing:"
            : "These rules together leave nothing"
                + (i.minimal()
                    ? "; each of them is needed for that:"
                    : " (whether each of them is needed for that was not proven):"));
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
              + ", which misses:");
      for (Infeasible.Miss m : i.nearest().misses()) {
        line("  " + m.sentence() + (m.excess().isEmpty() ? "" : " (" + m.excess() + ")"));
      }
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
