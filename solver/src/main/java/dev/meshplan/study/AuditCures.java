package dev.meshplan.study;

import dev.meshplan.estimate.MemoryModel;
import dev.meshplan.formats.ForeignPlan;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Batch;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.RecomputeOptions;
import dev.meshplan.plan.Training;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.List;

/** The smallest change of a configuration that makes it fit, in the words of its framework. */
final class AuditCures {
  private final Machine machine;
  private final ForeignPlan f;
  private final MemoryModel memory;
  private final Layout layout;
  private final CureWords words;
  private final double limitBytes;

  private AuditCures(
      Model model, Training training, Machine machine, ForeignPlan f, double usableBytes) {
    this.machine = machine;
    this.f = f;
    this.memory = new MemoryModel(model, training, machine, Audit.options(f));
    this.layout = Layout.even(model, f.dims().pp(), f.dims().vpp(), f.mtpLayers());
    this.words = new CureWords(training.framework());
    this.limitBytes = 0.92 * usableBytes;
  }

  /** The first change, cheapest in time first, that fits; or that none of them does. */
  static String smallest(
      Model model, Training training, Machine machine, ForeignPlan f, double usableBytes) {
    AuditCures c = new AuditCures(model, training, machine, f, usableBytes);
    List<Recompute> recomputes =
        new ArrayList<>(
            RecomputeOptions.of(
                    model, training.unfusedAttention(machine.gpu()), training.framework())
                .values());
    if (training.framework() == Framework.ANY) {
      recomputes.retainAll(List.of(Recompute.NONE, Recompute.FULL));
    } else if (training.framework() == Framework.TORCHTITAN) {
      recomputes.removeIf(
          r -> r.granularity() == Recompute.Granularity.SELECTIVE || r.share() == 0.75);
    }
    String cure = c.search(recomputes);
    return cure.isEmpty()
        ? "more GPUs or a higher tp or pp: neither recompute, a smaller micro-batch, sharding nor the"
            + " optimizer in host memory makes it fit a "
            + machine.gpu().name()
        : cure;
  }

  private String search(List<Recompute> recomputes) {
    MemoryPlan m = f.memory();
    Batch batch = f.batch();
    Batch half =
        batch.microBatch() % 2 == 0
            ? new Batch(batch.microBatch() / 2, 2 * batch.gradientAccumulation())
            : batch;
    List<Integer> levels = new ArrayList<>(List.of(m.sharding()));
    if (m.sharding() == 0) {
      levels.add(1);
    }
    if (m.sharding() < 3 && f.dims().pp() == 1) {
      levels.add(3);
    }
    for (int level : levels) {
      for (Batch b : half.equals(batch) ? List.of(batch) : List.of(batch, half)) {
        for (Recompute r : recomputes) {
          boolean less = r.granularity().compareTo(m.recompute().granularity()) < 0;
          Recompute now = less ? m.recompute() : r;
          String cure = tried(level, b, now, m.optimizerOffload());
          if (!cure.isEmpty()) {
            return cure;
          }
        }
      }
    }
    if (!words.offload() || f.training().tuning().adapters()) {
      return "";
    }
    for (int level : levels.stream().filter(n -> n > 0).toList()) {
      for (Recompute r : List.of(m.recompute(), Recompute.FULL)) {
        String cure = tried(level, batch, r, 1);
        if (!cure.isEmpty()) {
          return cure;
        }
      }
    }
    return "";
  }

  /** The change in words, or nothing where it does not fit. */
  private String tried(int level, Batch batch, Recompute r, double offload) {
    Dims d = f.dims();
    MemoryPlan m = f.memory();
    int group = level == m.sharding() ? m.shardGroup() : 0;
    Candidate c =
        new Candidate(
            d,
            batch,
            f.schedule(),
            new MemoryPlan(level, group, 0, r, offload),
            machine.system().domain().size(),
            false);
    double host = offload > m.optimizerOffload() ? memory.hostBytesPerNode(c, layout) : 0;
    double bytes = memory.worstDeviceBytes(c, layout);
    if (bytes > limitBytes || host > machine.system().host().memoryBytes()) {
      return "";
    }
    List<String> parts = new ArrayList<>();
    if (level != m.sharding()) {
      parts.add(words.sharding(level));
    }
    if (!batch.equals(f.batch())) {
      parts.add(words.microBatch(batch));
    }
    if (!r.equals(m.recompute())) {
      int most = layout.stages().stream().mapToInt(s -> s.layers()).max().orElse(1);
      parts.add(words.recompute(r, most));
    }
    if (host > 0) {
      parts.add(words.offload(Quantity.bytes(host)));
    }
    return parts.isEmpty()
        ? ""
        : String.join(" and ", parts) + " (then " + Quantity.bytes(bytes) + ")";
  }
}
