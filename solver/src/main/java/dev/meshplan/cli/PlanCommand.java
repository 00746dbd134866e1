package dev.meshplan.cli;

import dev.meshplan.config.Text;
import dev.meshplan.optimize.Planner;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Proof;
import dev.meshplan.study.Version;
import dev.meshplan.units.Quantity;
import dev.meshplan.view.PlanText;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The cheapest feasible plan. */
@Command(
    name = "plan",
    mixinStandardHelpOptions = true,
    description = "Find the cheapest feasible plan, with its proof.",
    footer = {
      "",
      "Examples:",
      "  meshplan plan plans/llama-3.1-8b-hgx-h100/request.yaml",
      "  meshplan plan --model deepseek-v3 --system gb200-nvl72 --gpus 256 --global-batch 4096"
          + " --sequence 4096 --precision mxfp8",
      "  meshplan plan --model llama-3.1-70b --system hgx-h100 --gpus 64 --global-batch 256"
          + " --sequence 8192 --fix tp=8 --json"
    })
final class PlanCommand implements Callable<Integer> {
  /** A line a second about a search that takes longer than one. */
  private static final class Talk {
    private static final long QUIET_NANOS = 1_000_000_000L;
    private final PrintWriter err;
    private long last = System.nanoTime();

    Talk(PrintWriter err) {
      this.err = err;
    }

    void at(long evaluated, double incumbent, double bound) {
      if (System.nanoTime() - last < QUIET_NANOS) {
        return;
      }
      last = System.nanoTime();
      String priced = Quantity.count(evaluated) + " priced, ";
      if (Double.isNaN(bound)) {
        err.println(priced + "explaining the answer");
      } else {
        String best = Double.isNaN(incumbent) ? "none yet" : Quantity.digits(incumbent);
        err.println(priced + "best " + best + ", bound " + Quantity.digits(bound));
      }
      err.flush();
    }
  }

  @Spec private CommandSpec spec;

  @Option(
      names = "--verify",
      description = "Prove the degrees again by a constraint model of the rules.")
  private boolean verify;

  @Mixin private RequestOptions request = new RequestOptions();
  @Mixin private Output output = new Output();

  @Override
  public Integer call() {
    Catalog catalog = request.catalog();
    Problem problem = request.problem(catalog);
    Talk talk = new Talk(spec.commandLine().getErr());
    Planner planner = new Planner(Version.get(), talk::at, verify);
    Answer answer = Launchable.told(planner.plan(problem), problem);
    String text =
        output.json()
            ? Text.json(answer)
            : output.yaml() ? Text.yaml(answer) : PlanText.of(answer) + next(answer);
    output.write(spec.commandLine().getOut(), text);
    return code(answer);
  }

  static int code(Answer answer) {
    return switch (answer.outcome()) {
      case FOUND -> answer.proof().status() == Proof.Status.OPTIMAL ? Main.OK : Main.LIMIT;
      case INFEASIBLE -> Main.NO_PLAN;
      case UNKNOWN -> Main.LIMIT;
    };
  }

  private String next(Answer answer) {
    String command = spec.commandLine().getParent().getCommandName();
    return switch (answer.outcome()) {
      case FOUND -> "Next: " + command + " plan ... -o answer.yaml keeps the whole answer.\n";
      case INFEASIBLE ->
          answer.infeasible() != null && answer.infeasible().cure() != null
              ? "Next: plan again with "
                  + answer.infeasible().cure().key()
                  + ": "
                  + answer.infeasible().cure().value()
                  + ".\n"
              : "";
      case UNKNOWN -> "";
    };
  }
}
