package dev.meshplan.plan;

import dev.meshplan.units.Basis;

/** Bytes of one kind on one GPU of a pipeline rank. */
public record MemoryTerm(String id, int stage, double bytes, String formula, Basis basis) {}
