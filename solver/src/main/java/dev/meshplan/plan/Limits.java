package dev.meshplan.plan;

/**
 * Limits of planning.
 *
 * @param memoryShare share of usable memory that the device reading may reach (0.92 safe)
 * @param evaluations candidate evaluations before the search gives up
 */
public record Limits(double memoryShare, long evaluations) {}
