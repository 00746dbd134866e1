package dev.meshplan.optimize;

import dev.meshplan.estimate.LayerSeconds;
import dev.meshplan.estimate.MemoryModel;
import dev.meshplan.estimate.MemorySplit;
import dev.meshplan.estimate.Spread;
import dev.meshplan.estimate.StepTimeModel;
import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Layout;
import dev.meshplan.rules.Facts;
import dev.meshplan.rules.Point;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Lays the layers of points on stages: the fastest way that fits, and what bounds it. */
final class Layers {
  private final Splitter splitter;
  private final StepTimeModel time;
  private final MemoryModel memory;
  private final Facts facts;
  private final Map<Point, Laid> squeezed = new HashMap<>();
  private final Map<Point, Layout> tried = new HashMap<>();

  Layers(Splitter splitter, StepTimeModel time, MemoryModel memory, Facts facts) {
    this.splitter = splitter;
    this.time = time;
    this.memory = memory;
    this.facts = facts;
  }

  /**
   * A point with its layers on stages.
   *
   * @param seconds of a step
   * @param fastest whether no layout of the point is faster, fitting or not
   */
  record Laid(Layout layout, double seconds, boolean fastest) {}

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
      if (mustFit && !fits(c, way)) {
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
      return new Laid(best, least, all);
    }
    if (p.pp() == 1 || p.vpp() > 1 || splitter.uniform()) {
      return squeezed.get(p);
    }
    LayerSeconds layers = time.layerSeconds(c, spread);
    best = splitter.fitting(p.pp(), layers, split(p, c, layers), facts.limitBytes());
    return best == null || !fits(c, best)
        ? null
        : new Laid(best, time.seconds(c, best, spread), false);
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
    if (layout == null || !fits(c, layout)) {
      return null;
    }
    Laid laid = new Laid(layout, time.seconds(c, layout, spread), false);
    squeezed.put(p.copy(), laid);
    return laid;
  }

  /** Deterministic time of all constraint models of layers so far. */
  double work() {
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

  private boolean fits(Candidate c, Layout layout) {
    return memory.worstDeviceBytes(c, layout) <= facts.limitBytes();
  }
}
