package dev.meshplan.plan;

/**
 * How far reality may lie from an estimate.
 *
 * @param low measured time relative to the estimate, lower end, such as -0.12
 * @param high upper end
 * @param kind the kind of runs it comes from, or that it is outside the validated range
 * @param validated whether measured runs of that kind exist
 */
public record ErrorBand(double low, double high, String kind, boolean validated) {}
