package dev.meshplan.estimate;

import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Training;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The device reading of every rank as linear pieces, for a solver that decides which layers stand
 * where: for a rank r and each of its count vectors, reading C is at most
 *
 * <pre>
 * fixed[r] + sum over kinds n_k state[k] + sum over chunks counts[j] sum over kinds n_jk kept[k]
 * </pre>
 *
 * with n_k layers of kind k on the rank and n_jk on its chunk j. The bound is exact where every
 * kind stands on the rank (what depends on which kinds are present is taken at its largest).
 *
 * <p>All bytes are of reading C.
 */
public final class MemorySplit {
  private final double[] state;
  private final double[] kept;
  private final double[] fixed;
  private final List<List<double[]>> counts;

  private MemorySplit(double[] state, double[] kept, double[] fixed, List<List<double[]>> counts) {
    this.state = state;
    this.kept = kept;
    this.fixed = fixed;
    this.counts = List.copyOf(counts);
  }

  static MemorySplit of(
      Training training,
      MemoryOptions options,
      MemoryDevice device,
      InFlightCounts inFlight,
      MemoryShape shape,
      MemoryProfile profile,
      Candidate c,
      Layout empty,
      double usableBytes) {
    Dims d = c.dims();
    MemoryRank arithmetic = new MemoryRank(training, options, device, usableBytes);
    double communication = device.communicationBytes(d, shape.tokens);
    double factor = MemoryRank.reservedFactor(c);
    double constant = MemoryDevice.CONTEXT_BYTES + communication;
    double unexplained = device.unexplainedBytes(profile, 0, communication);
    if (unexplained > 0) {
      constant = Math.max(constant + unexplained, (factor - 1) * usableBytes + constant);
      factor = 1;
    }
    double[] state = new double[shape.kinds];
    double[] kept = new double[shape.kinds];
    for (int k = 0; k < shape.kinds; k++) {
      state[k] = factor * layerStateBytes(arithmetic, options, c, shape, profile, k);
      kept[k] = factor * shape.kept[k];
    }
    double[] fixed = new double[d.pp()];
    List<List<double[]>> counts = new ArrayList<>();
    for (int rank = 0; rank < d.pp(); rank++) {
      List<double[]> vectors = inFlight.counts(c, rank, device.extraChunks(d));
      counts.add(vectors);
      fixed[rank] =
          factor * fixedBytes(arithmetic, options, c, empty, shape, profile, rank, vectors)
              + constant;
    }
    return new MemorySplit(state, kept, fixed, counts);
  }

  /** States of one layer of a kind, bytes of reading A. */
  private static double layerStateBytes(
      MemoryRank rank,
      MemoryOptions options,
      Candidate c,
      MemoryShape shape,
      MemoryProfile profile,
      int kind) {
    Arrays.fill(rank.lines, 0);
    rank.denseElements = shape.tensor[kind] + shape.replicated[kind];
    rank.expertElements = shape.expert[kind];
    rank.states(c.dims(), c.memory(), profile, shape.tensor[kind], 1);
    double sum = 0;
    for (double line : rank.lines) {
      sum += line;
    }
    if (profile.shardWeights() && options.weightsStayGathered() && c.dims().pp() > 1) {
      sum += 2 * (rank.denseElements + rank.expertElements);
    }
    return sum;
  }

  /**
   * What a rank holds beside its layers, at most: embedding, head, MTP, transients.
   *
   * @param empty a layout with the degrees of the candidate; its layer counts are not read
   * @param counts count vectors by chunk
   */
  private static double fixedBytes(
      MemoryRank arithmetic,
      MemoryOptions options,
      Candidate c,
      Layout empty,
      MemoryShape shape,
      MemoryProfile profile,
      int rank,
      List<double[]> counts) {
    Arrays.fill(arithmetic.lines, 0);
    boolean first = rank == empty.rank(0);
    boolean last = rank == empty.lastRank();
    int mtp = last ? empty.mtpLayers() : 0;
    double tensor = mtp * shape.mtpTensor;
    double embeddingElements = MemoryRank.embeddings(empty, shape, first, last, mtp);
    arithmetic.denseElements =
        tensor + mtp * shape.mtpReplicated + embeddingElements + (last ? shape.headNorm : 0);
    arithmetic.expertElements = mtp * shape.expert[shape.lastKind];
    arithmetic.states(c.dims(), c.memory(), profile, tensor, mtp);
    double unit = 0;
    double working = 0;
    double alive = last ? shape.headBytes + mtp * shape.mtpHeadBytes : 0;
    for (int k = 0; k < shape.kinds; k++) {
      unit = Math.max(unit, shape.tensor[k] + shape.replicated[k] + shape.expert[k]);
      working = Math.max(working, shape.working[k]);
      alive = Math.max(alive, shape.transients[k]);
    }
    double sum = working + alive + MemoryRank.WORKSPACE_BYTES;
    for (double line : arithmetic.lines) {
      sum += line;
    }
    if (arithmetic.placeholders(profile)) {
      sum += shape.placeholderBytes(-1);
    }
    if (profile.shardWeights()) {
      sum +=
          profile.gatherBytes(
              profile.style() == MemoryProfile.Style.DEEPSPEED
                  ? Double.MAX_VALUE
                  : arithmetic.denseElements + arithmetic.expertElements,
              options.weightsStayGathered() && c.dims().pp() > 1,
              unit,
              first || last ? shape.headMatrix : 0);
    }
    sum += c.dims().pp() > 1 ? 2 * shape.residual : 0;
    double held = 0;
    for (double[] vector : counts) {
      double microBatches = 0;
      for (double n : vector) {
        microBatches += n;
      }
      held =
          Math.max(
              held,
              (first ? vector[0] * shape.inputIds : 0)
                  + microBatches * shape.stageOutput
                  + (last ? vector[vector.length - 1] * mtp * shape.mtpKept : 0));
    }
    return sum + held;
  }

  /** States of one layer of a kind, bytes per GPU. */
  public double stateBytesPerLayer(int kind) {
    return state[kind];
  }

  /** Kept tensors of one layer of a kind and one micro-batch, bytes per GPU. */
  public double keptBytesPerLayer(int kind) {
    return kept[kind];
  }

  /** What a rank holds whatever layers it gets, bytes per GPU. */
  public double fixedBytes(int rank) {
    return fixed[rank];
  }

  /** Count vectors by chunk of a rank: the one with the largest sum makes the peak. */
  public List<double[]> counts(int rank) {
    return counts.get(rank);
  }

  /** Upper bound of a rank's reading C; layers of each kind by chunk as {@code [chunk][kind]}. */
  public double bytes(int rank, int[][] layers) {
    double sum = fixed[rank];
    double[] chunkBytes = new double[layers.length];
    for (int j = 0; j < layers.length; j++) {
      for (int k = 0; k < state.length; k++) {
        sum += layers[j][k] * state[k];
        chunkBytes[j] += layers[j][k] * kept[k];
      }
    }
    double most = 0;
    for (double[] vector : counts.get(rank)) {
      double held = 0;
      for (int j = 0; j < layers.length; j++) {
        held += vector[j] * chunkBytes[j];
      }
      most = Math.max(most, held);
    }
    return sum + most;
  }
}
