package dev.meshplan.estimate;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Objective;
import dev.meshplan.plan.Training;

/** From step seconds and GPUs to the objective's value. */
public final class Objectives {
  private static final double MILLION = 1e6;
  private static final double HOUR = 3600;

  /** Training load as a share of TDP where no typical power is published. */
  private static final double TYPICAL_SHARE = 0.85;

  /** Idle power as a share of TDP where none is published. */
  private static final double IDLE_SHARE = 0.10;

  private final Objective objective;
  private final double tokensPerStep;
  private final double dollarsPerGpuSecond;
  private final double loadWatts;
  private final double idleWatts;
  private final boolean priced;

  public Objectives(Objective objective, Training training, Machine machine) {
    this.objective = objective;
    tokensPerStep = (double) training.globalBatch() * training.sequence();
    double price = machine.pool().dollarsPerGpuHour();
    priced = !Double.isNaN(price);
    dollarsPerGpuSecond = priced ? price / HOUR : 1;
    Gpu.Power power = machine.gpu().power();
    double peak = power.peak().value();
    loadWatts = power.typical().known() ? power.typical().value() : TYPICAL_SHARE * peak;
    idleWatts = power.idle().known() ? power.idle().value() : IDLE_SHARE * peak;
    if (objective == Objective.ENERGY && Double.isNaN(loadWatts)) {
      throw new NoCostModel(
          "no cost model yet for the energy of "
              + machine.gpu().id()
              + ": its file gives no power. Add power: {peak: ...} or plan for time.");
    }
  }

  public String unit() {
    return switch (objective) {
      case TIME -> "s/step";
      case COST -> priced ? "USD/Mtoken" : "GPU-s/Mtoken";
      case ENERGY -> "kJ/Mtoken";
    };
  }

  /**
   * The objective's value.
   *
   * @param used GPUs that work
   * @param touched GPUs of all touched domains
   */
  public double value(double stepSeconds, long used, long touched) {
    return switch (objective) {
      case TIME -> stepSeconds;
      case COST -> stepSeconds * touched * dollarsPerGpuSecond / tokensPerStep * MILLION;
      case ENERGY -> joulesPerToken(stepSeconds, used, touched) * MILLION / 1000;
    };
  }

  public double joulesPerToken(double stepSeconds, long used, long touched) {
    return stepSeconds * (used * loadWatts + (touched - used) * idleWatts) / tokensPerStep;
  }

  /** NaN without a price. */
  public double dollarsPerToken(double stepSeconds, long touched) {
    return priced ? stepSeconds * touched * dollarsPerGpuSecond / tokensPerStep : Double.NaN;
  }
}
