package dev.meshplan.cli;

import picocli.CommandLine.Option;

/** What an expert exchange moves. */
final class ExpertOptions {
  @Option(names = "--hidden", paramLabel = "N", description = "Elements of a token, with moe_*.")
  int hidden;

  @Option(names = "--top-k", paramLabel = "N", description = "Experts of a token, with moe_*.")
  int topK;

  @Option(names = "--fp8", description = "With moe_*: tokens travel in FP8 with scales.")
  boolean fp8;

  @Option(
      names = "--imbalance",
      paramLabel = "X",
      description = "With moe_*: the busiest rank's load over the mean.")
  double imbalance = 1;

  @Option(
      names = "--group-limit",
      paramLabel = "N",
      description = "With moe_*: domains that one token may reach.")
  int groupLimit;
}
