package dev.meshplan.formats;

import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.Locality;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.RuleKind;
import dev.meshplan.plan.ShardingOptions;
import dev.meshplan.rules.Facts;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import dev.meshplan.rules.Rules;
import java.util.List;

/** A plan held to the rules of the framework that it is written for, whoever planned it. */
final class BrokenRules {
  private BrokenRules() {}

  /**
   * The first rule of a framework that a job's plan breaks, as a refusal; null when it keeps all.
   */
  static Refusal of(Job job, Framework framework) {
    Facts facts = facts(job, framework);
    Point p = point(job);
    for (Rule r : Rules.of(framework)) {
      boolean placed = r.scope().contains(Axis.BLOCK_GPUS) || r.kind() == RuleKind.DOES_NOT_FIT;
      if (!r.frameworks().isEmpty() && !placed && !r.holds().test(facts, p)) {
        return new Refusal(
            r.at(facts, p), "a plan made with training.framework " + framework.key());
      }
    }
    return null;
  }

  private static Facts facts(Job job, Framework framework) {
    MemoryPlan m = job.plan().memory();
    return new Facts(
        job.model(),
        Facts.attentions(job.model()),
        Facts.feedForwards(job.model()),
        job.training().withFramework(framework),
        job.machine(),
        Locality.PRICED,
        job.gpus(),
        Double.POSITIVE_INFINITY,
        List.of(m.recompute()),
        List.of(new ShardingOptions.Option(m.sharding(), m.shardGroup(), m.secondaryGroup())),
        p -> 0,
        p -> true);
  }

  private static Point point(Job job) {
    return Point.of(job.dims())
        .set(Axis.MICRO_BATCH, job.plan().batch().microBatch())
        .set(Axis.BLOCK_GPUS, job.plan().placement().blockGpus())
        .set(Axis.CP_INSIDE, job.plan().cpInside() ? 1 : 0);
  }
}
