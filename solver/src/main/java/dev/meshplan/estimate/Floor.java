package dev.meshplan.estimate;

import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Training;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A lower bound of the step time of every plan with given TP, CP, PP and DP: the largest
 * micro-batch (which fills the GPU best and launches least), GEMMs without quantisation and memory
 * limits, no expert exchange, no recompute, groups inside a domain, no bubble, states sharded over
 * all ranks and their traffic hidden.
 */
final class Floor {
  private final LayerTime ideal;
  private final StepTimeModel exact;
  private final Model model;
  private final Training training;
  private final int[] counts;
  private final List<LayerKind> kinds;
  private final Map<Long, ShapeCosts> shapes = new HashMap<>();

  Floor(LayerTime ideal, StepTimeModel exact) {
    this.ideal = ideal;
    this.exact = exact;
    this.model = ideal.model;
    this.training = ideal.training;
    kinds = model.distinctKinds();
    counts = new int[kinds.size()];
    for (LayerKind k : model.layerKinds()) {
      counts[kinds.indexOf(k)]++;
    }
  }

  double seconds(int tp, int cp, int pp, int dp) {
    int most = Math.max(1, training.globalBatch() / dp);
    ShapeCosts costs =
        shapes.computeIfAbsent(
            ((long) tp << 44) + ((long) cp << 32) + most, k -> costs(tp, cp, most));
    double total = costs.head.forwardSeconds + costs.head.backwardSeconds;
    double head = total;
    double least = Double.POSITIVE_INFINITY;
    int layers = 0;
    for (int k = 0; k < counts.length; k++) {
      double t = costs.kinds[k].forwardSeconds + costs.kinds[k].backwardSeconds;
      total += counts[k] * t;
      least = Math.min(least, t);
      layers += counts[k];
    }
    double stage = Math.max(total / pp, slowest(layers, least, head, pp));
    StepConstants.Step x = exact.constants().step();
    double sends = 0;
    if (pp > 1) {
      double tokens = (double) most * training.sequence() / cp;
      double t = ideal.links.send(2 * tokens * model.hidden() / tp, false);
      sends = Math.min(x.sends(), 4 * (training.ppOverlap() ? x.sendsOverlapped() : 1)) * t;
    }
    Dims d = new Dims(tp, cp, pp, dp, 1, 1, 1);
    double parts = stage + sends + exact.fixed(d);
    return parts * (1 + exact.growth(d)) * exact.era().stack();
  }

  /**
   * A bound from the layers' own time: the slowest stage can't be shorter than the mean, than a
   * whole number of the shortest layers, or than the head; the rest of the step is the fill and
   * drain with the candidate's virtual stages, the sends it can't hide and what is fixed.
   */
  double seconds(ShapeCosts costs, Candidate c, Spread s) {
    Dims d = c.dims();
    int pp = d.pp();
    LayerSeconds layer = costs.seconds();
    double head = layer.head() + model.mtpLayers() * layer.mtp();
    double sum = head;
    double least = Double.POSITIVE_INFINITY;
    double longest = 0;
    int layers = 0;
    for (int k = 0; k < counts.length; k++) {
      double t = layer.layer(k);
      sum += counts[k] * t;
      least = Math.min(least, t);
      longest = Math.max(longest, t);
      layers += counts[k];
    }
    double most = pp == 1 ? sum : Math.max(sum / pp, Math.max(head, longest));
    if (pp > 1 && most < sum) {
      most = Math.max(most, slowest(layers, least, head, pp));
    }
    int m = c.batch().gradientAccumulation();
    double sends = sends(c, s, m);
    double parts =
        m * most + (sum - most) / d.vpp() + sends + exact.constants().step().fixedSeconds();
    return parts * (1 + exact.growth(d)) * exact.era().stack();
  }

  /** Sends of a plan with as many virtual stages as the candidate or fewer, at least. Seconds. */
  private double sends(Candidate c, Spread s, int m) {
    Dims d = c.dims();
    if (d.pp() <= 1) {
      return 0;
    }
    StepConstants.Step x = exact.constants().step();
    double t = exact.sendSeconds(c, s);
    double plain = 2 * (d.pp() - 1) + x.sends() * m;
    if (d.vpp() == 1) {
      return plain * t;
    }
    double shown = training.ppOverlap() ? x.sendsOverlapped() : 1;
    return Math.min(plain, 2 * d.pp() - 1 + 4.0 * m * shown) * t;
  }

  /** The slowest stage when whole layers, each at least {@code least}, share pp stages. */
  private static double slowest(int layers, double least, double head, int pp) {
    if (pp == 1) {
      return layers * least + head;
    }
    double best = Double.POSITIVE_INFINITY;
    int even = (layers + pp - 1) / pp;
    for (int n = 0; n <= even; n++) {
      int others = (layers - n + pp - 2) / (pp - 1);
      best = Math.min(best, Math.max(head + n * least, others * least));
    }
    return best;
  }

  private ShapeCosts costs(int tp, int cp, int microBatch) {
    return new ShapeCosts(
        ideal,
        kinds,
        new Shape(tp, cp, 1, 1, microBatch, Recompute.NONE, false, false, best(tp, cp)));
  }

  /** Tensor groups inside the domain as far as it reaches, context groups in what is left of it. */
  private Spread best(int tp, int cp) {
    int inside = Math.min(tp, ideal.domain);
    return new Spread(inside, Math.max(1, Math.min(cp, ideal.domain / inside)), 1, 1, 1, 0);
  }
}
