package dev.meshplan.formats;

import dev.meshplan.config.InputException;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Placement;
import dev.meshplan.plan.Plan;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Stage;
import dev.meshplan.plan.Training;
import java.util.List;

/**
 * An answer with what its ids stand for: all that an exporter needs.
 *
 * @param answer with a plan
 * @param model of it
 * @param machines the pools of its request, in order
 * @param name of the job, as the user wants it; may hold any character
 */
public record Job(Answer answer, Model model, List<Machine> machines, String name) {
  public Job {
    machines = List.copyOf(machines);
    if (answer.plan() == null) {
      throw new InputException(
          "answer",
          "outcome",
          answer.outcome().key(),
          "holds no plan, so there is nothing to export.");
    }
  }

  /** The job of an answer to a problem. */
  public static Job of(Answer answer, Problem problem, String name) {
    return new Job(answer, problem.model(), problem.machines(), name);
  }

  Plan plan() {
    return answer.plan();
  }

  Dims dims() {
    return answer.plan().dims();
  }

  Training training() {
    return answer.request().training();
  }

  /** The hardware that the plan stands on, one pool of those in the request. */
  Machine machine() {
    return machine(plan().placement().pools().get(0));
  }

  /** The hardware of a part of the placement. */
  Machine machine(Placement.PoolUse use) {
    return machines.get(use.pool());
  }

  SystemSpec system() {
    return machine().system();
  }

  Gpu gpu() {
    return machine().gpu();
  }

  int gpusPerNode() {
    return system().gpusPerNode();
  }

  /** GPUs that work. */
  int gpus() {
    return (int) dims().gpus();
  }

  boolean moe() {
    return model.moe();
  }

  /** The experts of the model, or null. */
  FeedForward experts() {
    return model.distinctKinds().stream()
        .filter(LayerKind::moe)
        .map(LayerKind::feedForward)
        .findFirst()
        .orElse(null);
  }

  /** Layers of each virtual stage, in order of the forward pass. */
  List<Integer> stageLayers() {
    return plan().stages().stream().map(Stage::layers).toList();
  }

  int mtpLayers() {
    return plan().stages().stream().mapToInt(Stage::mtpLayers).sum();
  }

  /** Whether all virtual stages have equally many layers. */
  boolean evenStages() {
    return stageLayers().stream().distinct().count() == 1;
  }

  /** Layers of every rank when plain pipeline stages hold no MTP. */
  boolean plainStages() {
    return evenStages() && (mtpLayers() == 0 || dims().pp() == 1);
  }

  /** Header lines for a file: what it is, of which plan, for which version. */
  List<String> header(Format format) {
    return List.of(
        "meshplan " + answer.version() + ": " + name,
        "model " + model.id() + ", " + gpus() + " GPUs of " + system().id(),
        dims().text()
            + ", micro-batch "
            + plan().batch().microBatch()
            + " x "
            + plan().batch().gradientAccumulation(),
        "for " + format.target());
  }

  /** The header and what the reader should know, as comment lines. */
  String comment(Format format, List<String> notes) {
    StringBuilder s = new StringBuilder();
    header(format).forEach(l -> s.append("# ").append(Quoting.comment(l)).append('\n'));
    notes.forEach(n -> s.append("# note: ").append(Quoting.comment(n)).append('\n'));
    return s.toString();
  }
}
