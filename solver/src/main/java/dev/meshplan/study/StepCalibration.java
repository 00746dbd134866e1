package dev.meshplan.study;

import dev.meshplan.config.InputException;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Known;
import dev.meshplan.hardware.Precision;
import dev.meshplan.optimize.GivenPlan;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Problem;
import dev.meshplan.units.Basis;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * One measured step of the user's own, turned into one constant of the GPU: the one that explains
 * the difference with the least surprise.
 */
public final class StepCalibration {
  private static final int HALVINGS = 40;
  private static final double NUDGE = 1.02;
  private static final double RANGE = 3;

  private StepCalibration() {}

  /**
   * A constant that could explain the difference.
   *
   * @param key in the GPU's file
   * @param before its value
   * @param sensitivity percent of the step for one percent of the constant
   * @param usual how far it usually lies from what is right, a share (fitted to measured runs)
   * @param surprise move that is needed, in units of {@code usual}; NaN when it cannot explain
   */
  public record Constant(
      String key, double before, double sensitivity, double usual, double surprise) {}

  /**
   * What a measured run says.
   *
   * @param gpu whose constant moves
   * @param measuredSeconds of the step
   * @param predictedSeconds before
   * @param key of the constant; null when none explains the run
   * @param before its value
   * @param after its value, then with basis measured
   * @param afterSeconds predicted with it
   * @param why this one
   * @param constants all that were weighed
   * @param measuredBytes device memory of the fullest GPU; NaN when not given
   * @param predictedBytes of the same
   * @param memoryShare share of usable memory to plan with so that what was measured fits; NaN
   */
  public record Result(
      String gpu,
      double measuredSeconds,
      double predictedSeconds,
      String key,
      double before,
      double after,
      double afterSeconds,
      String why,
      List<Constant> constants,
      double measuredBytes,
      double predictedBytes,
      double memoryShare) {
    public Result {
      constants = List.copyOf(constants);
    }
  }

  /**
   * Weighs the constants of the request's GPU against one measured run.
   *
   * @param problem a request whose {@code fix} names the plan that ran
   * @param stepSeconds measured
   * @param memoryBytes device memory measured on the fullest GPU; NaN when not measured
   * @throws InputException when the plan cannot be priced
   */
  public static Result of(Problem problem, double stepSeconds, double memoryBytes) {
    Answer answer = GivenPlan.price(problem, Version.get());
    if (answer.estimate() == null) {
      throw new InputException(
          "request", "fix", "", "is no plan that can be priced: " + answer.infeasible());
    }
    double predicted = answer.estimate().stepSeconds();
    List<Constant> constants = new ArrayList<>();
    Constant best = null;
    for (String key : keys(problem)) {
      Constant c = weigh(problem, key, predicted, stepSeconds);
      constants.add(c);
      if (!Double.isNaN(c.surprise()) && (best == null || c.surprise() < best.surprise())) {
        best = c;
      }
    }
    Gpu gpu = problem.machines().get(0).gpu();
    double bytes = answer.estimate().peakMemoryBytes();
    double share = problem.request().limits().memoryShare() * Math.min(1, bytes / memoryBytes);
    if (best == null) {
      return new Result(
          gpu.id(),
          stepSeconds,
          predicted,
          null,
          Double.NaN,
          Double.NaN,
          predicted,
          "no constant of the GPU explains the difference within "
              + (int) RANGE
              + " times its usual error: look for a setting that the request does not state"
              + " (recompute, virtual stages, dispatcher, CUDA graph, overlap, era)",
          constants,
          memoryBytes,
          bytes,
          share);
    }
    double after = solve(problem, best, stepSeconds);
    return new Result(
        gpu.id(),
        stepSeconds,
        predicted,
        best.key(),
        best.before(),
        after,
        seconds(problem, best.key(), after),
        String.format(
            Locale.ROOT,
            "one percent of it moves the step by %.2f%%, so the smallest move in units of its usual"
                + " error (%.1f times %.0f%%) explains the run",
            best.sensitivity(),
            best.surprise(),
            100 * best.usual()),
        constants,
        memoryBytes,
        bytes,
        share);
  }

  private static List<String> keys(Problem problem) {
    Precision p = problem.request().training().precision();
    List<String> keys = new ArrayList<>(List.of("gemm." + p.key()));
    if (!p.sixteenBit()) {
      keys.add("gemm.bf16");
    }
    keys.add("attention");
    keys.add("attention_flash2");
    keys.add("memory");
    return keys;
  }

  /** Spread of the fitted constant around the rule for new GPUs, over the measured generations. */
  private static double usual(String key) {
    return key.startsWith("gemm.") ? 0.10 : key.equals("memory") ? 0.08 : 0.15;
  }

  private static Constant weigh(Problem problem, String key, double predicted, double measured) {
    double before = value(problem.machines().get(0).gpu(), key);
    double moved = seconds(problem, key, before * NUDGE);
    double sensitivity = StrictMath.log(moved / predicted) / StrictMath.log(NUDGE);
    double usual = usual(key);
    double surprise = Double.NaN;
    if (sensitivity < -1e-4) {
      Constant c = new Constant(key, before, sensitivity, usual, 0);
      double after = solve(problem, c, measured);
      double reached = seconds(problem, key, after);
      if (Math.abs(reached / measured - 1) < 1e-3) {
        surprise = Math.abs(StrictMath.log(after / before)) / usual;
      }
    }
    return new Constant(key, before, sensitivity, usual, surprise);
  }

  /** The value, within reach, that comes nearest to the measured step. */
  private static double solve(Problem problem, Constant c, double measured) {
    double low = c.before() * StrictMath.exp(-RANGE * c.usual());
    double high = Math.min(1, c.before() * StrictMath.exp(RANGE * c.usual()));
    for (int i = 0; i < HALVINGS; i++) {
      double middle = 0.5 * (low + high);
      if (seconds(problem, c.key(), middle) > measured) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return 0.5 * (low + high);
  }

  private static double seconds(Problem problem, String key, double value) {
    List<Machine> machines = new ArrayList<>();
    for (Machine m : problem.machines()) {
      machines.add(new Machine(m.pool(), m.system(), with(m.gpu(), key, value), m.network()));
    }
    Problem other = new Problem(problem.request(), problem.model(), machines, problem.provenance());
    return GivenPlan.price(other, Version.get()).estimate().stepSeconds();
  }

  private static Precision precision(String key) {
    for (Precision p : Precision.values()) {
      if (key.equals("gemm." + p.key())) {
        return p;
      }
    }
    throw new IllegalArgumentException(key);
  }

  private static double value(Gpu gpu, String key) {
    Gpu.Efficiency e = gpu.efficiency();
    return switch (key) {
      case "attention" -> e.attention().value();
      case "attention_flash2" -> e.attentionFlash2().value();
      case "memory" -> e.memory().value();
      default -> e.gemm().get(precision(key)).value();
    };
  }

  private static Gpu with(Gpu g, String key, double value) {
    Gpu.Efficiency e = g.efficiency();
    Known known = new Known(value, Basis.MEASURED);
    Map<Precision, Known> gemm = new EnumMap<>(e.gemm());
    if (key.startsWith("gemm.")) {
      gemm.put(precision(key), known);
    }
    Gpu.Efficiency moved =
        new Gpu.Efficiency(
            gemm,
            key.equals("attention") ? known : e.attention(),
            key.equals("attention_flash2") ? known : e.attentionFlash2(),
            e.kHalf(),
            e.mHalf(),
            key.equals("memory") ? known : e.memory(),
            e.bestGemm());
    return new Gpu(
        g.id(),
        g.aliases(),
        g.name(),
        g.vendor(),
        g.architecture(),
        g.year(),
        g.status(),
        g.memoryBytes(),
        g.usableMemoryBytes(),
        g.memoryBandwidth(),
        g.peaks(),
        moved,
        g.power(),
        g.sms(),
        g.sources(),
        g.notes());
  }
}
