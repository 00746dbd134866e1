package dev.meshplan.estimate;

import dev.meshplan.model.LayerKind;
import java.util.List;

/** Costs of every layer kind, of the head and of an MTP layer in one shape. */
final class ShapeCosts {
  final Shape shape;
  final LayerCost[] kinds;
  final LayerCost head;
  final LayerCost mtp;
  final double embeddingParameters;
  private final LayerSeconds seconds;

  ShapeCosts(LayerTime time, List<LayerKind> kinds, Shape shape) {
    this.shape = shape;
    this.kinds = kinds.stream().map(k -> time.layer(k, shape)).toArray(LayerCost[]::new);
    head = time.head(shape);
    mtp = time.model.mtpLayers() > 0 ? time.mtp(shape, this.kinds[time.lastKind]) : null;
    embeddingParameters = (double) time.model.vocabulary() * time.model.hidden() / shape.tp();
    seconds = split();
  }

  /** Seconds for a layer split; the head of an MTP layer counts to that layer. */
  LayerSeconds seconds() {
    return seconds;
  }

  private LayerSeconds split() {
    double[] layer = new double[kinds.length];
    for (int i = 0; i < layer.length; i++) {
      layer[i] = kinds[i].forwardSeconds + kinds[i].backwardSeconds;
    }
    double h = head.forwardSeconds + head.backwardSeconds;
    return new LayerSeconds(
        layer, h, mtp == null ? 0 : mtp.forwardSeconds + mtp.backwardSeconds + h);
  }
}
