package dev.meshplan.study;

import dev.meshplan.estimate.MemoryModel;
import dev.meshplan.formats.ForeignPlan;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Batch;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.RecomputeOptions;
import dev.meshplan.plan.Training;
import dev.meshplan.units.Quantity;
import java.util.LinkedHashMap;
import java.util.Map;

/** The smallest change of a configuration that makes it fit. */
final class AuditCures {
  private AuditCures() {}

  /** The first change, cheapest in time first, that fits; or that none of them does. */
  static String smallest(
      Model model, Training training, Machine machine, ForeignPlan f, double usableBytes) {
    MemoryModel memory = new MemoryModel(model, training, machine, Audit.options(f));
    Dims d = f.dims();
    Layout layout = Layout.even(model, d.pp(), d.vpp(), f.mtpLayers());
    Map<String, Candidate> changes = new LinkedHashMap<>();
    int size = machine.system().domain().size();
    MemoryPlan m = f.memory();
    if (m.sharding() == 0) {
      changes.put(
          "shard the optimizer (level 1)",
          candidate(d, f.batch(), f, with(m, 1, m.recompute()), size));
    }
    RecomputeOptions.of(model, training.unfusedAttention())
        .forEach(
            (name, r) ->
                changes.put(
                    "recompute " + name,
                    candidate(d, f.batch(), f, with(m, m.sharding(), r), size)));
    int micro = f.batch().microBatch();
    if (micro > 1 && micro % 2 == 0) {
      Batch half = new Batch(micro / 2, f.batch().gradientAccumulation() * 2);
      changes.put("micro-batch " + micro / 2, candidate(d, half, f, m, size));
      changes.put(
          "micro-batch " + micro / 2 + " and full recompute",
          candidate(d, half, f, with(m, m.sharding(), Recompute.FULL), size));
    }
    if (m.sharding() < 3 && d.pp() == 1) {
      changes.put(
          "shard weights and gradients too (level 3)",
          candidate(d, f.batch(), f, with(m, 3, m.recompute()), size));
      changes.put(
          "sharding 3 and full recompute",
          candidate(d, f.batch(), f, with(m, 3, Recompute.FULL), size));
    }
    for (Map.Entry<String, Candidate> e : changes.entrySet()) {
      double bytes = memory.worstDeviceBytes(e.getValue(), layout);
      if (bytes <= 0.92 * usableBytes) {
        return e.getKey() + " (then " + Quantity.bytes(bytes) + ")";
      }
    }
    Gpu gpu = machine.gpu();
    return "more TP, PP or GPUs: neither recompute, a smaller micro-batch nor sharding alone makes"
        + " it fit a "
        + gpu.name();
  }

  private static MemoryPlan with(MemoryPlan m, int sharding, Recompute r) {
    return new MemoryPlan(sharding, 0, 0, r, m.optimizerOffload());
  }

  private static Candidate candidate(
      Dims d, Batch batch, ForeignPlan f, MemoryPlan memory, int block) {
    return new Candidate(d, batch, f.schedule(), memory, block, false);
  }
}
