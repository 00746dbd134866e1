package dev.meshplan.study;

import dev.meshplan.communication.Communication;
import dev.meshplan.communication.Fabric;
import dev.meshplan.estimate.EraProfile;
import dev.meshplan.estimate.Spread;
import dev.meshplan.estimate.StepConstants;
import dev.meshplan.estimate.StepTimeModel;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Training;
import java.util.List;

/**
 * A measured run as the planner would have been asked for it.
 *
 * @param usualPort bytes per second and GPU of the system's usual network
 * @param flushes times that the pipeline drains in one step
 * @param assumed columns that were empty and filled from defaults
 */
record RunReplay(
    Model model,
    Machine machine,
    Training training,
    Candidate candidate,
    Layout layout,
    Spread spread,
    double usualPort,
    Communication communication,
    int flushes,
    List<String> assumed) {

  /**
   * Reads a run.
   *
   * @throws Unpriced with the reason when it cannot be priced
   */
  static RunReplay of(RunRow row, Catalog catalog) throws Unpriced {
    try {
      return read(row, catalog);
    } catch (NoCostModel e) {
      throw new Unpriced(e.getMessage());
    }
  }

  private static RunReplay read(RunRow row, Catalog catalog) throws Unpriced {
    Model model = RunModel.of(row, catalog);
    Machine machine = RunMachine.of(row, catalog);
    Training training = RunTraining.of(row, model);
    if (!machine.gpu().supports(training.precision())) {
      throw new Unpriced(machine.gpu().id() + " has no " + training.precision().key());
    }
    RunPlan plan = new RunPlan(row, model, training, machine);
    Candidate candidate = plan.candidate();
    Spread spread = spread(candidate.dims(), machine.system().domain().size());
    double port = RunMachine.usualPort(machine, catalog);
    Communication communication = communication(machine);
    StepTimeModel time =
        new StepTimeModel(
            model,
            training,
            machine,
            EraProfile.of(training.era()),
            StepConstants.SHIPPED,
            communication,
            port);
    Layout layout = RunStages.of(model, training, candidate, time.layerSeconds(candidate, spread));
    return new RunReplay(
        model,
        machine,
        training,
        candidate,
        layout,
        spread,
        port,
        communication,
        plan.flushes(),
        row.assumed());
  }

  /** Groups as they fall when the run fills as few whole domains as carry it. */
  private static Spread spread(Dims d, int domain) {
    int gpus = (int) d.gpus();
    int domains = (gpus + domain - 1) / domain;
    int even = gpus % domains == 0 ? gpus / domains : domain;
    int block = d.tp() * (domain % (d.tp() * d.cp()) == 0 ? d.cp() : 1);
    int unit = lcm(block, d.ep() * d.etp());
    int ranks = unit <= even && even % unit == 0 ? even : Math.max(even / d.tp(), 1) * d.tp();
    return Spread.of(d, Math.min(ranks, Math.max(domain, d.tp())), false);
  }

  private static int lcm(int a, int b) {
    int x = a;
    int y = b;
    while (y != 0) {
      int t = x % y;
      x = y;
      y = t;
    }
    return a / x * b;
  }

  /** A model of the run's step with the shipped constants. */
  StepTimeModel time() {
    return time(EraProfile.of(training.era()), StepConstants.SHIPPED);
  }

  /** A model of the run's step with other constants. */
  StepTimeModel time(EraProfile era, StepConstants constants) {
    return new StepTimeModel(model, training, machine, era, constants, communication, usualPort);
  }

  private static Communication communication(Machine machine) {
    return new Communication(Fabric.of(machine.system(), machine.gpu(), machine.network()));
  }

  /** Predicted seconds of a step. */
  double seconds() {
    return time().seconds(candidate, layout, spread, flushes);
  }
}
