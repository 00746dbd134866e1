package dev.meshplan.optimize;

import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Alternative;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Estimate;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.Locality;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.MemoryTerm;
import dev.meshplan.plan.Objective;
import dev.meshplan.plan.Placement;
import dev.meshplan.plan.Plan;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Proof;
import dev.meshplan.plan.Stage;
import dev.meshplan.plan.StageMemory;
import dev.meshplan.plan.TimeTerm;
import dev.meshplan.plan.Training;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Everything that a found plan must satisfy, derived again from the definitions: degrees, batch,
 * layers, shapes, groups on real GPUs, what is paid, bytes of every rank, sums and the proof.
 * Shares no code with the rules, the search or the estimators.
 */
final class PlanCheck {
  private final Problem problem;
  private final Answer answer;
  private final Plan plan;
  private final Dims d;
  private final Model model;
  private final Training training;
  private final Machine machine;
  private final List<String> wrong = new ArrayList<>();

  private PlanCheck(Problem problem, Answer answer) {
    this.problem = problem;
    this.answer = answer;
    plan = answer.plan();
    d = plan.dims();
    model = problem.model();
    training = problem.request().training();
    machine =
        problem.machines().stream()
            .filter(m -> m.system().id().equals(plan.placement().pools().get(0).system()))
            .findFirst()
            .orElseThrow();
  }

  /** What is wrong with the answer's plan; empty when nothing is. */
  static List<String> violations(Problem problem, Answer answer) {
    PlanCheck c = new PlanCheck(problem, answer);
    c.degrees();
    c.layers();
    c.shapes();
    c.pipeline();
    c.groups();
    c.placement();
    c.memory();
    c.time();
    c.proof();
    return c.wrong;
  }

  private void require(boolean holds, String message) {
    if (!holds) {
      wrong.add(message);
    }
  }

  private void near(double expected, double actual, double share, String what) {
    require(
        Math.abs(actual - expected) <= share * Math.abs(expected),
        what + ": derived " + expected + ", answered " + actual);
  }

  private void degrees() {
    long ranks = (long) d.tp() * d.cp() * d.pp() * d.dp();
    require(ranks == plan.placement().gpusUsed(), "tp x cp x pp x dp is not the GPUs used");
    long stage = (long) d.tp() * d.cp() * d.dp();
    require(stage % ((long) d.ep() * d.etp()) == 0, "the expert grid does not cover a stage");
    require(
        (long) d.dp() * plan.batch().microBatch() * plan.batch().gradientAccumulation()
            == training.globalBatch(),
        "dp x micro-batch x accumulation is not the global batch");
    require(
        Math.min(Math.min(d.tp(), d.cp()), Math.min(d.ep(), Math.min(d.etp(), d.vpp()))) >= 1,
        "a degree is below one");
    problem
        .request()
        .fix()
        .forEach(
            (axis, value) -> {
              Integer is =
                  switch (axis) {
                    case "tp" -> d.tp();
                    case "cp" -> d.cp();
                    case "pp" -> d.pp();
                    case "dp" -> d.dp();
                    case "ep" -> d.ep();
                    case "etp" -> d.etp();
                    case "vpp" -> d.vpp();
                    case "micro_batch" -> plan.batch().microBatch();
                    default -> null;
                  };
              require(is == null || value.equals(is.toString()), axis + " is not as pinned");
            });
  }

  private void layers() {
    List<Stage> stages = plan.stages();
    require(stages.size() == d.pp() * d.vpp(), "not pp x vpp stages");
    int next = 0;
    int mtp = 0;
    for (int v = 0; v < stages.size(); v++) {
      Stage s = stages.get(v);
      boolean back = plan.schedule().shapedLikeV() && v / d.pp() % 2 == 1;
      int rank = back ? d.pp() - 1 - v % d.pp() : v % d.pp();
      require(s.rank() == rank, "virtual stage " + v + " on rank " + s.rank());
      require(s.chunk() == v / d.pp(), "chunk of virtual stage " + v);
      require(s.firstLayer() == next && s.layers() >= 0, "layers of stage " + v + " have a gap");
      require(s.embedding() == (v == 0), "embedding on stage " + v);
      require(s.loss() == (v == stages.size() - 1), "loss on stage " + v);
      require(s.mtpLayers() == 0 || s.loss(), "MTP before the last stage");
      next += s.layers();
      mtp += s.mtpLayers();
    }
    require(next == model.layerCount(), "stages hold " + next + " layers");
    require(mtp == model.mtpLayers(), "stages hold " + mtp + " MTP layers");
  }

  private void shapes() {
    for (LayerKind k : model.distinctKinds()) {
      Attention a = k.attention();
      if (a != null && a.softmax()) {
        require(a.heads() % d.tp() == 0, "heads not divisible by tp");
        if (a.mla() == null) {
          int kv = a.kvHeads();
          require(kv % d.tp() == 0 || d.tp() % kv == 0, "key-value heads against tp");
        }
      }
      FeedForward f = k.feedForward();
      if (f != null) {
        require(f.width() % d.tp() == 0, "MLP width not divisible by tp");
        require(f.sharedWidth() % d.tp() == 0, "shared width not divisible by tp");
        require(!f.moe() || f.experts() % d.ep() == 0, "experts not divisible by ep");
        require(!f.moe() || f.expertWidth() % d.etp() == 0, "expert width against etp");
      }
    }
    require(model.moe() || d.ep() * d.etp() == 1, "expert degrees without experts");
    require(d.cp() == 1 || training.sequence() % (2 * d.cp()) == 0, "sequence against cp");
    require(
        !training.sequenceParallel() || training.sequence() / d.cp() % d.tp() == 0,
        "sequence against cp x tp");
    require(machine.gpu().supports(training.precision()), "the GPU does not have the precision");
  }

  private void pipeline() {
    int m = plan.batch().gradientAccumulation();
    require(d.vpp() == 1 || d.pp() > 1, "virtual stages without a pipeline");
    if (training.framework() == Framework.MEGATRON && d.vpp() > 1) {
      require(m % d.pp() == 0, "interleaving needs accumulation in multiples of pp");
    }
    if (training.framework() == Framework.DEEPSPEED) {
      require(d.vpp() == 1, "DeepSpeed has no virtual stages");
      require(d.pp() == 1 || plan.memory().sharding() <= 1, "DeepSpeed: ZeRO 2 or 3 with PP");
    }
  }

  /** Puts ranks on GPUs one by one and looks whether groups stay together. */
  private void groups() {
    int block = plan.placement().blockGpus();
    int domain = machine.system().domain().size();
    require(block <= domain, "block larger than its domain");
    if (problem.request().locality() != Locality.STRICT) {
      return;
    }
    int dense = d.tp() * (plan.cpInside() ? d.cp() : 1);
    int expert = d.ep() * d.etp();
    int unit = dense;
    while (unit % expert != 0) {
      unit += dense;
    }
    require(unit <= block, "no unit of " + unit + " fits a block of " + block);
    if (unit > block) {
      return;
    }
    int working = block / unit * unit;
    int stage = d.tp() * d.cp() * d.dp();
    Set<String> seen = new HashSet<>();
    for (int rank = 0; rank < plan.placement().gpusUsed(); rank++) {
      int inStage = rank % stage;
      int first = rank - inStage;
      int home = rank / working;
      int ofDense = first + inStage / dense * dense;
      int ofExpert = first + inStage / expert * expert;
      require(ofDense / working == home, "a tensor group crosses blocks at rank " + rank);
      require(ofExpert / working == home, "an expert group crosses blocks at rank " + rank);
      seen.add(Integer.toString(home));
    }
    int perDomain = domain / block;
    int blocks = seen.size();
    boolean whole = machine.pool().healthy().isEmpty() && machine.pool().sparesPerDomain() == 0;
    if (whole && perDomain > 0) {
      require(
          plan.placement().domainsUsed() >= (blocks + perDomain - 1) / perDomain,
          blocks + " blocks do not fit " + plan.placement().domainsUsed() + " domains");
    }
  }

  private void placement() {
    Placement p = plan.placement();
    SystemSpec system = machine.system();
    require(p.gpusIdle() == p.gpusPaid() - p.gpusUsed(), "idle is not paid - used");
    require(p.gpusIdle() >= 0, "more GPUs used than paid");
    int paid = 0;
    int used = 0;
    int domains = 0;
    for (Placement.PoolUse u : p.pools()) {
      used += u.gpusUsed();
      domains += u.domainsUsed();
      paid += u.domainsUsed() * system.domain().size();
    }
    require(used == p.gpusUsed(), "pools do not use the GPUs used");
    require(domains == p.domainsUsed(), "pools do not touch the domains used");
    require(p.pools().size() > 1 || paid == p.gpusPaid(), "paid is not every GPU touched");
    int most = machine.pool().gpus();
    require(most == 0 || p.pools().size() > 1 || p.gpusUsed() <= most, "more GPUs than asked");
  }

  private void memory() {
    Estimate e = answer.estimate();
    double usable = machine.gpu().usableMemoryBytes().value();
    double limit = problem.request().limits().memoryShare() * usable;
    near(limit, e.limitBytes(), 1e-9, "limit");
    double worst = 0;
    boolean plain =
        model.distinctKinds().stream()
            .allMatch(
                k ->
                    k.attention() != null
                        && k.attention().softmax()
                        && !k.attention().gate()
                        && k.attention().sharedKv() == 1
                        && k.feedForward() != null
                        && (!k.feedForward().moe()
                            || (k.feedForward().width() == 0
                                && !k.feedForward().bias()
                                && k.feedForward().latentWidth() == 0)));
    PlainMemory second = new PlainMemory(model, training, plan, machine.gpu());
    require(e.memoryStages().size() == d.pp(), "not one memory line per rank");
    for (StageMemory s : e.memoryStages()) {
      require(s.deviceBytes() <= limit, "rank " + s.stage() + " is over the limit");
      require(
          s.allocatorBytes() <= s.reservedBytes() && s.reservedBytes() <= s.deviceBytes(),
          "readings of rank " + s.stage() + " fall");
      worst = Math.max(worst, s.deviceBytes());
      if (plain) {
        near(
            second.deviceBytes(s.stage()),
            s.deviceBytes(),
            1e-9,
            "device bytes of rank " + s.stage() + " of " + plan);
      }
    }
    near(worst, e.peakMemoryBytes(), 1e-12, "peak memory");
    double sum = e.memoryTerms().stream().mapToDouble(MemoryTerm::bytes).sum();
    near(worst, sum, 1e-9, "sum of memory terms");
  }

  private void time() {
    Estimate e = answer.estimate();
    double exposed = e.timeTerms().stream().mapToDouble(TimeTerm::exposedSeconds).sum();
    near(e.stepSeconds(), exposed, 1e-6, "sum of exposed seconds");
    double tokens = (double) training.globalBatch() * training.sequence();
    near(tokens / e.stepSeconds(), e.tokensPerSecond(), 1e-9, "tokens per second");
    near(
        tokens / e.stepSeconds() / plan.placement().gpusUsed(),
        e.tokensPerSecondPerGpu(),
        1e-9,
        "tokens per second and GPU");
    require(e.stepSeconds() > 0 && e.mfu() > 0 && e.mfu() < 1, "MFU " + e.mfu());
    for (TimeTerm term : e.timeTerms()) {
      require(term.exposedSeconds() >= -1e-12 && !term.formula().isBlank(), "term " + term.id());
    }
  }

  private void proof() {
    Proof p = answer.proof();
    if (p.status() == Proof.Status.OPTIMAL) {
      near(p.objectiveValue(), p.boundValue(), 1e-9, "bound");
      require(Math.abs(p.gap()) <= 1e-9, "gap of a proven plan");
    }
    if (problem.request().objective() == Objective.TIME) {
      near(answer.estimate().stepSeconds(), p.objectiveValue(), 1e-6, "objective");
    }
    for (Alternative a : answer.alternatives()) {
      require(a.objectiveValue() >= p.objectiveValue() * (1 - 1e-9), "a better alternative");
      require(!a.plan().dims().equals(d), "an alternative with the same degrees");
      require(a.peakMemoryBytes() <= answer.estimate().limitBytes(), "alternative over the limit");
    }
    require(answer.rules().stream().allMatch(r -> r.satisfied()), "a rule does not hold");
  }
}
