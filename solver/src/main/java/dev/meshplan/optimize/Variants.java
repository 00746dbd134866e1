package dev.meshplan.optimize;

import dev.meshplan.plan.Limits;
import dev.meshplan.plan.Locality;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.PlanRequest;
import dev.meshplan.plan.Pool;
import dev.meshplan.plan.Problem;
import java.util.List;
import java.util.Map;

/** A problem with one thing changed. */
final class Variants {
  private Variants() {}

  /** The problem with another set of pins, locality or machines. */
  static Problem with(
      Problem problem, Map<String, String> fix, Locality locality, List<Machine> machines) {
    PlanRequest r = problem.request();
    List<Pool> pools = machines.stream().map(Machine::pool).toList();
    return new Problem(
        new PlanRequest(
            r.model(),
            pools,
            r.training(),
            r.objective(),
            locality,
            fix,
            r.limits(),
            r.alternatives()),
        problem.model(),
        machines,
        problem.provenance());
  }

  /** The problem with other limits. */
  static Problem limited(Problem problem, Limits limits) {
    PlanRequest r = problem.request();
    return new Problem(
        new PlanRequest(
            r.model(),
            r.cluster(),
            r.training(),
            r.objective(),
            r.locality(),
            r.fix(),
            limits,
            r.alternatives()),
        problem.model(),
        problem.machines(),
        problem.provenance());
  }

  /** The problem on so many healthy domains of its first pool, of which so many GPUs may work. */
  static Problem sized(Problem problem, int domains, int gpus) {
    Machine m = problem.machines().get(0);
    Pool p = m.pool();
    Pool more =
        new Pool(
            p.system(),
            p.network(),
            gpus,
            domains,
            p.sparesPerDomain(),
            List.of(),
            p.blocks(),
            p.cut(),
            p.dollarsPerGpuHour());
    return with(
        problem,
        problem.request().fix(),
        problem.request().locality(),
        List.of(new Machine(more, m.system(), m.gpu(), m.network())));
  }
}
