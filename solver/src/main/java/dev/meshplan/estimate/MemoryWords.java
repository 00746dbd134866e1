package dev.meshplan.estimate;

import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Layout;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.List;

/** The formulas of the memory lines in words, with their inputs. */
final class MemoryWords {
  private final MemoryModel model;
  private final Candidate c;
  private final Layout layout;
  private final int rank;
  private final double dense;
  private final double expert;
  private final MemoryProfile p;

  MemoryWords(MemoryModel model, Candidate c, Layout layout, int rank, MemoryRank filled) {
    this.model = model;
    this.c = c;
    this.layout = layout;
    this.rank = rank;
    this.dense = filled.denseElements;
    this.expert = filled.expertElements;
    this.p = model.profile(c);
  }

  String of(MemoryLine line) {
    MemoryShape shape = model.shape(c);
    return switch (line) {
      case WEIGHTS -> states(p.weight(), p.shardWeights());
      case SECONDARY_WEIGHTS ->
          "2 bytes x (" + elements() + ") / hpZ group of " + c.memory().secondaryGroup();
      case FP8_WEIGHTS ->
          "row-wise and transposed fp8 copies of the linear weights, "
              + Quantity.digits(2 * MemoryItems.gemmBytes(model.training().precision()))
              + " bytes per element";
      case ADAPTERS ->
          "2 weight, 4 gradient, 12 optimizer bytes per adapter element of "
              + layout.rankLayers(rank)
              + " layers, sharded as asked";
      case MAIN_GRADIENTS -> states(p.gradient(), p.shardGradients());
      case OPTIMIZER ->
          states(p.optimizer(), p.shardOptimizer())
              + (c.memory().optimizerOffload() > 0
                  ? ", " + Quantity.percent(c.memory().optimizerOffload()) + " of it in host memory"
                  : "");
      case ACTIVATIONS -> activations();
      case RECOMPUTE_WORKING_SET ->
          "what " + c.memory().recompute().text() + " recreates at once of the largest layer";
      case TRANSIENT ->
          rank == layout.lastRank()
              ? "the larger of logits with loss (one fp32 block: "
                  + Quantity.bytes(shape.fp32LogitsBytes)
                  + ") and of the largest layer's backward pass"
              : "largest tensors alive in the largest layer's backward pass";
      case PLACEHOLDER_GRADIENTS ->
          "one cached 16-bit block per distinct weight shape, 2 x rows x columns";
      case FSDP_GATHER -> "two gathered layers, one layer's gradients, embedding or head";
      case PIPELINE_BUFFERS ->
          "send and receive buffers, 4 S h / q with S = "
              + Quantity.digits(shape.tokens)
              + " tokens";
      case WORKSPACE -> "workspaces inside the allocator, constant";
      case STEP_TEMPORARIES ->
          Quantity.digits(p.temporary())
              + " bytes per element in the optimizer step, beyond what activations leave free";
      case STEP_TEMPORARIES_RESERVED ->
          Quantity.digits(p.temporary())
              + " bytes per element in the optimizer step; blocks of activations stay reserved";
      case RESERVED_SLACK ->
          Quantity.percent(MemoryRank.reservedFactor(c) - 1)
              + " of the above, held by the caching allocator";
      case CONTEXT -> "device context and libraries, constant";
      case COMMUNICATION -> "0.25 GiB per communicator" + libraries();
      case UNEXPLAINED ->
          "measured on one DeepSpeed source and not explained: 10.2 GiB over reading A in all";
    };
  }

  private String elements() {
    List<String> parts = new ArrayList<>();
    parts.add(Quantity.count(dense) + " dense elements");
    if (expert > 0) {
      parts.add(Quantity.count(expert) + " expert elements");
    }
    return String.join(" + ", parts);
  }

  private String states(double bytes, boolean sharded) {
    String s = Quantity.digits(bytes) + " bytes x (";
    if (!sharded) {
      return s + elements() + ")";
    }
    Dims d = c.dims();
    double ds = MemoryRank.denseShards(d.cp(), d.dp(), c.memory());
    double es = MemoryRank.expertShards(d.tp(), d.cp(), d.dp(), d.ep(), d.etp(), c.memory());
    s += Quantity.count(dense) + " dense elements / " + Quantity.digits(ds);
    return expert > 0
        ? s + " + " + Quantity.count(expert) + " expert elements / " + Quantity.digits(es) + ")"
        : s + ")";
  }

  private String activations() {
    double[] counts = model.inFlight(c, layout, rank);
    List<String> parts = new ArrayList<>();
    for (double n : counts) {
      parts.add(Quantity.digits(n));
    }
    return (parts.size() == 1
            ? parts.get(0) + " micro-batches in flight"
            : "micro-batches in flight by chunk " + String.join(", ", parts))
        + " x kept tensors of "
        + layout.rankLayers(rank)
        + " layers ("
        + c.memory().recompute().text()
        + ")";
  }

  private String libraries() {
    return c.dims().tp() > 1 && model.training().tpOverlap() ? ", user buffers of TP overlap" : "";
  }
}
