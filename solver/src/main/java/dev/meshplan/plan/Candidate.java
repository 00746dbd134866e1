package dev.meshplan.plan;

/**
 * A plan before its layers are laid out and its GPUs are named.
 *
 * @param dims degrees
 * @param batch micro-batch and accumulation
 * @param schedule of the pipeline
 * @param memory sharding, recompute, offload
 * @param blockGpus size of the blocks it stands in
 * @param cpInside whether CP groups stay inside a block
 */
public record Candidate(
    Dims dims,
    Batch batch,
    Schedule schedule,
    MemoryPlan memory,
    int blockGpus,
    boolean cpInside) {}
