package dev.meshplan.cli;

import dev.meshplan.formats.Export;
import dev.meshplan.formats.Exporters;
import dev.meshplan.formats.Format;
import dev.meshplan.formats.Job;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Problem;
import java.util.List;

/**
 * Tells with a plan whether its framework can be launched with it: some can't build every model.
 */
final class Launchable {
  private Launchable() {}

  /** The answer, with a remark where no launch file of its framework can hold the plan. */
  static Answer told(Answer answer, Problem problem) {
    Framework framework = problem.request().training().framework();
    List<Format> formats = formats(framework);
    if (answer.outcome() != Outcome.FOUND || formats.isEmpty()) {
      return answer;
    }
    Job job = Job.of(answer, problem, problem.model().id());
    Export first = null;
    for (Format format : formats) {
      Export e = Exporters.export(format, job, false);
      if (e.ok()) {
        return answer;
      }
      first = first == null ? e : first;
    }
    return answer.withNote(
        "No launch file for "
            + first.format().target()
            + " can hold this plan: "
            + first.refused()
            + ". Nearest: "
            + first.nearest()
            + ".");
  }

  private static List<Format> formats(Framework framework) {
    return switch (framework) {
      case MEGATRON -> List.of(Format.MEGATRON, Format.MEGATRON_BRIDGE);
      case DEEPSPEED -> List.of(Format.DEEPSPEED);
      case TORCHTITAN -> List.of(Format.TORCHTITAN);
      case ANY -> List.of();
    };
  }
}
