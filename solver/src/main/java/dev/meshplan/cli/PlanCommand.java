package dev.meshplan.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** The cheapest feasible plan. */
@Command(
    name = "plan",
    mixinStandardHelpOptions = true,
    description = "Find the cheapest feasible plan.")
final class PlanCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    return Main.OK;
  }
}
