package dev.meshplan.rules;

import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.RuleKind;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;

/**
 * One rule: the search, the constraint model, messages and explanations all read this entry.
 *
 * @param id stable name
 * @param kind what a violation means
 * @param sentence the rule in words
 * @param source where it is from: framework code, paper, or this product's choice
 * @param frameworks who demands it; empty = everybody
 * @param checkedByFramework false where the framework starts and fails later, or silently
 *     misbehaves
 * @param scope axes it speaks of
 * @param holds the predicate; reads only axes of {@code scope}
 * @param numbers the rule's arithmetic at a point, for messages
 */
public record Rule(
    String id,
    RuleKind kind,
    String sentence,
    String source,
    Set<Framework> frameworks,
    boolean checkedByFramework,
    List<Axis> scope,
    BiPredicate<Facts, Point> holds,
    BiFunction<Facts, Point, String> numbers) {

  public Rule {
    frameworks = Set.copyOf(frameworks);
    scope = List.copyOf(scope);
  }

  /** Whether the rule applies to a job of this framework. */
  public boolean appliesTo(Framework framework) {
    return frameworks.isEmpty() || (framework != Framework.ANY && frameworks.contains(framework));
  }

  /** The sentence with the numbers of a point. */
  public String at(Facts facts, Point point) {
    return sentence + ": " + numbers.apply(facts, point);
  }
}
