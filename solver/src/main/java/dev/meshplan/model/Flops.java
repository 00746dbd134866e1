package dev.meshplan.model;

/**
 * Model FLOP of one token, forward and backward, recompute not counted: 6 per active weight of a
 * GEMM, and the score work of softmax attention. Causal attention is counted as half, as
 * Megatron-Bridge does from 25.09 on.
 */
public final class Flops {
  private Flops() {}

  /**
   * FLOP per trained token.
   *
   * @param sequence tokens that attention may see
   */
  public static double perToken(Model model, int sequence) {
    double sum = 0;
    for (LayerGroup g : model.layers()) {
      for (LayerKind k : g.pattern()) {
        sum += g.repeat() * layer(model, k, sequence);
      }
    }
    double head = 6.0 * model.vocabulary() * model.hidden();
    LayerKind last = model.layerKinds().get(model.layerCount() - 1);
    double mtp =
        model.mtpLayers()
            * (layer(model, last, sequence) + head + 12.0 * model.hidden() * model.hidden());
    return sum + head + mtp;
  }

  private static double layer(Model model, LayerKind kind, int sequence) {
    double flop = 6 * Parameters.layer(model, kind).active();
    Attention a = kind.attention();
    if (a == null) {
      return flop;
    }
    if (!a.softmax()) {
      // Scan or linear attention: each head updates and reads a state of headDim x stateDim.
      return flop + 12.0 * a.heads() * a.valueDim() * a.state().stateDim();
    }
    double seen = a.window() > 0 ? Math.min(sequence, 2.0 * a.window()) : sequence;
    double scores = 6.0 * seen * a.heads() * (a.headDim() + a.valueDim());
    return flop + (a.causal() ? scores / 2 : scores);
  }
}
