package dev.meshplan.estimate;

import dev.meshplan.communication.Communication;
import dev.meshplan.hardware.Precision;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Training;
import dev.meshplan.units.Basis;

/**
 * Seconds of one optimizer step of one model and job on one machine, for any plan. A plan costs its
 * layers, head and loss on each stage; the pipeline's fill and drain; the sends; what weights,
 * gradients and optimizer add. Remembers the costs of layer shapes: not for use by several threads.
 */
public final class StepTimeModel {
  private final Training training;
  private final Links links;
  private final StepConstants constants;
  private final EraProfile era;
  private final ShapeTable table;
  private final Floor floor;
  private final Basis kernels;
  final StateTraffic states;
  private final double hidden;
  private final double jitter;
  private final int gpusPerNode;

  double body;
  double bubble;
  double sends;
  double sendsLink;
  double casts;
  double step;
  int slowest;

  /** A model with the shipped constants. */
  public StepTimeModel(
      Model model, Training training, Machine machine, Communication communication) {
    this(
        model,
        training,
        machine,
        EraProfile.of(training.era()),
        StepConstants.SHIPPED,
        communication,
        machine.scaleOutBandwidth());
  }

  /**
   * A model with other constants.
   *
   * @param usualPort bytes per second and GPU of the system's usual network, of which an era's
   *     software reaches a share when it gathers weights
   */
  public StepTimeModel(
      Model model,
      Training training,
      Machine machine,
      EraProfile era,
      StepConstants constants,
      Communication communication,
      double usualPort) {
    this(
        model,
        training,
        machine,
        era,
        constants,
        Links.of(machine, communication),
        era.shardedNetworkShare() < 1
            ? Links.capped(machine, era.shardedNetworkShare() * usualPort)
            : Links.of(machine, communication));
  }

  StepTimeModel(
      Model model,
      Training training,
      Machine machine,
      EraProfile era,
      StepConstants constants,
      Links links,
      Links gathering) {
    this.training = training;
    this.links = links;
    this.constants = constants;
    this.era = era;
    LayerTime time = new LayerTime(model, training, machine, era, constants, links, false);
    table = new ShapeTable(time, model.distinctKinds());
    states = new StateTraffic(time, gathering, machine.system().domain().hostBandwidth());
    floor = new Floor(new LayerTime(model, training, machine, era, constants, links, true), this);
    kernels =
        machine
            .gpu()
            .efficiency()
            .gemm()
            .get(training.precision())
            .basis()
            .weakest(machine.gpu().efficiency().attention().basis());
    gpusPerNode = machine.system().gpusPerNode();
    hidden = model.hidden();
    jitter =
        training.precision() == Precision.FP8
            ? constants.step().jitterFp8()
            : constants.step().jitter();
  }

  /**
   * Forward + backward seconds per micro-batch on one rank of a layer of each kind, of the head and
   * of an MTP layer.
   */
  public LayerSeconds layerSeconds(Candidate c, Spread s) {
    return table.of(c, s).seconds();
  }

  /** Seconds of a step. Allocates nothing for a shape seen before, but to replay uneven stages. */
  public double seconds(Candidate c, Layout layout, Spread s) {
    return seconds(c, layout, s, 1, true, 0);
  }

  /**
   * A lower bound of {@link #seconds} that is cheap: as if no rank waited for uneven stages.
   *
   * @param slowest seconds per micro-batch that the slowest rank is known to take at least
   */
  public double closedSeconds(Candidate c, Layout layout, Spread s, double slowest) {
    return seconds(c, layout, s, 1, false, slowest);
  }

  /**
   * Seconds of a step.
   *
   * @param flushes times that the pipeline drains in one step, at least 1
   */
  public double seconds(Candidate c, Layout layout, Spread s, int flushes) {
    return seconds(c, layout, s, flushes, true, 0);
  }

  private double seconds(
      Candidate c, Layout layout, Spread s, int flushes, boolean stalls, double atLeast) {
    ShapeCosts costs = table.of(c, s);
    Dims d = c.dims();
    int pp = d.pp();
    int m = c.batch().gradientAccumulation();
    double sum = 0;
    double most = -1;
    double mostForward = 0;
    double mostBackward = 0;
    double dense = 0;
    double expert = 0;
    double cast = 0;
    int layers = 0;
    for (int r = 0; r < pp; r++) {
      double f = 0;
      double b = 0;
      double p = r == 0 ? costs.embeddingParameters : 0;
      double e = 0;
      double w = 0;
      int count = 0;
      for (int k = 0; k < costs.kinds.length; k++) {
        int n = layout.rankCount(r, k);
        LayerCost kind = costs.kinds[k];
        f += n * kind.forwardSeconds;
        b += n * kind.backwardSeconds;
        p += n * kind.denseParameters;
        e += n * kind.expertParameters;
        w += n * kind.weightCastSeconds;
        count += n;
      }
      if (r == layout.lastRank()) {
        int mtp = layout.mtpLayers();
        f += (1 + mtp) * costs.head.forwardSeconds;
        b += (1 + mtp) * costs.head.backwardSeconds;
        p += costs.head.denseParameters;
        if (mtp > 0) {
          f += mtp * costs.mtp.forwardSeconds;
          b += mtp * costs.mtp.backwardSeconds;
          p += mtp * costs.mtp.denseParameters;
          e += mtp * costs.mtp.expertParameters;
          w += mtp * costs.mtp.weightCastSeconds;
        }
      }
      sum += f + b;
      if (f + b > most) {
        most = f + b;
        mostForward = f;
        mostBackward = b;
        slowest = r;
      }
      dense = Math.max(dense, p);
      expert = Math.max(expert, e);
      cast = Math.max(cast, w);
      layers = Math.max(layers, count);
    }
    most = Math.max(most, atLeast);
    body = m * most;
    bubble = flushes * Bubble.seconds(c.schedule(), costs, layout, sum, most, m, stalls);
    casts = cast * (c.memory().sharding() >= 3 ? m : 1);
    sends(c, s, m);
    states.price(c, s, dense, expert, layers, mostForward, mostBackward, flushes);
    double parts =
        body
            + bubble
            + casts
            + sends
            + states.shardedExposed
            + states.dataExposed
            + states.optimizer
            + fixed(d);
    step = parts * (1 + growth(d)) * era.stack();
    return step;
  }

  /** The same step, term by term. */
  public StepBill bill(Candidate c, Layout layout, Spread s) {
    return bill(c, layout, s, 1);
  }

  /** The same step, term by term, with several flushes of the pipeline. */
  public StepBill bill(Candidate c, Layout layout, Spread s, int flushes) {
    seconds(c, layout, s, flushes);
    return new Biller(this, kernels).bill(c, layout, s);
  }

  /**
   * A lower bound of the seconds of every plan with these degrees: any EP, ETP, VPP, micro-batch,
   * recompute, sharding, layout and spread.
   */
  public double floorSeconds(int tp, int cp, int pp, int dp) {
    return floor.seconds(tp, cp, pp, dp);
  }

  /**
   * A lower bound of the seconds of every plan that shares the candidate's TP, CP, PP, DP, EP, ETP
   * and micro-batch and gathers weights where it does, with at most as many virtual stages and any
   * recompute and layout.
   *
   * @param s how the groups lie, at best
   */
  public double floorSeconds(Candidate c, Spread s) {
    return floor.seconds(table.of(c, s), c, s);
  }

  ShapeCosts costs(Candidate c, Spread s) {
    return table.of(c, s);
  }

  Training training() {
    return training;
  }

  EraProfile era() {
    return era;
  }

  StepConstants constants() {
    return constants;
  }

  /** Seconds of a step beside all work: data, logging, synchronisation. */
  double fixed(Dims d) {
    StepConstants.Step x = constants.step();
    return d.gpus() > gpusPerNode ? x.fixedSeconds() + x.acrossSeconds() : x.fixedSeconds();
  }

  /** Growth of a step by waiting for the slowest of many GPUs. */
  double growth(Dims d) {
    return jitter * StrictMath.log(Math.max(1, d.gpus() / 8.0)) / StrictMath.log(2);
  }

  private void sends(Candidate c, Spread s, int m) {
    Dims d = c.dims();
    sends = 0;
    sendsLink = 0;
    if (d.pp() <= 1) {
      return;
    }
    double t = sendSeconds(c, s);
    StepConstants.Step x = constants.step();
    if (d.vpp() == 1) {
      sendsLink = (2.0 * (d.pp() - 1) + 2.0 * m) * t;
      sends = 2 * (d.pp() - 1) * t + x.sends() * m * t;
    } else {
      double shown = training.ppOverlap() ? x.sendsOverlapped() : 1;
      sendsLink = (d.pp() * d.vpp() - 1 + 2.0 * m * d.vpp()) * t;
      sends = (d.pp() * d.vpp() - 1) * t + 2.0 * m * d.vpp() * t * shown;
    }
  }

  /** One send between neighbouring stages. */
  double sendSeconds(Candidate c, Spread s) {
    Dims d = c.dims();
    double tokens = (double) c.batch().microBatch() * training.sequence() / d.cp();
    boolean split = training.sequenceParallel() || era.scatterGather();
    return links.send(2 * tokens * hidden / (split ? d.tp() : 1), s.pp() > 0);
  }
}
