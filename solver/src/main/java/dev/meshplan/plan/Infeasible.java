package dev.meshplan.plan;

import java.util.List;

/**
 * Why there is no plan.
 *
 * @param core rules that together leave nothing, in a space where the framework's own rules hold
 * @param minimal whether it is proven that none of the core can be left out
 * @param nearest the plan that misses by least, and how
 * @param cure the smallest change that makes a plan possible
 */
public record Infeasible(List<CoreRule> core, boolean minimal, NearestMiss nearest, Cure cure) {
  /** A rule of the core. */
  public record CoreRule(String id, RuleKind kind, String sentence, String source) {}

  /**
   * The plan that misses by least: it breaks as few rules as any, the softest of such, by least.
   * Softest are choices of this product, then what does not fit, then pins, then what a framework
   * refuses.
   */
  public record NearestMiss(Dims dims, Batch batch, MemoryPlan memory, List<Miss> misses) {
    public NearestMiss {
      misses = List.copyOf(misses);
    }
  }

  /**
   * A rule that the nearest plan breaks.
   *
   * @param excess by how much, in words; empty where the rule has no measure
   */
  public record Miss(String rule, RuleKind kind, String sentence, String excess) {}

  /** A change of the request: write {@code value} at {@code key}. */
  public record Cure(String change, String key, String value, String result) {}

  public Infeasible {
    core = List.copyOf(core);
  }
}
