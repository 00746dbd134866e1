package dev.meshplan.model;

import dev.meshplan.config.Keyed;

/**
 * The sequence mixer of a layer.
 *
 * @param kind which one
 * @param heads query heads (SSM and linear: heads of the mixer)
 * @param kvHeads key-value heads; equal to {@code heads} for MHA and MLA
 * @param headDim elements per query/key head (MLA: nope + rope)
 * @param valueDim elements per value head
 * @param window tokens seen to the left; 0 = the whole sequence
 * @param mla latent widths, for MLA; else null
 * @param state SSM or linear state, for those kinds; else null
 * @param qkvBias bias on the query, key and value projections
 * @param outBias bias on the output projection
 * @param qkNorm normalisation of queries and keys: none, per head, or over the full width
 * @param gate an output gate of the width of the attention output (heads x valueDim)
 * @param causal false only for encoders
 * @param sharedKv layers that share one key-value projection (cross-layer attention); usually 1
 * @param sinks one learned sink score per head
 */
public record Attention(
    Kind kind,
    int heads,
    int kvHeads,
    int headDim,
    int valueDim,
    int window,
    Mla mla,
    State state,
    boolean qkvBias,
    boolean outBias,
    QkNorm qkNorm,
    boolean gate,
    boolean causal,
    int sharedKv,
    boolean sinks) {

  /** Families of mixers. MHA and GQA differ only in kvHeads: both are {@code GQA} here. */
  public enum Kind implements Keyed {
    GQA,
    MLA,
    LINEAR,
    SSM
  }

  /** Where queries and keys are normalised. */
  public enum QkNorm implements Keyed {
    NONE,
    HEAD,
    WIDTH
  }

  /**
   * Multi-head latent attention. Elements.
   *
   * @param qRank query compression; 0 = none
   * @param kvRank key-value compression
   * @param nope query-key elements per head without position
   * @param rope query-key elements with rotary position (one shared key)
   */
  public record Mla(int qRank, int kvRank, int nope, int rope) {}

  /**
   * A recurrent mixer. SSM: Mamba-2 (heads x headDim inner width). LINEAR: gated delta or
   * lightning.
   *
   * @param stateDim elements of state per head element (SSM), or key dim (linear)
   * @param groups B/C groups (SSM) or key heads (linear)
   * @param conv width of the causal convolution; 0 = none
   */
  public record State(int stateDim, int groups, int conv) {}

  /** Softmax attention over keys and values, so that score work exists. */
  public boolean softmax() {
    return kind == Kind.GQA || kind == Kind.MLA;
  }
}
