package dev.meshplan.optimize;

import dev.meshplan.plan.Axis;
import dev.meshplan.plan.RuleKind;
import dev.meshplan.rules.Rule;
import java.util.List;
import java.util.Set;

/** What a request pins, as rules, so that messages and cores can name it. */
final class Pins {
  private Pins() {}

  /** The pinned number of working GPUs. */
  static Rule gpusUsed(int used) {
    return new Rule(
        "pinned-gpus_used",
        RuleKind.KEPT_APART,
        "fix.gpus_used = " + used,
        "the request",
        Set.of(),
        false,
        List.of(Axis.TP, Axis.CP, Axis.PP, Axis.DP),
        (f, p) -> p.gpus() == used,
        (f, p) -> "the plan uses " + p.gpus());
  }

  /** A pinned axis; the space holds only its value, so the rule always holds inside it. */
  static Rule axis(Axis axis, int value, String text) {
    return new Rule(
        "pinned-" + axis.key(),
        RuleKind.KEPT_APART,
        "fix." + axis.key() + " = " + text,
        "the request",
        Set.of(),
        false,
        List.of(axis),
        (f, p) -> p.get(axis) == value,
        (f, p) -> axis.key() + " " + p.get(axis));
  }
}
