package dev.meshplan.optimize;

import dev.meshplan.communication.Communication;
import dev.meshplan.communication.Fabric;
import dev.meshplan.estimate.MemoryModel;
import dev.meshplan.estimate.Objectives;
import dev.meshplan.estimate.Spread;
import dev.meshplan.estimate.StepTimeModel;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Blocks;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Locality;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.PlanRequest;
import dev.meshplan.plan.Problem;
import dev.meshplan.rules.Facts;
import dev.meshplan.rules.Point;

/**
 * What the search asks of the estimators on one pool: seconds, bytes and objective of a point.
 * Every optimizer reads its numbers here, so that all agree.
 */
final class Oracle {

  final Problem problem;
  final Machine machine;
  final Space space;
  final Facts facts;
  final StepTimeModel time;
  final MemoryModel memory;
  final Supply supply;
  final Objectives objectives;
  final Layers layers;

  Oracle(Problem problem, Machine machine, Space space, Locality locality) {
    this.problem = problem;
    this.machine = machine;
    this.space = space;
    PlanRequest request = problem.request();
    Model model = problem.model();
    time =
        new StepTimeModel(
            model,
            request.training(),
            machine,
            new Communication(Fabric.of(machine.system(), machine.gpu(), machine.network())));
    memory = new MemoryModel(model, request.training(), machine);
    supply = new Supply(machine);
    objectives = new Objectives(request.objective(), request.training(), machine);
    facts =
        new Facts(
            model,
            Facts.attentions(model),
            Facts.feedForwards(model),
            request.training(),
            machine,
            locality,
            machine.pool().gpus(),
            request.limits().memoryShare() * machine.gpu().usableMemoryBytes().value(),
            space.recomputes(),
            space.shardings(),
            this::deviceBytes,
            p -> supply.fewest(p.gpus(), p.block(), unit(p)) > 0);
    layers =
        new Layers(
            new Splitter(model, request.training().framework() == Framework.DEEPSPEED),
            time,
            memory,
            facts);
  }

  /** Ranks that must stay together in a block. */
  long unit(Point p) {
    return Blocks.unit(p.tp(), p.cp(), p.ep(), p.etp(), p.cpInside(), p.block());
  }

  /** How the groups of a point lie in the domains. */
  Spread spread(Point p) {
    return Spread.of(
        new Dims(p.tp(), p.cp(), p.pp(), p.dp(), p.ep(), p.etp(), 1),
        supply.workingPerDomain(p.gpus(), p.block(), unit(p)),
        p.cpInside());
  }

  /** The layout of a point: the fastest, or the fastest that fits where that one does not. */
  Layout layout(Point p) {
    return layers.lay(p, spread(p)).layout();
  }

  double deviceBytes(Point p) {
    return bytes(p, layout(p));
  }

  boolean fits(Point p, Layout layout) {
    return bytes(p, layout) <= facts.limitBytes();
  }

  /** Device bytes of the worst rank in a layout. */
  double bytes(Point p, Layout layout) {
    return memory.worstDeviceBytes(facts.candidate(p), layout);
  }

  /** Step seconds of a point in its layout. */
  double seconds(Point p) {
    return layers.lay(p, spread(p)).seconds();
  }

  /** GPUs of the domains that a point touches when the fullest are taken first. */
  long touchedGpus(Point p) {
    int fewest = supply.fewest(p.gpus(), p.block(), unit(p));
    int domains = fewest > 0 ? fewest : Math.max(1, supply.atLeast(p.gpus()));
    return (long) domains * supply.size();
  }

  /** The objective of a point that takes so many seconds. */
  double value(Point p, double seconds) {
    return objectives.value(seconds, p.gpus(), touchedGpus(p));
  }

  /** A bound of the objective of all points with these degrees. */
  double floorValue(Point p, double floorSeconds) {
    long touched = (long) Math.max(1, supply.atLeast(p.gpus())) * supply.size();
    return objectives.value(floorSeconds, p.gpus(), touched);
  }
}
