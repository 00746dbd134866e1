package dev.meshplan.plan;

/**
 * A runner-up.
 *
 * @param plan the plan
 * @param objectiveValue in the proof's unit
 * @param stepSeconds of it
 * @param peakMemoryBytes of it
 * @param slower objective relative to the answer, such as 0.03
 * @param tie inside the error band of a difference
 * @param lostBy the time term that cost most against the answer
 * @param lostSeconds how much
 */
public record Alternative(
    Plan plan,
    double objectiveValue,
    double stepSeconds,
    double peakMemoryBytes,
    double slower,
    boolean tie,
    String lostBy,
    double lostSeconds) {}
