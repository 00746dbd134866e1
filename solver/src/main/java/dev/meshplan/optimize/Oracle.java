package dev.meshplan.optimize;

import dev.meshplan.communication.Communication;
import dev.meshplan.communication.Fabric;
import dev.meshplan.estimate.LayerSeconds;
import dev.meshplan.estimate.MemoryModel;
import dev.meshplan.estimate.MemorySplit;
import dev.meshplan.estimate.Objectives;
import dev.meshplan.estimate.Spread;
import dev.meshplan.estimate.StepTimeModel;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Blocks;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Locality;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.PlanRequest;
import dev.meshplan.plan.Problem;
import dev.meshplan.rules.Facts;
import dev.meshplan.rules.Point;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
  private final Splitter splitter;
  private final Map<Point, Laid> squeezed = new HashMap<>();
  private final Map<Point, Layout> tried = new HashMap<>();

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
    splitter = new Splitter(model, request.training().framework() == Framework.DEEPSPEED);
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

  /**
   * A point with its layers on stages.
   *
   * @param seconds of a step
   * @param fastest whether no layout of the point is faster, fitting or not
   */
  record Laid(Layout layout, double seconds, boolean fits, boolean fastest) {}

  /** The fastest layout that fits; where none does, the fastest. */
  Laid lay(Point p, Spread spread) {
    Laid fitting = lay(p, spread, true);
    return fitting == null ? lay(p, spread, false) : fitting;
  }

  /**
   * The fastest layout of a point.
   *
   * @param mustFit whether memory counts; if no layout fits the answer is then null
   */
  Laid lay(Point p, Spread spread, boolean mustFit) {
    Candidate c = facts.candidate(p);
    List<Layout> ways = splitter.ways(p.pp(), p.vpp(), time.layerSeconds(c, spread));
    Layout best = null;
    double least = Double.POSITIVE_INFINITY;
    boolean all = true;
    for (Layout way : ways) {
      if (mustFit && memory.worstDeviceBytes(c, way) > facts.limitBytes()) {
        all = false;
        continue;
      }
      double seconds = time.seconds(c, way, spread);
      if (seconds < least) {
        least = seconds;
        best = way;
      }
    }
    if (best != null) {
      return new Laid(best, least, mustFit || fits(p, best), all);
    }
    if (p.pp() == 1 || p.vpp() > 1 || splitter.uniform()) {
      return squeezed.get(p);
    }
    LayerSeconds layers = time.layerSeconds(c, spread);
    best = splitter.fitting(p.pp(), layers, split(p, c, layers), facts.limitBytes());
    return best == null || !fits(p, best)
        ? null
        : new Laid(best, time.seconds(c, best, spread), true, false);
  }

  /** Whether the framework takes uneven stages. */
  boolean squeezable() {
    return !splitter.uniform();
  }

  /**
   * A lower bound of the step seconds of a point whose layers lie as memory allows; infinite when
   * it allows no layout on virtual stages.
   */
  double squeezedFloor(Point p, Spread spread) {
    Candidate c = facts.candidate(p);
    LayerSeconds seconds = time.layerSeconds(c, spread);
    double slowest =
        splitter.slowestSqueezed(
            p.pp(), p.vpp(), seconds, split(p, c, seconds), facts.limitBytes());
    return slowest == Double.POSITIVE_INFINITY ? slowest : closedSeconds(p, spread, slowest);
  }

  /**
   * Lets the constraint model look for layers on virtual stages that fit where no usual way does;
   * null when it finds none. What it finds is the point's layout from then on.
   */
  Laid squeeze(Point p, Spread spread) {
    Candidate c = facts.candidate(p);
    // Layers and memory hardly depend on where groups lie: one model answers for all blocks.
    Point degrees = p.copy().set(Axis.BLOCK_GPUS, 0).set(Axis.CP_INSIDE, 0);
    if (!tried.containsKey(degrees)) {
      LayerSeconds seconds = time.layerSeconds(c, spread);
      MemorySplit split = split(p, c, seconds);
      tried.put(degrees, splitter.squeezed(p.pp(), p.vpp(), seconds, split, facts.limitBytes()));
    }
    Layout layout = tried.get(degrees);
    if (layout == null || !fits(p, layout)) {
      return null;
    }
    Laid laid = new Laid(layout, time.seconds(c, layout, spread), true, false);
    squeezed.put(p.copy(), laid);
    return laid;
  }

  /** Deterministic time of all constraint models of layers so far. */
  double layersWork() {
    return splitter.work();
  }

  /** Device bytes of the worst rank in the layout that needs least. */
  double leastBytes(Point p, Spread spread) {
    Candidate c = facts.candidate(p);
    double least = Double.POSITIVE_INFINITY;
    for (Layout way : splitter.ways(p.pp(), p.vpp(), time.layerSeconds(c, spread))) {
      least = Math.min(least, memory.worstDeviceBytes(c, way));
    }
    return least;
  }

  private MemorySplit split(Point p, Candidate c, LayerSeconds seconds) {
    return memory.split(c, splitter.ways(p.pp(), p.vpp(), seconds).get(0));
  }

  /** The layout of a point: the fastest, or the fastest that fits where that one does not. */
  Layout layout(Point p) {
    return lay(p, spread(p)).layout();
  }

  double deviceBytes(Point p) {
    return bytes(p, layout(p));
  }

  /** A lower bound of the step seconds of a point in its fastest layout; replays nothing. */
  double closedSeconds(Point p, Spread spread) {
    return closedSeconds(p, spread, 0);
  }

  private double closedSeconds(Point p, Spread spread, double slowest) {
    Candidate c = facts.candidate(p);
    double least = Double.POSITIVE_INFINITY;
    for (Layout way : splitter.ways(p.pp(), p.vpp(), time.layerSeconds(c, spread))) {
      least = Math.min(least, time.closedSeconds(c, way, spread, slowest));
    }
    return least;
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
    return lay(p, spread(p)).seconds();
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
