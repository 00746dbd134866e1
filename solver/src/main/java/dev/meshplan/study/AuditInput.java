package dev.meshplan.study;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.formats.DeepSpeedReader;
import dev.meshplan.formats.ForeignPlan;
import dev.meshplan.formats.MegatronReader;
import dev.meshplan.formats.TorchTitanReader;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Precision;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.Limits;
import dev.meshplan.plan.Locality;
import dev.meshplan.plan.Objective;
import dev.meshplan.plan.PlanRequest;
import dev.meshplan.plan.Pool;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Problems;
import dev.meshplan.plan.Training;
import java.util.List;
import java.util.Map;

/**
 * What an audit is asked: the file's plan, and the same job on the same GPUs.
 *
 * @param plan read from the file
 * @param problem for rules, prices and the best plan
 */
public record AuditInput(ForeignPlan plan, Problem problem) {

  /**
   * Reads a configuration.
   *
   * @param file names it in messages
   * @param system id of the system it runs on
   * @param gpus of the job
   * @param modelId catalog id; empty = the shape in the file
   * @param sequence tokens per sequence, where the file does not say (DeepSpeed); 0 = not given
   * @param launch launch arguments beside a DeepSpeed JSON; empty = none
   * @throws InputException when it is not understood
   */
  public static AuditInput read(
      String file,
      String text,
      Catalog catalog,
      String system,
      int gpus,
      String modelId,
      int sequence,
      String launch) {
    Errors errors = new Errors();
    Model named = modelId.isEmpty() ? null : model(catalog, modelId, errors);
    SystemSpec spec =
        catalog
            .systems()
            .get(
                system,
                errors,
                m -> {
                  throw new InputException("command line", "--system", system, m);
                });
    errors.throwIfAny();
    int capability =
        catalog.gpus().get(spec.gpu(), errors, m -> {}).architecture().blackwell() ? 10 : 9;
    ForeignPlan plan = plan(file, text, gpus, capability, named, sequence, launch);
    Model model = named != null ? named : plan.model();
    if (model == null) {
      throw new InputException(
          file,
          "",
          "",
          "does not say the model's shape: add --model ID (meshplan catalog models).");
    }
    PlanRequest request =
        new PlanRequest(
            named == null ? "llama-3.1-8b" : modelId,
            List.of(new Pool(system, "", gpus, 0, 0, List.of(), List.of(), List.of(), Double.NaN)),
            supported(plan.training(), catalog.gpus().get(spec.gpu(), errors, m -> {})),
            Objective.TIME,
            Locality.STRICT,
            Map.of(),
            new Limits(0.92, 4_000_000),
            3);
    Problem problem = Problems.resolve(request, catalog, file, errors);
    errors.throwIfAny();
    return new AuditInput(
        plan, new Problem(problem.request(), model, problem.machines(), problem.provenance()));
  }

  /** The job in a number format that the GPU has; the audit itself says when it was another. */
  private static Training supported(Training t, Gpu gpu) {
    if (gpu.supports(t.precision())) {
      return t;
    }
    return t.withPrecision(gpu.supports(Precision.BF16) ? Precision.BF16 : Precision.FP16);
  }

  private static Model model(Catalog catalog, String id, Errors errors) {
    return catalog
        .models()
        .get(
            id,
            errors,
            m -> {
              throw new InputException("command line", "--model", id, m);
            });
  }

  private static ForeignPlan plan(
      String file,
      String text,
      int gpus,
      int capability,
      Model named,
      int sequence,
      String launch) {
    String start = text.stripLeading();
    if (start.startsWith("{")) {
      ForeignPlan around =
          launch.isEmpty()
              ? null
              : MegatronReader.read("launch", launch, gpus, capability, Map.of());
      boolean degrees = around != null && around.dims() != null;
      int seq = sequence > 0 ? sequence : around == null ? 0 : around.training().sequence();
      if (seq <= 1) {
        throw new InputException(
            file, "", "", "a DeepSpeed configuration names no sequence length: add --sequence N.");
      }
      return DeepSpeedReader.read(
          file,
          text,
          gpus,
          degrees ? around.dims().tp() : 1,
          degrees ? around.dims().pp() : 1,
          degrees ? Math.max(1, sp(around)) : 1,
          named != null ? named : around == null ? null : around.model(),
          seq);
    }
    boolean titan =
        text.contains("--parallelism.")
            || text.contains("--training.")
            || text.matches("(?s).*^\\[(parallelism|training)\\].*")
            || text.contains("\n[parallelism]")
            || text.contains("\n[training]");
    return titan
        ? TorchTitanReader.read(file, text, gpus, named)
        : MegatronReader.read(file, text, gpus, capability, Map.of());
  }

  private static int sp(ForeignPlan around) {
    String s = around.flags().getOrDefault("--ds-sequence-parallel-size", "1");
    return s.matches("\\d{1,6}") ? Integer.parseInt(s) : 1;
  }
}
