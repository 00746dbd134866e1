package dev.meshplan.plan;

import java.util.List;

/**
 * Why there is no plan.
 *
 * @param core rules that together leave nothing; dropping any one leaves something
 * @param nearest the plan that misses by least, and how
 * @param cure the smallest change that makes a plan possible
 */
public record Infeasible(List<CoreRule> core, NearestMiss nearest, Cure cure) {
  /** A rule of the core. */
  public record CoreRule(String id, RuleKind kind, String sentence, String source) {}

  /** The plan that misses by least. */
  public record NearestMiss(
      Dims dims, Batch batch, MemoryPlan memory, String rule, String miss, double missBytes) {}

  /** A change of the request: write {@code value} at {@code key}. */
  public record Cure(String change, String key, String value, String result) {}

  public Infeasible {
    core = List.copyOf(core);
  }
}
