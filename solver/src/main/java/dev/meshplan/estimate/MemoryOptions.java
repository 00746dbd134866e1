package dev.meshplan.estimate;

import dev.meshplan.plan.Era;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.Routing;
import dev.meshplan.plan.Training;
import java.util.List;

/**
 * Settings that move memory and that a training job seldom states.
 *
 * @param dropout masks of hidden and attention dropout are kept for the backward pass
 * @param expertImbalance rows of the busiest rank's experts relative to an even split (capacity
 *     factor where tokens are dropped or padded to capacity)
 * @param probabilitiesAfterExperts routing weights applied to the experts' output (dispatchers
 *     before 2025), so that the output is kept too
 * @param lossChunks pieces in which logits and loss are computed; 1 = whole
 * @param fp8WeightGather fp8 weights replace the 16-bit copy
 * @param weightsStayGathered fully sharded weights are not released after the forward pass
 * @param transformerEngine cached placeholders and user buffers of that library exist
 * @param nvlsCommunicators communicators that reduce in the NVLink switch
 * @param offloadedItems names of activation items moved to host memory
 * @param adapters of a LoRA job
 * @param unfusedAttention attention scores are stored
 */
public record MemoryOptions(
    boolean dropout,
    double expertImbalance,
    boolean probabilitiesAfterExperts,
    int lossChunks,
    boolean fp8WeightGather,
    boolean weightsStayGathered,
    boolean transformerEngine,
    int nvlsCommunicators,
    List<String> offloadedItems,
    Adapters adapters,
    boolean unfusedAttention) {

  /** Busiest rank over an even split under a real router: assumed; one pair of runs shows 1.05. */
  static final double NATURAL_IMBALANCE = 1.1;

  private static final Adapters USUAL_ADAPTERS = new Adapters(32, false);

  public MemoryOptions {
    offloadedItems = List.copyOf(offloadedItems);
  }

  /** What a job that says nothing of these gets, by its era. */
  public static MemoryOptions of(Training training) {
    boolean engine =
        switch (training.era()) {
          case MEGATRON_2026A, MEGATRON_2026B, MEGATRON_2025, NEMO_2025, NEMO_2024 -> true;
          default -> false;
        };
    boolean old =
        training.era() == Era.NEMO_2024
            || training.era() == Era.TORCH_2023
            || training.era() == Era.MEGATRON_2021;
    return new MemoryOptions(
        false,
        training.routing() == Routing.NATURAL ? NATURAL_IMBALANCE : 1.0,
        old,
        1,
        false,
        training.framework() == Framework.TORCHTITAN,
        engine,
        0,
        List.of(),
        USUAL_ADAPTERS,
        false);
  }

  /** The same with dropout masks. */
  public MemoryOptions withDropout() {
    return new MemoryOptions(
        true,
        expertImbalance,
        probabilitiesAfterExperts,
        lossChunks,
        fp8WeightGather,
        weightsStayGathered,
        transformerEngine,
        nvlsCommunicators,
        offloadedItems,
        adapters,
        unfusedAttention);
  }

  /** The same with experts that get so many times an even share of the rows. */
  public MemoryOptions withExpertImbalance(double imbalance) {
    return new MemoryOptions(
        dropout,
        imbalance,
        probabilitiesAfterExperts,
        lossChunks,
        fp8WeightGather,
        weightsStayGathered,
        transformerEngine,
        nvlsCommunicators,
        offloadedItems,
        adapters,
        unfusedAttention);
  }

  /** The same with logits and loss computed in so many pieces. */
  public MemoryOptions withLossChunks(int chunks) {
    return new MemoryOptions(
        dropout,
        expertImbalance,
        probabilitiesAfterExperts,
        chunks,
        fp8WeightGather,
        weightsStayGathered,
        transformerEngine,
        nvlsCommunicators,
        offloadedItems,
        adapters,
        unfusedAttention);
  }

  /** The same with activation items of these names moved to host memory. */
  public MemoryOptions withOffload(List<String> items) {
    return new MemoryOptions(
        dropout,
        expertImbalance,
        probabilitiesAfterExperts,
        lossChunks,
        fp8WeightGather,
        weightsStayGathered,
        transformerEngine,
        nvlsCommunicators,
        items,
        adapters,
        unfusedAttention);
  }

  /** The same with these adapters. */
  public MemoryOptions withAdapters(Adapters other) {
    return new MemoryOptions(
        dropout,
        expertImbalance,
        probabilitiesAfterExperts,
        lossChunks,
        fp8WeightGather,
        weightsStayGathered,
        transformerEngine,
        nvlsCommunicators,
        offloadedItems,
        other,
        unfusedAttention);
  }

  /** The same with attention scores stored. */
  MemoryOptions withUnfusedAttention() {
    return new MemoryOptions(
        dropout,
        expertImbalance,
        probabilitiesAfterExperts,
        lossChunks,
        fp8WeightGather,
        weightsStayGathered,
        transformerEngine,
        nvlsCommunicators,
        offloadedItems,
        adapters,
        true);
  }
}
