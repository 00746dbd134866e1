package dev.meshplan.rules;

import dev.meshplan.plan.Framework;
import java.util.ArrayList;
import java.util.List;

/** All rules, in the order in which messages list them. */
public final class Rules {
  private static final List<Rule> ALL = join();

  private Rules() {}

  public static List<Rule> all() {
    return ALL;
  }

  /** The rules that hold for a framework; memory is last. */
  public static List<Rule> of(Framework framework) {
    return ALL.stream().filter(r -> r.appliesTo(framework)).toList();
  }

  private static List<Rule> join() {
    List<Rule> rules = new ArrayList<>();
    rules.addAll(GridRules.all());
    rules.addAll(ShapeRules.all());
    rules.addAll(PipelineRules.all());
    rules.addAll(DeepSpeedRules.all());
    rules.addAll(LocalityRules.all());
    rules.addAll(MemoryRules.all());
    return List.copyOf(rules);
  }
}
