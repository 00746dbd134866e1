package dev.meshplan.rules;

import dev.meshplan.plan.Axis;
import dev.meshplan.plan.RuleKind;
import dev.meshplan.units.Quantity;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** Memory: the device reading of the worst stage against the limit. */
final class MemoryRules {
  private MemoryRules() {}

  static List<Rule> all() {
    return List.of(
        new Rule(
            "memory",
            RuleKind.DOES_NOT_FIT,
            "the worst stage's device memory must stay below the limit",
            "usable memory of the GPU x limits.memory_share",
            Set.of(),
            false,
            Arrays.stream(Axis.values()).filter(a -> a != Axis.GPUS_USED).toList(),
            (f, p) -> f.deviceBytes().applyAsDouble(p) <= f.limitBytes(),
            (f, p) ->
                Quantity.bytes(f.deviceBytes().applyAsDouble(p))
                    + " of "
                    + Quantity.bytes(f.limitBytes())));
  }
}
