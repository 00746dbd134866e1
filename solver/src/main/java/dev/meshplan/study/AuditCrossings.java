package dev.meshplan.study;

import dev.meshplan.estimate.Spread;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Estimate;
import dev.meshplan.plan.TimeTerm;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.List;

/** Groups that leave their scale-up domain, with the seconds of a step that their traffic takes. */
final class AuditCrossings {
  private AuditCrossings() {}

  /** One sentence for each group. */
  static List<String> of(Dims d, Spread s, Estimate e, int domain) {
    List<String> out = new ArrayList<>();
    crossing("TP " + d.tp(), s.tp(), d.tp(), "tensor_traffic", e, domain, out);
    crossing("EP " + d.ep(), s.ep(), d.ep(), "expert_traffic", e, domain, out);
    crossing("CP " + d.cp(), s.cp(), d.cp(), "context_traffic", e, domain, out);
    return out;
  }

  private static void crossing(
      String group, int together, int size, String term, Estimate e, int domain, List<String> out) {
    if (together >= size) {
      return;
    }
    double seconds =
        e.timeTerms().stream()
            .filter(t -> t.id().equals(term))
            .mapToDouble(TimeTerm::exposedSeconds)
            .sum();
    out.add(
        group
            + " leaves its "
            + domain
            + "-GPU domain after "
            + together
            + " ranks: its traffic takes "
            + Quantity.seconds(seconds)
            + " of the "
            + Quantity.seconds(e.stepSeconds())
            + " of a step");
  }
}
