package dev.meshplan.plan;

/**
 * Peak bytes of one GPU of a pipeline rank in three readings.
 *
 * @param stage pipeline rank
 * @param allocatorBytes live tensors (reading A)
 * @param reservedBytes segments the caching allocator holds (reading B)
 * @param deviceBytes with context and communication buffers (reading C): what must fit
 */
public record StageMemory(
    int stage, double allocatorBytes, double reservedBytes, double deviceBytes) {}
