package dev.meshplan.study;

import dev.meshplan.formats.Finding;
import dev.meshplan.formats.ForeignPlan;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.Locality;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.RuleKind;
import dev.meshplan.plan.ShardingOptions;
import dev.meshplan.rules.Facts;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import dev.meshplan.rules.Rules;
import java.util.ArrayList;
import java.util.List;

/** The rules of the planner, asked of a configuration that somebody has. */
final class AuditRules {
  /**
   * Rules of the planner's space only, and one whose group of micro-batches a configuration may
   * set.
   */
  private static final List<String> OWN =
      List.of("vpp-micro-batches", "memory", "sharding-pipeline", "gpt-layers");

  /** Rules whose violation leaves a shape that can be priced. */
  private static final List<String> PRICEABLE =
      List.of(
          "batch-product",
          "tp-overlap",
          "expert-overlap",
          "expert-overlap-recompute",
          "expert-overlap-mtp");

  /** Axes whose values a cure may change; DP follows from the GPUs. */
  private static final List<Axis> FREE =
      List.of(Axis.TP, Axis.CP, Axis.PP, Axis.EP, Axis.ETP, Axis.VPP, Axis.MICRO_BATCH);

  private final ForeignPlan foreign;
  private final Framework framework;
  private final Facts facts;
  private final int world;

  private AuditRules(ForeignPlan foreign, Model model, Machine machine) {
    this.foreign = foreign;
    this.framework = foreign.training().framework();
    this.world = machine.pool().gpus();
    this.facts =
        new Facts(
            model,
            Facts.attentions(model),
            Facts.feedForwards(model),
            foreign.training(),
            machine,
            Locality.PRICED,
            world,
            Double.POSITIVE_INFINITY,
            List.of(foreign.memory().recompute()),
            List.of(
                new ShardingOptions.Option(
                    foreign.memory().sharding(),
                    foreign.memory().shardGroup(),
                    foreign.memory().secondaryGroup())),
            p -> 0,
            p -> true);
  }

  /** Adds broken rules; false when one leaves no whole shape to price. */
  static boolean add(ForeignPlan foreign, Model model, Machine machine, List<Finding> findings) {
    AuditRules a = new AuditRules(foreign, model, machine);
    Point p = a.point(machine.system().domain().size());
    boolean divides = findings.stream().noneMatch(f -> f.id().equals("world-product"));
    boolean whole = divides;
    for (Rule r : Rules.of(a.framework)) {
      // Where the degrees do not multiply up to the GPUs there is no DP to speak of.
      boolean told = divides || !r.scope().contains(Axis.DP);
      if (!told || OWN.contains(r.id()) || r.holds().test(a.facts, p)) {
        continue;
      }
      if (findings.stream().noneMatch(f -> f.id().equals(r.id()))) {
        String sentence = r.at(a.facts, p);
        findings.add(
            new Finding(
                r.id(),
                r.kind(),
                r.checkedByFramework(),
                sentence,
                AuditWords.says(r.id(), a.framework, model),
                sentence.contains("Nearest") ? "" : a.cure(r, p)));
      }
      whole &= r.kind() != RuleKind.ILLEGAL || PRICEABLE.contains(r.id());
    }
    return whole;
  }

  private Point point(int domain) {
    return Point.of(foreign.dims())
        .set(Axis.MICRO_BATCH, foreign.batch() == null ? 1 : foreign.batch().microBatch())
        .set(Axis.BLOCK_GPUS, domain);
  }

  /** The nearest values of one axis, the rest as it is, that keep the rule; or nothing. */
  private String cure(Rule r, Point p) {
    String told = AuditWords.cure(r.id());
    if (!told.isEmpty()) {
      return told;
    }
    List<String> cures = new ArrayList<>();
    for (Axis axis : FREE) {
      if (!r.scope().contains(axis) || cures.size() == 2) {
        continue;
      }
      int below = nearest(r, p, axis, -1);
      int above = nearest(r, p, axis, 1);
      if (below > 0 || above > 0) {
        cures.add(
            AuditWords.axis(axis, framework)
                + " "
                + (below > 0 && above > 0
                    ? below + " or " + above
                    : Integer.toString(Math.max(below, above))));
      }
    }
    return String.join(", or ", cures);
  }

  private int nearest(Rule r, Point p, Axis axis, int step) {
    for (int v = p.get(axis) + step; v > 0 && v <= 1024; v += step) {
      Point q = p.copy().set(axis, v);
      long others = (long) q.tp() * q.cp() * q.pp();
      if (world % others == 0 && r.holds().test(facts, q.set(Axis.DP, (int) (world / others)))) {
        return v;
      }
    }
    return 0;
  }
}
