package dev.meshplan.optimize;

import com.google.ortools.sat.BoolVar;
import com.google.ortools.sat.CpModel;
import com.google.ortools.sat.CpSolver;
import com.google.ortools.sat.CpSolverStatus;
import com.google.ortools.sat.IntVar;
import com.google.ortools.sat.LinearExpr;
import com.google.ortools.sat.LinearExprBuilder;
import dev.meshplan.estimate.MemorySplit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The constraint model of layers on virtual stages: the slowest rank as fast as can be, every rank
 * within its memory. Equal neighbours are one run; how many layers of each run stand before a
 * virtual stage is one integer, so that there is no symmetry to search. Virtual stage c runs on
 * rank c mod pp; only the first (embedding) and the last (loss) may hold no layer.
 */
final class LayerSplit {
  private static final double MIB = 1024.0 * 1024.0;
  private static final long MOST_MIB = 1L << 24;

  private record Run(int kind, int layers) {}

  private final int pp;
  private final int vpp;
  private final long[] weight;
  private final long last;
  private final List<Run> runs = new ArrayList<>();
  private final CpModel model = Cp.model();
  private final IntVar[][] before;
  private final int fewest;
  private final int most;

  /**
   * Prepares the model.
   *
   * @param kindOf kind of every layer
   * @param weight time of a layer by kind, in whole steps, so that equal layers are equal
   * @param last time of what stands with the loss, in the same steps
   * @param uneven layers by which a virtual stage may differ from the mean; the bubble's closed
   *     form holds for virtual stages that are much alike
   */
  LayerSplit(int pp, int vpp, int[] kindOf, long[] weight, long last, int uneven) {
    this.pp = pp;
    this.vpp = vpp;
    this.weight = weight;
    this.last = last;
    for (int i = 0; i < kindOf.length; ) {
      int n = i;
      while (n < kindOf.length && kindOf[n] == kindOf[i]) {
        n++;
      }
      runs.add(new Run(kindOf[i], n - i));
      i = n;
    }
    before = new IntVar[pp * vpp + 1][runs.size()];
    int chunks = pp * vpp;
    fewest = Math.max(1, kindOf.length / chunks - uneven);
    most = (kindOf.length + chunks - 1) / chunks + uneven;
  }

  /**
   * Layers per virtual stage; null when nothing fits or the limit was reached.
   *
   * @param split memory as linear pieces; null = without limit
   */
  int[] solve(MemorySplit split, double limitBytes) {
    order();
    long total = last;
    for (Run r : runs) {
      total += weight[r.kind()] * r.layers();
    }
    IntVar slowest = model.newIntVar((total + pp - 1) / pp, total, "slowest_rank");
    for (int rank = 0; rank < pp; rank++) {
      LinearExprBuilder time = LinearExpr.newBuilder().add(rank == pp - 1 ? last : 0);
      for (int chunk = 0; chunk < vpp; chunk++) {
        for (int r = 0; r < runs.size(); r++) {
          add(time, chunk * pp + rank, r, weight[runs.get(r).kind()]);
        }
      }
      model.addLessOrEqual(time.build(), slowest);
      if (split != null) {
        memory(split, limitBytes, rank);
      }
    }
    model.minimize(slowest);
    String invalid = model.validate();
    if (!invalid.isEmpty()) {
      throw new IllegalStateException("layer split: " + invalid);
    }
    CpSolver solver = Cp.solver();
    if (solver.solve(model) != CpSolverStatus.OPTIMAL) {
      return null;
    }
    int[] layers = new int[pp * vpp];
    for (int c = 0; c < layers.length; c++) {
      for (int r = 0; r < runs.size(); r++) {
        layers[c] += (int) (solver.value(before[c + 1][r]) - solver.value(before[c][r]));
      }
    }
    return layers;
  }

  /** Layers keep their order: a run starts on a stage only when the run before it is used up. */
  private void order() {
    int chunks = pp * vpp;
    for (int c = 0; c <= chunks; c++) {
      for (int r = 0; r < runs.size(); r++) {
        int n = runs.get(r).layers();
        before[c][r] =
            model.newIntVar(c == chunks ? n : 0, c == 0 ? 0 : n, "before_" + c + "_" + r);
        if (c > 0) {
          model.addLessOrEqual(before[c - 1][r], before[c][r]);
        }
        if (r > 0 && c > 0 && c < chunks) {
          BoolVar used = model.newBoolVar("used_" + c + "_" + r);
          model.addLessOrEqual(before[c][r], LinearExpr.term(used, n));
          model.addGreaterOrEqual(
              before[c][r - 1], LinearExpr.term(used, runs.get(r - 1).layers()));
        }
      }
      if (c > 0) {
        LinearExpr layers =
            LinearExpr.newBuilder()
                .addSum(before[c])
                .addWeightedSum(before[c - 1], negative(runs.size()))
                .build();
        // The embedding and the loss take a place of their own.
        model.addLinearConstraint(layers, c > 1 && c < chunks ? fewest : 0, most);
      }
    }
  }

  private static long[] negative(int n) {
    long[] ones = new long[n];
    Arrays.fill(ones, -1);
    return ones;
  }

  private void add(LinearExprBuilder sum, int chunk, int run, long coefficient) {
    sum.addTerm(before[chunk + 1][run], coefficient);
    sum.addTerm(before[chunk][run], -coefficient);
  }

  /** Bytes are rounded up to MiB and the limit down, so that what fits here fits in bytes. */
  private void memory(MemorySplit split, double limitBytes, int rank) {
    long room = (long) Math.floor((limitBytes - split.fixedBytes(rank)) / MIB);
    for (double[] held : split.counts(rank)) {
      LinearExprBuilder sum = LinearExpr.newBuilder();
      for (int chunk = 0; chunk < vpp; chunk++) {
        for (int r = 0; r < runs.size(); r++) {
          int kind = runs.get(r).kind();
          double bytes =
              split.stateBytesPerLayer(kind) + held[chunk] * split.keptBytesPerLayer(kind);
          add(sum, chunk * pp + rank, r, Math.min(MOST_MIB, (long) Math.ceil(bytes / MIB)));
        }
      }
      model.addLessOrEqual(sum.build(), room);
    }
  }
}
