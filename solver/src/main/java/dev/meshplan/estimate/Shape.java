package dev.meshplan.estimate;

import dev.meshplan.plan.Recompute;

/**
 * Everything of a plan that the time of one layer depends on.
 *
 * @param microBatch sequences of one micro-batch on one rank
 * @param accumulates whether gradients add up over several micro-batches
 * @param gathersWeights whether weights are gathered per micro-batch (sharding 3)
 */
record Shape(
    int tp,
    int cp,
    int ep,
    int etp,
    int microBatch,
    Recompute recompute,
    boolean accumulates,
    boolean gathersWeights,
    Spread spread) {}
