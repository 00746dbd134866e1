package dev.meshplan.plan;

/**
 * A rule as it stands for the answer's plan.
 *
 * @param id of the rule
 * @param kind what a violation means
 * @param sentence the rule with this plan's numbers
 * @param source where the rule is from
 * @param satisfied whether the plan obeys it
 * @param slack how much room is left, in the rule's own unit; NaN where it has none
 * @param binding whether the next value of an axis would break it
 */
public record RuleVerdict(
    String id,
    RuleKind kind,
    String sentence,
    String source,
    boolean satisfied,
    double slack,
    boolean binding) {}
