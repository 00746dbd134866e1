package dev.meshplan.estimate;

import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerKind;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Recompute;
import java.util.List;

/**
 * What recompute and offload leave of one layer's items.
 *
 * @param keptBytes per micro-batch
 * @param workingBytes recreated at once while the layer runs backward
 */
record MemoryRecompute(double keptBytes, double workingBytes) {

  /** The modules as a bit set; a selective plan that names none recomputes core attention. */
  static int modules(Recompute recompute) {
    if (recompute.granularity() != Recompute.Granularity.SELECTIVE) {
      return 0;
    }
    int mask = 0;
    List<Module> modules = recompute.modules();
    for (int i = 0; i < modules.size(); i++) {
      mask |= 1 << modules.get(i).ordinal();
    }
    return mask == 0 ? 1 << Module.CORE_ATTN.ordinal() : mask;
  }

  /**
   * The effect on one layer.
   *
   * @param items everything that the layer keeps
   * @param tokens of a rank and micro-batch
   * @param h hidden size
   * @param q split of the residual stream
   * @param tp split of matrices
   */
  static MemoryRecompute of(
      List<MemoryItem> items,
      LayerKind kind,
      Recompute recompute,
      MemoryProfile.Style style,
      MemoryOptions options,
      double tokens,
      double h,
      double q,
      double tp) {
    double all = 0;
    double offloaded = 0;
    double dropped = 0;
    int mask = modules(recompute);
    for (MemoryItem item : items) {
      all += item.bytes();
      if (item.dropped(mask)) {
        dropped += item.bytes();
      } else if (options.offloadedItems().contains(item.name())) {
        offloaded += item.bytes();
      }
    }
    double checkpoint = 2 * tokens * h / q;
    return switch (recompute.granularity()) {
      case NONE -> new MemoryRecompute(all - offloaded, offloaded);
      case SELECTIVE -> {
        if (style == MemoryProfile.Style.FSDP && recompute.modules().isEmpty()) {
          double kept = Math.min(all, perOperator(kind, tokens, h, q, tp));
          yield new MemoryRecompute(kept, all - kept);
        }
        yield new MemoryRecompute(all - dropped - offloaded, dropped + offloaded);
      }
      case FULL -> {
        double share = recompute.share();
        double rest = all - offloaded;
        yield new MemoryRecompute(
            share * Math.min(checkpoint, all) + (1 - share) * rest,
            share > 0 ? Math.max(0, all - checkpoint) : offloaded);
      }
    };
  }

  /**
   * Bytes kept by per-operator selective checkpointing: block input, attention output with its
   * log-sum-exp, every second GEMM output in call order, outputs of collectives. Source: the
   * published code of torchtitan.
   */
  private static double perOperator(LayerKind kind, double s, double h, double q, double tp) {
    double bytes = 2 * s * h / q;
    Attention a = kind.attention();
    if (a != null) {
      bytes += 2 * s * a.heads() * a.valueDim() / tp + 4 * s * a.heads() / tp;
      bytes += 2 * s * (a.heads() * (double) a.headDim() + a.kvHeads() * a.valueDim()) / tp;
    }
    FeedForward f = kind.feedForward();
    if (f != null) {
      double width = f.width() + f.sharedWidth() + (double) f.topK() * f.expertWidth();
      bytes += 2 * s * (width + h) / tp;
      if (f.moe()) {
        bytes += 2 * s / q * f.topK() * h;
      }
    }
    return bytes + (tp > 1 ? 4 * s * h / tp : 0);
  }
}
