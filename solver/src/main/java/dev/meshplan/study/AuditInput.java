package dev.meshplan.study;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.formats.ForeignFile;
import dev.meshplan.formats.ForeignPlan;
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
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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
   * @throws InputException when it is not understood
   */
  public static AuditInput read(AuditQuestion q, Catalog catalog) {
    String file = q.file();
    int gpus = q.gpus();
    Errors errors = new Errors();
    Model named = q.model().isEmpty() ? null : model(catalog, q.model(), errors);
    SystemSpec spec =
        catalog
            .systems()
            .get(
                q.system(),
                errors,
                m -> {
                  throw new InputException("command line", "--system", q.system(), m);
                });
    errors.throwIfAny();
    int capability =
        catalog.gpus().get(spec.gpu(), errors, m -> {}).architecture().computeCapability();
    ForeignPlan plan =
        new ForeignFile(
                file, gpus, capability, named, n -> named(catalog, n), q.sequence(), q.given())
            .read(q.text(), q.launch());
    Model model = named != null ? named : plan.model();
    if (model == null) {
      throw new InputException(
          file,
          "",
          plan.modelName().isBlank() ? "" : plan.modelName().trim(),
          "does not say the model's shape: add --model ID (meshplan catalog models).");
    }
    PlanRequest request =
        new PlanRequest(
            catalog.models().ids().contains(model.id()) ? model.id() : "llama-3.1-8b",
            List.of(
                new Pool(
                    q.system(),
                    q.network(),
                    gpus,
                    0,
                    0,
                    List.of(),
                    List.of(),
                    List.of(),
                    Double.NaN)),
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

  /** The catalog's shape for a name such as {@code Qwen/Qwen3-30B-A3B-Instruct-2507}; or null. */
  private static Model named(Catalog catalog, String name) {
    String n =
        name.trim()
            .replaceAll("/+$", "")
            .replaceAll(".*/", "")
            .toLowerCase(Locale.ROOT)
            .replaceAll("^meta-", "")
            .replaceAll("[ _]", "-");
    Pattern suffix = Pattern.compile("-(instruct|chat|base|hf|mcore|it|pt|\\d{4}|v\\d[.\\d]*)$");
    List<String> known = catalog.models().names();
    while (!n.isEmpty()) {
      if (known.contains(n)) {
        return catalog.models().get(n, new Errors(), m -> {});
      }
      Matcher m = suffix.matcher(n);
      n = m.find() ? n.substring(0, m.start()) : "";
    }
    return null;
  }
}
