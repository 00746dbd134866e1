package dev.meshplan.study;

import dev.meshplan.communication.Communication;
import dev.meshplan.communication.Fabric;
import dev.meshplan.estimate.ErrorBands;
import dev.meshplan.estimate.Estimator;
import dev.meshplan.estimate.MemoryModel;
import dev.meshplan.estimate.MemoryOptions;
import dev.meshplan.estimate.Spread;
import dev.meshplan.estimate.StepTimeModel;
import dev.meshplan.formats.Finding;
import dev.meshplan.formats.ForeignPlan;
import dev.meshplan.formats.MegatronDispatcherChecks;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.model.Model;
import dev.meshplan.optimize.Planner;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Estimate;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Placement;
import dev.meshplan.plan.Plan;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.RuleKind;
import dev.meshplan.plan.Training;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;

/** Judges a configuration that somebody has: legal, fits, local, fast. */
public final class Audit {
  private final ForeignPlan foreign;
  private final Problem problem;
  private final Machine machine;
  private final Model model;
  private final Training training;
  private final MemoryModel memory;
  private final List<Finding> findings;
  private final List<String> notes;

  private Audit(ForeignPlan foreign, Problem problem) {
    this.foreign = foreign;
    this.problem = problem;
    this.machine = problem.machines().get(0);
    this.model = problem.model();
    this.training = priced(foreign);
    this.memory = new MemoryModel(model, training, machine, options(foreign));
    this.findings = new ArrayList<>(foreign.findings());
    this.notes = new ArrayList<>(foreign.notes());
    if (foreign.adapters() != null) {
      notes.add(
          "adapters of rank "
              + foreign.adapters().rank()
              + (foreign.adapters().everywhere()
                  ? " on every linear layer"
                  : " on the query, key and value projections")
              + ": the frozen weights have no gradients and no optimizer states");
    }
    findings.addAll(MegatronDispatcherChecks.of(foreign, machine.system()));
  }

  /**
   * The report.
   *
   * @param problem the same job on the same GPUs, for the planner
   * @param search whether the best plan is looked for too
   * @param version of the product
   */
  public static AuditReport of(
      ForeignPlan foreign, Problem problem, boolean search, String version) {
    return new Audit(foreign, problem).report(search, version);
  }

  /** The job with the batch that its micro-batches make, where the one asked for is none. */
  private static Training priced(ForeignPlan f) {
    Training t = f.training();
    if (f.batch() == null) {
      return t;
    }
    return t.withGlobalBatch(
        f.dims().dp() * f.batch().microBatch() * f.batch().gradientAccumulation());
  }

  static MemoryOptions options(ForeignPlan f) {
    MemoryOptions usual = MemoryOptions.of(f.training());
    return f.adapters() == null ? usual : usual.withAdapters(f.adapters());
  }

  /** A price, or a note why there is none; where no rule is broken that is the answer. */
  private <T> T priced(Supplier<T> price) {
    try {
      return price.get();
    } catch (NoCostModel e) {
      if (findings.stream().noneMatch(f -> f.kind() == RuleKind.ILLEGAL)) {
        throw e;
      }
      notes.add("not priced: " + e.getMessage());
      return null;
    }
  }

  private AuditReport report(boolean search, String version) {
    Plan plan = null;
    Estimate estimate = null;
    AuditReport.Fit fit = AuditReport.Fit.UNKNOWN;
    List<String> lines = new ArrayList<>();
    List<String> crossings = new ArrayList<>();
    boolean whole = AuditRules.add(foreign, model, machine, findings);
    whole &= foreign.batch() != null;
    Layout layout = whole ? layout() : null;
    if (layout != null) {
      plan = plan(layout);
      if (training.globalBatch() != foreign.training().globalBatch()) {
        notes.add("priced with a global batch of " + training.globalBatch());
      }
      Plan taken = plan;
      estimate = priced(() -> estimate(taken));
    }
    if (estimate != null) {
      Spread spread = Spread.of(foreign.dims(), working(), false);
      fit = AuditFit.of(estimate, machine.gpu().usableMemoryBytes().value(), lines);
      if (fit == AuditReport.Fit.DOES_NOT_FIT) {
        outOfMemory(estimate);
      } else if (fit == AuditReport.Fit.TIGHT) {
        lines.add("safe with: " + cure());
      }
      crossings.addAll(
          AuditCrossings.of(foreign.dims(), spread, estimate, machine.system().domain().size()));
    }
    Answer best = search ? priced(() -> new Planner(version, (n, b, l) -> {}).plan(problem)) : null;
    double seconds = Double.NaN;
    double gain = Double.NaN;
    if (best != null && best.plan() != null) {
      seconds = best.estimate().stepSeconds();
      gain = estimate == null ? Double.NaN : 1 - seconds / estimate.stepSeconds();
    } else if (best != null) {
      notes.add(
          "no plan for this job on these GPUs was found"
              + (foreign.memory().optimizerOffload() > 0
                  ? " that keeps the optimizer on them; offload is not searched"
                  : ": meshplan plan says why"));
    }
    findings.sort(
        Comparator.comparing((Finding f) -> f.kind()).thenComparing(f -> f.checked() ? 0 : 1));
    return new AuditReport(
        foreign.kind(),
        plan,
        findings,
        estimate,
        fit,
        lines,
        crossings,
        best == null ? null : best.plan(),
        seconds,
        gain,
        ErrorBands.paired(model),
        best == null || best.plan() == null ? List.of() : AuditChanges.of(foreign, best, problem),
        notes);
  }

  private Layout layout() {
    Dims d = foreign.dims();
    int mtp = d.pp() > 1 || model.mtpLayers() > 0 ? foreign.mtpLayers() : 0;
    int stages = d.pp() * d.vpp();
    int sum = foreign.stageLayers().stream().mapToInt(n -> n).sum();
    boolean v = foreign.schedule().shapedLikeV();
    if (foreign.stageLayers().size() == stages && sum == model.layerCount()) {
      int[] layers = foreign.stageLayers().stream().mapToInt(n -> n).toArray();
      return Layout.of(model, d.pp(), d.vpp(), layers, mtp, v);
    }
    if (stages > 1 && !foreign.stageLayers().isEmpty()) {
      notes.add("the stages of the file do not cover the model's layers; an even split is priced");
    }
    return Layout.even(model, d.pp(), d.vpp(), mtp);
  }

  /** Ranks in one domain: the launch fills domains one after the other. */
  private int working() {
    return (int) Math.min(machine.system().domain().size(), foreign.dims().gpus());
  }

  private Plan plan(Layout layout) {
    int size = machine.system().domain().size();
    int used = (int) foreign.dims().gpus();
    int domains = (used + size - 1) / size;
    String id = machine.system().id();
    return new Plan(
        foreign.dims(),
        foreign.batch(),
        foreign.schedule(),
        foreign.memory(),
        layout.stages(),
        false,
        new Placement(
            domains * size,
            used,
            domains * size - used,
            size,
            domains,
            List.of(new Placement.PoolUse(0, id, size, domains, used)),
            "tp-cp-ep-dp-pp"));
  }

  private Estimate estimate(Plan plan) {
    Communication communication =
        new Communication(Fabric.of(machine.system(), machine.gpu(), machine.network()));
    StepTimeModel time = new StepTimeModel(model, training, machine, communication);
    double limit =
        problem.request().limits().memoryShare() * machine.gpu().usableMemoryBytes().value();
    return new Estimator(model, training, machine, time, memory).estimate(plan, working(), limit);
  }

  private void outOfMemory(Estimate e) {
    double usable = machine.gpu().usableMemoryBytes().value();
    findings.add(
        new Finding(
            "memory",
            RuleKind.DOES_NOT_FIT,
            false,
            "the worst rank needs "
                + Quantity.bytes(e.peakMemoryBytes())
                + ", the GPU has "
                + Quantity.bytes(usable),
            "CUDA out of memory",
            cure()));
  }

  private String cure() {
    return AuditCures.smallest(
        model, training, machine, foreign, machine.gpu().usableMemoryBytes().value());
  }
}
