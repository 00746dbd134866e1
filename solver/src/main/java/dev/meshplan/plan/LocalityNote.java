package dev.meshplan.plan;

/**
 * What letting a group cross its domain would gain.
 *
 * @param group the group that would cross, such as {@code EP 64}
 * @param objectiveValue of the best priced plan
 * @param gain relative to the strict answer; NaN when strict has no plan
 * @param dims of the priced plan
 */
public record LocalityNote(String group, double objectiveValue, double gain, Dims dims) {}
