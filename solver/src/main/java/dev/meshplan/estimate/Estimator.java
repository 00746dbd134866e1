package dev.meshplan.estimate;

import dev.meshplan.model.Flops;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.ErrorBand;
import dev.meshplan.plan.Estimate;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Objective;
import dev.meshplan.plan.Plan;
import dev.meshplan.plan.StageMemory;
import dev.meshplan.plan.Training;
import java.util.List;

/**
 * The whole estimate of one plan: time, memory, energy and money, with the terms they are made of.
 */
public final class Estimator {
  private final Model model;
  private final Training training;
  private final Machine machine;
  private final StepTimeModel time;
  private final MemoryModel memory;

  /** Estimates with the given models of time and memory. */
  public Estimator(
      Model model, Training training, Machine machine, StepTimeModel time, MemoryModel memory) {
    this.model = model;
    this.training = training;
    this.machine = machine;
    this.time = time;
    this.memory = memory;
  }

  /**
   * The estimate of a plan.
   *
   * @param workingPerDomain ranks of the plan in one domain
   * @param limitBytes device bytes a rank may use
   */
  public Estimate estimate(Plan plan, int workingPerDomain, double limitBytes) {
    Candidate c = plan.candidate();
    Layout layout = Layout.of(model, plan);
    Spread spread = Spread.of(plan.dims(), workingPerDomain, plan.cpInside());
    StepBill bill = time.bill(c, layout, spread);
    List<StageMemory> stages = memory.stages(c, layout);
    int worst = memory.worstRank(c, layout);
    double seconds = bill.stepSeconds();
    double tokens = (double) training.globalBatch() * training.sequence();
    long used = plan.placement().gpusUsed();
    long paid = plan.placement().gpusPaid();
    Objectives energy = new Objectives(Objective.TIME, training, machine);
    double mfu =
        tokens
            * Flops.perToken(model, training.sequence())
            / (machine.gpu().peak(training.precision()) * used * seconds);
    ErrorBand band = ErrorBands.of(model, training, machine, plan.dims().gpus());
    return new Estimate(
        seconds,
        tokens / seconds,
        tokens / seconds / used,
        mfu,
        stages.get(worst).deviceBytes(),
        limitBytes,
        energy.joulesPerToken(seconds, used, paid),
        energy.dollarsPerToken(seconds, paid),
        bill.terms(),
        stages,
        memory.terms(c, layout, worst),
        bill.basis(),
        band);
  }
}
