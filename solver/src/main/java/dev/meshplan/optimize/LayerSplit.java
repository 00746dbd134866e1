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
 * The constraint model of layers on virtual stages: the slowest rank as fast as can be, the stages
 * of a row (one chunk on every rank) as even, because ranks wait for uneven ones, and every rank
 * within its memory. Equal neighbours are one run; how many layers of each run stand before a
 * virtual stage is one integer, so that there is no symmetry to search. Virtual stage c runs on
 * rank c mod pp; only the first (embedding) and the last (loss) may hold no layer.
 */
final class LayerSplit {
  private static final double MIB = 1024.0 * 1024.0;
  private static final long MOST_MIB = 1L << 24;

  /**
   * Deterministic time (some hundredths of a second) after which the best layout so far is taken.
   */
  private static final double LIMIT = 0.006;

  /** What building a model takes, in deterministic time. */
  private static final double BUILDING = 0.001;

  private record Run(int kind, int layers) {}

  private final int pp;
  private final int vpp;
  private final long[] weight;
  private final long last;
  private final List<Run> runs = new ArrayList<>();
  private CpModel model;
  private double work;
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
   * Layers per virtual stage; null when nothing fits or nothing was found within the limit.
   *
   * @param split memory as linear pieces; null = without limit
   */
  int[] solve(MemorySplit split, double limitBytes) {
    model = Cp.model();
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
    LinearExprBuilder goal = LinearExpr.newBuilder().addTerm(slowest, 1);
    for (int row = 0; row < vpp && vpp > 1; row++) {
      unevenness(row, total, goal);
    }
    model.minimize(goal.build());
    String invalid = model.validate();
    if (!invalid.isEmpty()) {
      throw new IllegalStateException("layer split: " + invalid);
    }
    CpSolver solver = Cp.solver();
    // Presolve takes ten times as long as the search that follows it, and heeds no limit.
    solver.getParameters().setCpModelPresolve(false);
    if (split != null) {
      solver.getParameters().setMaxDeterministicTime(LIMIT);
    }
    CpSolverStatus status = solver.solve(model);
    work = BUILDING + solver.response().getDeterministicTime();
    if (status != CpSolverStatus.OPTIMAL && status != CpSolverStatus.FEASIBLE) {
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

  /** Deterministic time of {@link #solve}. */
  double work() {
    return work;
  }

  /** Adds to the goal by how much the stages of a row differ, but for the pipeline's ends. */
  private void unevenness(int row, long total, LinearExprBuilder goal) {
    IntVar longest = model.newIntVar(0, total, "longest_" + row);
    IntVar shortest = model.newIntVar(0, total, "shortest_" + row);
    for (int chunk = row * pp; chunk < (row + 1) * pp; chunk++) {
      LinearExprBuilder time = LinearExpr.newBuilder();
      for (int r = 0; r < runs.size(); r++) {
        add(time, chunk, r, weight[runs.get(r).kind()]);
      }
      LinearExpr layers = time.build();
      model.addLessOrEqual(layers, longest);
      if (chunk > 0 && chunk < pp * vpp - 1) {
        model.addGreaterOrEqual(layers, shortest);
      }
    }
    goal.addTerm(longest, 1).addTerm(shortest, -1);
  }

  /**
   * Layers of the longest run that the slowest rank must hold at least, when every rank holds what
   * it has memory for; -1 when there is not room for all. Costs little beside the model.
   */
  int slowestHolds(MemorySplit split, double limitBytes) {
    Run longest = longest();
    int[] room = new int[pp];
    int sum = 0;
    for (int rank = 0; rank < pp; rank++) {
      room[rank] = room(split, limitBytes, rank, longest.kind());
      sum += room[rank];
    }
    if (sum < longest.layers()) {
      return -1;
    }
    int held = (longest.layers() + pp - 1) / pp;
    while (true) {
      sum = 0;
      for (int r : room) {
        sum += Math.min(r, held);
      }
      if (sum >= longest.layers()) {
        return held;
      }
      held++;
    }
  }

  /** Kind of the longest run. */
  int longestKind() {
    return longest().kind();
  }

  private Run longest() {
    Run longest = runs.get(0);
    for (Run r : runs) {
      longest = r.layers() > longest.layers() ? r : longest;
    }
    return longest;
  }

  /**
   * Layers of a kind that a rank has memory for, at most: at the moment when it holds most
   * micro-batches, with the layers where fewest of them are in flight.
   */
  private int room(MemorySplit split, double limitBytes, int rank, int kind) {
    double[] inFlight = null;
    double most = -1;
    for (double[] held : split.counts(rank)) {
      double sum = 0;
      for (double h : held) {
        sum += h;
      }
      if (sum > most) {
        most = sum;
        inFlight = held.clone();
      }
    }
    Arrays.sort(inFlight);
    double bytes = limitBytes - split.fixedBytes(rank);
    int layers = 0;
    for (double held : inFlight) {
      double layer = split.stateBytesPerLayer(kind) + held * split.keptBytesPerLayer(kind);
      int more = (int) Math.max(0, Math.min(this.most, Math.floor(bytes / layer)));
      bytes -= more * layer;
      layers += more;
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
