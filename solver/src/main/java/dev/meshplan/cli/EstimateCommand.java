package dev.meshplan.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** The price of one given plan. */
@Command(name = "estimate", mixinStandardHelpOptions = true, description = "Price one given plan.")
final class EstimateCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    return Main.OK;
  }
}
