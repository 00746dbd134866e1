package dev.meshplan.optimize;

import dev.meshplan.estimate.Estimator;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Axis;
import dev.meshplan.plan.EraDefaults;
import dev.meshplan.plan.Estimate;
import dev.meshplan.plan.Infeasible;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Plan;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Proof;
import dev.meshplan.plan.RuleKind;
import dev.meshplan.plan.RuleVerdict;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import java.util.ArrayList;
import java.util.List;

/**
 * Prices one given plan: the pinned axes as they are, the others 1 (dp derived from the GPUs), with
 * every rule it breaks.
 */
public final class GivenPlan {
  private GivenPlan() {}

  /**
   * The plan, its verdicts and its estimate; the estimate is null where a rule makes a tensor shape
   * or a group not whole, because then there is nothing to price.
   */
  public static Answer price(Problem problem, String version) {
    Space space = new Space(problem, problem.machines().get(0));
    Oracle oracle =
        new Oracle(problem, problem.machines().get(0), space, problem.request().locality());
    Point p = point(problem, space, oracle);
    List<RuleVerdict> verdicts = new ArrayList<>();
    List<Infeasible.CoreRule> broken = new ArrayList<>();
    boolean whole = true;
    for (Rule r : Outcomes.rules(problem, space)) {
      boolean memory = r.id().equals("memory");
      if (memory && !whole) {
        continue;
      }
      boolean holds = r.holds().test(oracle.facts, p);
      String sentence = r.at(oracle.facts, p);
      verdicts.add(
          new RuleVerdict(
              r.id(),
              r.kind(),
              sentence,
              r.source(),
              holds,
              memory || whole ? Binding.slack(r, oracle, p) : Double.NaN,
              false));
      if (!holds) {
        broken.add(new Infeasible.CoreRule(r.id(), r.kind(), sentence, r.source()));
        whole &= r.kind() != RuleKind.ILLEGAL;
      }
    }
    Plan plan = null;
    Estimate estimate = null;
    if (whole) {
      double seconds = oracle.seconds(p);
      Found found = new Found(p, oracle.value(p, seconds), seconds, oracle.unit(p));
      int fewest = oracle.supply.fewest(p.gpus(), p.block(), found.unit());
      plan = Outcomes.plan(oracle, found, Math.max(1, fewest));
      estimate =
          new Estimator(
                  problem.model(),
                  problem.request().training(),
                  oracle.machine,
                  oracle.time,
                  oracle.memory)
              .estimate(
                  plan,
                  Math.max(1, oracle.supply.workingPerDomain(p.gpus(), p.block(), found.unit())),
                  oracle.facts.limitBytes());
    }
    boolean legal = broken.isEmpty();
    Double value =
        estimate == null
            ? null
            : (Double)
                oracle.objectives.value(
                    estimate.stepSeconds(),
                    plan.placement().gpusUsed(),
                    plan.placement().gpusPaid());
    return new Answer(
        version,
        problem.request(),
        legal ? Outcome.FOUND : Outcome.INFEASIBLE,
        new Proof(
            legal ? Proof.Status.FEASIBLE : Proof.Status.INFEASIBLE,
            value,
            null,
            oracle.objectives.unit(),
            null,
            List.of(),
            1,
            1),
        plan,
        estimate,
        List.of(),
        verdicts,
        legal ? null : new Infeasible(broken, false, null, null),
        null,
        List.of(),
        problem.provenance(),
        List.of());
  }

  private static Point point(Problem problem, Space space, Oracle oracle) {
    Point p = new Point();
    for (Axis axis : Space.ORDER) {
      p.set(axis, 1);
    }
    p.set(Axis.RECOMPUTE, 0).set(Axis.SHARDING, sharding(problem, space));
    space.pins().forEach((axis, value) -> p.set(axis, value));
    if (!space.pins().containsKey(Axis.DP)) {
      long gpus =
          space.pins().getOrDefault(Axis.GPUS_USED, problem.machines().get(0).pool().gpus());
      p.set(Axis.DP, (int) Math.max(1, gpus / ((long) p.tp() * p.cp() * p.pp())));
    }
    if (!space.pins().containsKey(Axis.CP_INSIDE)) {
      p.set(Axis.CP_INSIDE, p.tp() * p.cp() <= oracle.supply.size() ? 1 : 0);
    }
    if (!space.pins().containsKey(Axis.BLOCK_GPUS)) {
      int group = Math.max(p.tp() * (p.cpInside() ? p.cp() : 1), p.ep() * p.etp());
      int[] blocks = space.values(Axis.BLOCK_GPUS);
      int block = blocks[blocks.length - 1];
      for (int i = blocks.length - 1; i >= 0; i--) {
        p.set(Axis.BLOCK_GPUS, blocks[i]);
        if (blocks[i] >= group && oracle.supply.fewest(p.gpus(), blocks[i], oracle.unit(p)) > 0) {
          block = blocks[i];
        }
      }
      p.set(Axis.BLOCK_GPUS, block);
    }
    return p;
  }

  private static int sharding(Problem problem, Space space) {
    int level = EraDefaults.of(problem.request().training().era()).sharding();
    for (int i = 0; i < space.shardings().size(); i++) {
      if (space.shardings().get(i).level() == level && !space.pins().containsKey(Axis.SHARDING)) {
        return i;
      }
    }
    return 0;
  }
}
