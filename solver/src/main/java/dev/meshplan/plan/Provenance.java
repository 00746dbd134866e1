package dev.meshplan.plan;

import dev.meshplan.units.Basis;

/**
 * Where an input of the answer comes from.
 *
 * @param key what it is, such as {@code training.era} or {@code gpu.memory_bandwidth}
 * @param value as used, with its unit
 * @param basis measured, published, fitted, derived, assumed
 * @param source request, era, catalog file, offer ...
 */
public record Provenance(String key, String value, Basis basis, String source) {}
