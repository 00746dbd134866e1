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
import dev.meshplan.model.Model;
import dev.meshplan.optimize.Planner;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Estimate;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Locality;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.MemoryTerm;
import dev.meshplan.plan.Placement;
import dev.meshplan.plan.Plan;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.RuleKind;
import dev.meshplan.plan.ShardingOptions;
import dev.meshplan.plan.Training;
import dev.meshplan.rules.Facts;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import dev.meshplan.rules.Rules;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Judges a configuration that somebody has: legal, fits, local, fast. */
public final class Audit {
  /**
   * Rules of the planner's space only, and one whose group of micro-batches a configuration may
   * set.
   */
  private static final List<String> OWN =
      List.of("vpp-micro-batches", "memory", "sharding-pipeline", "gpt-layers");

  /** Rules whose violation leaves a shape that can be priced. */
  private static final List<String> PRICEABLE =
      List.of("batch-product", "tp-overlap", "expert-overlap", "expert-overlap-recompute");

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
    if (f.dims() == null || f.batch() == null) {
      return t;
    }
    return t.withGlobalBatch(
        f.dims().dp() * f.batch().microBatch() * f.batch().gradientAccumulation());
  }

  static MemoryOptions options(ForeignPlan f) {
    MemoryOptions usual = MemoryOptions.of(f.training());
    return f.adapters() == null ? usual : usual.withAdapters(f.adapters());
  }

  private AuditReport report(boolean search, String version) {
    Plan plan = null;
    Estimate estimate = null;
    AuditReport.Fit fit = AuditReport.Fit.UNKNOWN;
    List<String> lines = new ArrayList<>();
    List<String> crossings = new ArrayList<>();
    boolean whole = foreign.dims() != null && rules(foreign.dims());
    whole &= foreign.batch() != null;
    Layout layout = whole ? layout() : null;
    if (layout != null) {
      plan = plan(layout);
      if (training.globalBatch() != foreign.training().globalBatch()) {
        notes.add("priced with a global batch of " + training.globalBatch());
      }
      Spread spread = Spread.of(foreign.dims(), working(), false);
      estimate = estimate(plan);
      fit = fit(estimate, lines);
      crossings.addAll(
          AuditCrossings.of(foreign.dims(), spread, estimate, machine.system().domain().size()));
    }
    Answer best = search ? new Planner(version, (n, b, l) -> {}).plan(problem) : null;
    double seconds = Double.NaN;
    double gain = Double.NaN;
    if (best != null && best.plan() != null) {
      seconds = best.estimate().stepSeconds();
      gain = estimate == null ? Double.NaN : 1 - seconds / estimate.stepSeconds();
    } else if (best != null) {
      notes.add("no plan for this job on these GPUs was found: meshplan plan says why");
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

  /** Adds broken rules; false when one leaves no whole shape to price. */
  private boolean rules(Dims d) {
    Facts facts =
        new Facts(
            model,
            Facts.attentions(model),
            Facts.feedForwards(model),
            foreign.training(),
            machine,
            Locality.PRICED,
            machine.pool().gpus(),
            Double.POSITIVE_INFINITY,
            List.of(foreign.memory().recompute()),
            List.of(
                new ShardingOptions.Option(
                    foreign.memory().sharding(),
                    foreign.memory().shardGroup(),
                    foreign.memory().secondaryGroup())),
            p -> 0,
            p -> true);
    Point p = new Point();
    int[] values = {d.tp(), d.cp(), d.pp(), d.dp(), d.ep(), d.etp(), d.vpp()};
    Axis[] axes = {Axis.TP, Axis.CP, Axis.PP, Axis.DP, Axis.EP, Axis.ETP, Axis.VPP};
    for (int i = 0; i < axes.length; i++) {
      p.set(axes[i], values[i]);
    }
    p.set(Axis.MICRO_BATCH, foreign.batch() == null ? 1 : foreign.batch().microBatch())
        .set(Axis.SHARDING, 0);
    p.set(Axis.RECOMPUTE, 0).set(Axis.BLOCK_GPUS, machine.system().domain().size());
    boolean whole = findings.stream().noneMatch(f -> f.id().equals("world-product"));
    for (Rule r : Rules.of(training.framework())) {
      if (OWN.contains(r.id()) || r.holds().test(facts, p)) {
        continue;
      }
      String id = r.id();
      if (findings.stream().noneMatch(f -> f.id().equals(id))) {
        findings.add(
            new Finding(
                id,
                r.kind(),
                r.checkedByFramework(),
                r.at(facts, p),
                AuditWords.says(id, training.framework(), model),
                AuditWords.cure(id)));
      }
      whole &= r.kind() != RuleKind.ILLEGAL || PRICEABLE.contains(id);
    }
    return whole;
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

  private AuditReport.Fit fit(Estimate e, List<String> lines) {
    double usable = machine.gpu().usableMemoryBytes().value();
    int worst = 0;
    for (int i = 1; i < e.memoryStages().size(); i++) {
      if (e.memoryStages().get(i).deviceBytes() > e.memoryStages().get(worst).deviceBytes()) {
        worst = i;
      }
    }
    lines.add(
        "pipeline rank "
            + worst
            + " needs "
            + Quantity.bytes(e.peakMemoryBytes())
            + " of "
            + Quantity.bytes(usable)
            + " usable ("
            + Quantity.percent(e.peakMemoryBytes() / usable)
            + ")");
    e.memoryTerms().stream()
        .sorted(Comparator.comparingDouble((MemoryTerm t) -> -t.bytes()))
        .limit(6)
        .forEach(t -> lines.add(t.id() + ": " + Quantity.bytes(t.bytes())));
    if (e.peakMemoryBytes() <= e.limitBytes()) {
      return AuditReport.Fit.FITS;
    }
    if (e.peakMemoryBytes() <= 1.02 * usable) {
      return AuditReport.Fit.TIGHT;
    }
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
            AuditCures.smallest(model, training, machine, foreign, usable)));
    return AuditReport.Fit.DOES_NOT_FIT;
  }
}
