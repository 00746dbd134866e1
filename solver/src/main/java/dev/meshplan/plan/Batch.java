package dev.meshplan.plan;

/** Sequences per micro-batch and rank, and micro-batches per step ({@code m}). */
public record Batch(int microBatch, int gradientAccumulation) {}
