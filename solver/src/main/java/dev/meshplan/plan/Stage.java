package dev.meshplan.plan;

/**
 * One virtual stage: consecutive layers and what stands beside them.
 *
 * @param rank pipeline rank that runs it
 * @param chunk which of the rank's virtual stages
 * @param firstLayer index of the first layer, from 0
 * @param layers number of layers; 0 is legal
 * @param embedding holds the input embedding
 * @param loss holds head and loss
 * @param mtpLayers multi-token-prediction layers
 */
public record Stage(
    int rank,
    int chunk,
    int firstLayer,
    int layers,
    boolean embedding,
    boolean loss,
    int mtpLayers) {}
