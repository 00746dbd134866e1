package dev.meshplan.estimate;

import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.TimeTerm;
import dev.meshplan.units.Basis;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Splits a step that was just priced into named terms. */
final class Biller {
  private final StepTimeModel model;
  private final Basis kernels;
  private final List<TimeTerm> terms = new ArrayList<>();

  /**
   * @param kernels basis of the GPU's achieved fractions
   */
  Biller(StepTimeModel model, Basis kernels) {
    this.model = model;
    this.kernels = kernels;
  }

  StepBill bill(Candidate c, Layout layout, Spread s) {
    ShapeCosts costs = model.costs(c, s);
    int m = c.batch().gradientAccumulation();
    Basis era = kernels.weakest(model.era().basis());
    for (Part part : Part.values()) {
      double exposed = m * stage(costs, layout, part, false);
      double link = m * stage(costs, layout, part, true);
      if (exposed > 0 || link > 0) {
        add(
            part.id(),
            link > 0 ? link : exposed,
            exposed,
            String.format(
                Locale.ROOT,
                "%s: %s; %d micro-batches on stage %d",
                part.words,
                part.formula,
                m,
                model.slowest),
            era);
      }
    }
    StateTraffic states = model.states;
    add(
        "bubble",
        model.bubble,
        model.bubble,
        "fill and drain: the other stages once, by schedule " + c.schedule().key(),
        era);
    add(
        "pipeline_traffic",
        model.sendsLink,
        model.sends,
        "sends between stages, 2 tokens hidden bytes each",
        Basis.FITTED);
    add("weight_casts", model.casts, model.casts, "casting weights to low precision", Basis.FITTED);
    add(
        "sharded_traffic",
        states.shardedLink,
        states.shardedExposed,
        "gathering weights and scattering gradients, sharding " + c.memory().sharding(),
        model.era().basis());
    add(
        "data_traffic",
        states.dataLink,
        states.dataExposed,
        "reducing gradients and gathering updated weights over data parallel",
        Basis.FITTED);
    add(
        "optimizer",
        states.optimizer,
        states.optimizer,
        "bytes of the updated parameters / memory bandwidth",
        Basis.FITTED);
    double fixed = model.fixed(c.dims());
    add("step_overhead", fixed, fixed, "data, logging, synchronisation", Basis.FITTED);
    double parts = terms.stream().mapToDouble(TimeTerm::exposedSeconds).sum();
    double growth = parts * model.growth(c.dims());
    add("jitter", growth, growth, "growth per doubling of GPUs beyond 8", Basis.FITTED);
    double stack = (parts + growth) * (model.era().stack() - 1);
    add("software_stack", stack, stack, "factor of the stack on the whole step", era);
    Basis weakest = Basis.MEASURED;
    for (TimeTerm t : terms) {
      weakest = weakest.weakest(t.basis());
    }
    return new StepBill(model.step, terms, weakest);
  }

  private void add(String id, double link, double exposed, String formula, Basis basis) {
    if (exposed != 0 || link != 0) {
      terms.add(new TimeTerm(id, link, exposed, formula, basis));
    }
  }

  private double stage(ShapeCosts costs, Layout layout, Part part, boolean link) {
    int r = model.slowest;
    double sum = 0;
    for (int k = 0; k < costs.kinds.length; k++) {
      sum += layout.rankCount(r, k) * of(costs.kinds[k], part, link);
    }
    if (r == layout.lastRank()) {
      sum += (1 + layout.mtpLayers()) * of(costs.head, part, link);
      if (layout.mtpLayers() > 0) {
        sum += layout.mtpLayers() * of(costs.mtp, part, link);
      }
    }
    return sum;
  }

  private static double of(LayerCost c, Part part, boolean link) {
    int i = part.ordinal();
    return link ? c.link[i] : c.forward[i] + c.backward[i];
  }
}
