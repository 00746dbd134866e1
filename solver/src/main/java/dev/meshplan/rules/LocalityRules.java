package dev.meshplan.rules;

import static dev.meshplan.plan.Axis.BLOCK_GPUS;
import static dev.meshplan.plan.Axis.CP;
import static dev.meshplan.plan.Axis.CP_INSIDE;
import static dev.meshplan.plan.Axis.EP;
import static dev.meshplan.plan.Axis.ETP;
import static dev.meshplan.plan.Axis.TP;

import dev.meshplan.plan.Locality;
import dev.meshplan.plan.RuleKind;
import java.util.List;
import java.util.Set;

/**
 * Groups that stay inside the scale-up domain and the block, unless the request prices crossing.
 */
final class LocalityRules {
  private static final String CHOICE = "locality: strict (this product's default)";

  private LocalityRules() {}

  static List<Rule> all() {
    return List.of(
        new Rule(
            "tp-inside-block",
            RuleKind.KEPT_APART,
            "TP groups (with CP where it is kept inside) must stay inside a block of a scale-up"
                + " domain",
            CHOICE,
            Set.of(),
            false,
            List.of(TP, CP, BLOCK_GPUS, CP_INSIDE),
            (f, p) ->
                (p.cpInside() && p.cp() > 1)
                    ? (long) p.tp() * p.cp() <= p.block()
                    : f.locality() == Locality.PRICED || p.tp() <= p.block(),
            (f, p) ->
                "tp"
                    + (p.cpInside() && p.cp() > 1 ? " x cp" : "")
                    + " = "
                    + p.tp() * (p.cpInside() ? p.cp() : 1)
                    + ", block "
                    + p.block()
                    + " of a "
                    + f.machine().system().domain().size()
                    + "-GPU domain"),
        new Rule(
            "ep-inside-block",
            RuleKind.KEPT_APART,
            "EP groups (etp x ep) must stay inside a block of a scale-up domain",
            CHOICE,
            Set.of(),
            false,
            List.of(EP, ETP, BLOCK_GPUS),
            (f, p) -> f.locality() == Locality.PRICED || (long) p.etp() * p.ep() <= p.block(),
            (f, p) ->
                "etp x ep = "
                    + (long) p.etp() * p.ep()
                    + ", block "
                    + p.block()
                    + " of a "
                    + f.machine().system().domain().size()
                    + "-GPU domain"));
  }
}
