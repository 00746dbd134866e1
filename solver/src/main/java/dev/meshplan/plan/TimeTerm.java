package dev.meshplan.plan;

import dev.meshplan.units.Basis;

/**
 * A part of the step time.
 *
 * @param id stable name
 * @param linkSeconds time the resource is busy per step, on the slowest stage
 * @param exposedSeconds the part that lengthens the step; at most {@code linkSeconds}
 * @param formula in words, with the inputs
 * @param basis of its weakest input
 */
public record TimeTerm(
    String id, double linkSeconds, double exposedSeconds, String formula, Basis basis) {}
