package dev.meshplan.plan;

import dev.meshplan.config.Keyed;
import java.util.List;

/**
 * Why the answer is the best.
 *
 * @param status optimal when the bound equals the objective
 * @param objectiveValue in {@code objectiveUnit}; null without a plan
 * @param boundValue no plan of the space is below it
 * @param objectiveUnit such as {@code s/step}
 * @param gap (objective - bound) / objective
 * @param space axes and values searched, and what was fixed
 * @param candidates tuples of the space that were accounted for
 * @param evaluated candidates priced one by one
 */
public record Proof(
    Status status,
    Double objectiveValue,
    Double boundValue,
    String objectiveUnit,
    Double gap,
    List<SpaceAxis> space,
    long candidates,
    long evaluated) {
  /** Strength of the claim. */
  public enum Status implements Keyed {
    OPTIMAL,
    FEASIBLE,
    INFEASIBLE,
    UNKNOWN
  }

  /** One axis of the space. */
  public record SpaceAxis(String axis, String values, boolean fixed) {}

  public Proof {
    space = List.copyOf(space);
  }
}
