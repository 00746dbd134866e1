package dev.meshplan.model;

/**
 * Parameter counts of one layer kind, in elements, split as tensor and expert parallelism split
 * them. Source: the layer code of Megatron-LM and the published model configurations.
 */
public final class Parameters {
  private Parameters() {}

  /**
   * Elements of one layer.
   *
   * @param tensor divided by TP
   * @param replicated kept whole on every TP rank
   * @param expert routed experts, divided by EP and ETP
   * @param activeExpert the part of {@code expert} that one token uses
   */
  public record Layer(double tensor, double replicated, double expert, double activeExpert) {
    public double total() {
      return tensor + replicated + expert;
    }

    public double active() {
      return tensor + replicated + activeExpert;
    }
  }

  /** Elements of one layer of the kind, with KV projections as they are at TP 1. */
  public static Layer layer(Model model, LayerKind kind) {
    double h = model.hidden();
    double tensor = 0;
    double replicated = model.normsPerLayer() * model.norm().vectors() * h;
    double expert = 0;
    double active = 0;
    Attention a = kind.attention();
    if (a != null) {
      tensor += attentionTensor(h, a, a.kvHeads());
      replicated += attentionReplicated(h, a, model.norm().vectors());
    }
    FeedForward f = kind.feedForward();
    if (f != null) {
      tensor += f.matrices() * h * (f.width() + f.sharedWidth());
      if (f.bias()) {
        tensor += f.firstOutputs() * (double) (f.width() + f.sharedWidth());
        replicated += f.width() > 0 || f.moe() ? h : 0;
      }
      if (f.moe()) {
        double he = f.latentWidth() > 0 ? f.latentWidth() : h;
        double one = f.matrices() * he * f.expertWidth();
        if (f.bias()) {
          one += f.firstOutputs() * (double) f.expertWidth() + he;
          replicated += f.experts() - h;
        }
        expert = f.experts() * one;
        active = f.topK() * one;
        replicated +=
            h * f.experts() + (f.sharedGate() ? h : 0) + (f.latentWidth() > 0 ? 2 * h * he : 0);
      }
    }
    return new Layer(tensor, replicated, expert, active);
  }

  /**
   * Elements of the attention that TP divides.
   *
   * @param hidden residual width
   * @param kvHeads key-value heads as stored (max(kv, TP) when replicated)
   */
  public static double attentionTensor(double hidden, Attention a, double kvHeads) {
    double d = a.headDim();
    return switch (a.kind()) {
      case GQA -> {
        double kv = kvHeads / a.sharedKv();
        yield hidden * a.heads() * (d + a.valueDim())
            + hidden * kv * (d + a.valueDim())
            + (a.qkvBias() ? a.heads() * d + kv * (d + a.valueDim()) : 0)
            + (a.gate() ? hidden * a.heads() * a.valueDim() : 0)
            + (a.sinks() ? a.heads() : 0);
      }
      case MLA -> {
        Attention.Mla m = a.mla();
        double up = m.qRank() > 0 ? m.qRank() : hidden;
        yield hidden * a.heads() * a.valueDim()
            + m.kvRank() * (double) a.heads() * (m.nope() + a.valueDim())
            + up * a.heads() * (m.nope() + m.rope());
      }
      case SSM -> {
        double inner = a.heads() * d;
        double bc = 2.0 * a.state().groups() * a.state().stateDim();
        yield hidden * (2 * inner + bc + a.heads())
            + inner * hidden
            + (inner + bc) * (a.state().conv() + 1)
            + 3.0 * a.heads()
            + inner;
      }
      case LINEAR -> {
        double key = (double) a.state().groups() * a.state().stateDim();
        double value = (double) a.heads() * a.valueDim();
        yield hidden * (2 * key + value + (a.gate() ? value : 0))
            + value * hidden
            + (2 * key + value) * a.state().conv()
            + (a.state().conv() > 0 ? 2.0 * hidden * a.heads() + 2.0 * a.heads() : 0)
            + a.valueDim();
      }
    };
  }

  /** Elements of the attention that every TP rank holds whole (without the layer's norms). */
  public static double attentionReplicated(double hidden, Attention a, int normVectors) {
    double out = a.outBias() ? hidden : 0;
    out +=
        switch (a.qkNorm()) {
          case NONE -> 0;
          case HEAD -> 2.0 * a.headDim();
          case WIDTH -> (double) (a.heads() + a.kvHeads()) * a.headDim();
        };
    if (a.kind() == Attention.Kind.MLA) {
      Attention.Mla m = a.mla();
      out += hidden * (m.kvRank() + m.rope()) + m.kvRank();
      out += m.qRank() > 0 ? hidden * m.qRank() + m.qRank() : 0;
    }
    return out;
  }

  /**
   * Elements of one MTP layer that are its own: the layer, two norms and a projection of 2h x h.
   */
  public static double mtp(Model model) {
    LayerKind last = model.layerKinds().get(model.layerCount() - 1);
    double h = model.hidden();
    return layer(model, last).total() + 2 * h * h + 3 * h * model.norm().vectors();
  }

  /** Elements of the input embedding (learned positions included). */
  public static double embedding(Model model) {
    double h = model.hidden();
    return model.vocabulary() * h
        + (model.positions() == Model.Positions.LEARNED ? model.maxSequence() * h : 0)
        + (model.embeddingNorm() ? model.norm().vectors() * h : 0);
  }

  /** Elements of the output head; 0 when tied. */
  public static double head(Model model) {
    return model.tiedEmbeddings() ? 0 : (double) model.vocabulary() * model.hidden();
  }

  /** All parameters, MTP layers not counted. */
  public static double total(Model model) {
    double sum = embedding(model) + head(model) + model.norm().vectors() * (double) model.hidden();
    for (LayerGroup g : model.layers()) {
      for (LayerKind k : g.pattern()) {
        sum += g.repeat() * layer(model, k).total();
      }
    }
    return sum;
  }

  /** Parameters that one token uses, by the publisher's convention. MTP layers not counted. */
  public static double active(Model model, Model.ActiveConvention convention) {
    double sum = model.norm().vectors() * (double) model.hidden();
    for (LayerGroup g : model.layers()) {
      for (LayerKind k : g.pattern()) {
        sum += g.repeat() * layer(model, k).active();
      }
    }
    double in = embedding(model);
    return switch (convention) {
      case ALL -> sum + in + head(model);
      case WITHOUT_INPUT_EMBEDDING -> sum + (model.tiedEmbeddings() ? in : head(model));
      case WITHOUT_EMBEDDINGS -> sum;
    };
  }
}
