package dev.meshplan.model;

/**
 * The feed-forward half of a layer: dense, or experts with or without shared ones.
 *
 * @param width hidden width of the dense MLP (dense layers), or of the dense MLP that runs beside
 *     the experts; 0 = none
 * @param gated three matrices (SwiGLU, GeGLU) instead of two
 * @param bias bias on the linear layers
 * @param experts routed experts; 0 = a dense layer
 * @param topK experts per token
 * @param expertWidth hidden width of one expert
 * @param sharedWidth hidden width of all shared experts together; 0 = none
 * @param sharedGate a gate on the shared expert (one output per token)
 * @param latentWidth width in which the experts work; 0 = the model's hidden size
 * @param routerGroups groups of experts, and how many a token may use; 0 = no limit
 * @param routerTopGroups groups a token may use
 */
public record FeedForward(
    int width,
    boolean gated,
    boolean bias,
    int experts,
    int topK,
    int expertWidth,
    int sharedWidth,
    boolean sharedGate,
    int latentWidth,
    int routerGroups,
    int routerTopGroups) {

  public boolean moe() {
    return experts > 0;
  }

  /** Matrices per MLP: 3 when gated, else 2. */
  public int matrices() {
    return gated ? 3 : 2;
  }

  /** Outputs of the first matrix per element of width: 2 when gated, else 1 ({@code w}). */
  public int firstOutputs() {
    return gated ? 2 : 1;
  }
}
