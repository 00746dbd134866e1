package dev.meshplan.optimize;

import dev.meshplan.plan.Axis;
import dev.meshplan.plan.RuleKind;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;

/** Which rules hold a plan back, and how much room the others leave. */
final class Binding {
  private Binding() {}

  /** Room left, in the rule's own unit (bytes, GPUs); NaN where a rule has none. */
  static double slack(Rule rule, Oracle oracle, Point p) {
    return switch (rule.id()) {
      case "memory" -> oracle.facts.limitBytes() - oracle.deviceBytes(p);
      case "gpus-available" -> oracle.facts.gpus() - (double) p.gpus();
      case "tp-inside-block" -> p.block() - (double) p.tp() * (p.cpInside() ? p.cp() : 1);
      case "ep-inside-block" -> p.block() - (double) p.etp() * p.ep();
      default -> Double.NaN;
    };
  }

  /**
   * Whether the plan stands at the edge of what fits or is kept together: twice one axis,
   * everything else as it is, or less recompute, would break the rule.
   */
  static boolean binds(Rule rule, Oracle oracle, Point p) {
    if (rule.kind() == RuleKind.ILLEGAL) {
      return false;
    }
    for (Axis axis : rule.scope()) {
      int v = p.get(axis);
      int next =
          switch (axis) {
            case RECOMPUTE -> v > 0 ? v - 1 : -1;
            case TP, CP, DP, EP, MICRO_BATCH -> 2 * v;
            default -> -1;
          };
      if (next >= 0 && !rule.holds().test(oracle.facts, p.copy().set(axis, next))) {
        return true;
      }
    }
    return false;
  }
}
