package dev.meshplan.estimate;

/** What a layer split needs to know: seconds per micro-batch on one rank, forward + backward. */
public final class LayerSeconds {
  private final double[] layers;
  private final double head;
  private final double mtp;

  LayerSeconds(double[] layers, double head, double mtp) {
    this.layers = layers;
    this.head = head;
    this.mtp = mtp;
  }

  /** One layer of a kind (index in {@code Layout.kinds()}), recompute included. */
  public double layer(int kind) {
    return layers[kind];
  }

  /** Final norm, head and loss. */
  public double head() {
    return head;
  }

  /** One MTP layer with its own head and loss; 0 when the model has none. */
  public double mtp() {
    return mtp;
  }
}
