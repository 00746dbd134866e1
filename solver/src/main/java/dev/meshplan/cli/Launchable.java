package dev.meshplan.cli;

import dev.meshplan.formats.Export;
import dev.meshplan.formats.Exporters;
import dev.meshplan.formats.Job;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Problem;

/**
 * Tells with a plan whether its framework can be launched with it: some can't build every model.
 */
final class Launchable {
  private Launchable() {}

  /** The answer, with a remark where no launch file of its framework can hold the plan. */
  static Answer told(Answer answer, Problem problem) {
    if (answer.outcome() != Outcome.FOUND) {
      return answer;
    }
    Export e = Exporters.refused(Job.of(answer, problem, problem.model().id()));
    if (e == null) {
      return answer;
    }
    return answer.withNote(
        "No launch file for "
            + e.format().target()
            + " can hold this plan: "
            + e.refused()
            + ". Nearest: "
            + e.nearest()
            + ".");
  }
}
