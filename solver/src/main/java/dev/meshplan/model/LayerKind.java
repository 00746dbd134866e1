package dev.meshplan.model;

/**
 * One kind of transformer layer. Hybrids have single-mixer blocks: then one half is null.
 *
 * @param name the name in the model file, such as {@code mla + moe}
 * @param attention the sequence mixer, or null
 * @param feedForward the feed-forward half, or null
 */
public record LayerKind(String name, Attention attention, FeedForward feedForward) {
  public boolean moe() {
    return feedForward != null && feedForward.moe();
  }
}
