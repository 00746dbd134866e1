package dev.meshplan.cli;

import dev.meshplan.config.Text;
import dev.meshplan.optimize.GivenPlan;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Outcome;
import dev.meshplan.study.Version;
import dev.meshplan.view.PlanText;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The price of one given plan. */
@Command(
    name = "estimate",
    mixinStandardHelpOptions = true,
    description =
        "Price one given plan: fixed axes as they are, the others 1, dp derived from the GPUs.",
    footer = {
      "",
      "Examples:",
      "  meshplan estimate --model llama-3.1-70b --system hgx-h100 --gpus 64 --global-batch 256"
          + " --sequence 8192 --fix tp=4,pp=4,vpp=5",
      "",
      "Exit 3 when the plan breaks a rule; every broken rule is listed."
    })
final class EstimateCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private RequestOptions request = new RequestOptions();
  @Mixin private Output output = new Output();

  @Override
  public Integer call() {
    Answer answer = GivenPlan.price(request.problem(request.catalog()), Version.get());
    String text =
        output.json()
            ? Text.json(answer)
            : output.yaml()
                ? Text.yaml(answer)
                : PlanText.ofGiven(answer)
                    + "Next: meshplan plan with the same request finds the cheapest plan.\n";
    output.write(spec.commandLine().getOut(), text);
    return answer.outcome() == Outcome.FOUND ? Main.OK : Main.NO_PLAN;
  }
}
