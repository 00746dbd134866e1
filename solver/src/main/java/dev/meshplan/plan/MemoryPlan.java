package dev.meshplan.plan;

/**
 * How a plan spends and saves memory.
 *
 * @param sharding 0 none, 1 optimizer states, 2 and gradients, 3 and weights, over data parallel
 * @param shardGroup ranks over which states are sharded (HSDP, MiCS); 0 = all data-parallel ranks
 * @param secondaryGroup ranks that hold a second copy of the weights (hpZ); 0 = none
 * @param recompute what is computed again
 * @param optimizerOffload share of the optimizer states kept in host memory
 */
public record MemoryPlan(
    int sharding,
    int shardGroup,
    int secondaryGroup,
    Recompute recompute,
    double optimizerOffload) {}
