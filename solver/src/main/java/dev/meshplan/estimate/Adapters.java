package dev.meshplan.estimate;

import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;

/**
 * Low-rank adapters beside frozen matrices: two factors, width x rank and rank x width, each (Hu et
 * al. 2021).
 *
 * @param rank of the factors
 * @param everywhere on every linear layer; else on the query, key and value projections only
 */
public record Adapters(int rank, boolean everywhere) {

  /** Elements on one layer that TP divides. */
  double dense(Model model, LayerKind kind) {
    double h = model.hidden();
    double widths = 0;
    Attention a = kind.attention();
    if (a != null) {
      widths +=
          h
              + a.heads() * (double) a.headDim()
              + a.kvHeads() * (double) (a.headDim() + a.valueDim());
      widths += everywhere ? h + a.heads() * (double) a.valueDim() : 0;
    }
    FeedForward f = kind.feedForward();
    if (f != null && everywhere) {
      widths += f.width() > 0 ? mlp(h, f, f.width()) : 0;
      widths += f.sharedWidth() > 0 ? mlp(h, f, f.sharedWidth()) : 0;
    }
    return rank * widths;
  }

  /** Elements on one layer's experts, which EP and ETP divide. */
  double experts(Model model, LayerKind kind) {
    FeedForward f = kind.feedForward();
    if (f == null || !f.moe() || !everywhere) {
      return 0;
    }
    double width = f.latentWidth() > 0 ? f.latentWidth() : model.hidden();
    return rank * f.experts() * mlp(width, f, f.expertWidth());
  }

  private static double mlp(double h, FeedForward f, double width) {
    return f.matrices() * (h + width);
  }
}
