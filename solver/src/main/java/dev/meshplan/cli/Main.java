package dev.meshplan.cli;

import dev.meshplan.config.InputError;
import dev.meshplan.config.InputException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Entry point: picks the command, turns failures into messages and exit codes. */
@Command(
    name = "meshplan",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    description =
        "Lays a large language model's training out on the GPUs of a cluster: the cheapest feasible"
            + " plan, proven, explained, ready to launch.",
    footer = {
      "",
      "Exit codes: 0 ok, 1 bug, 2 wrong input, 3 no feasible plan (or no cost model), 4 limit"
          + " reached.",
      "",
      "Example:",
      "  meshplan plan --model llama-3.1-405b --system hgx-h100 --gpus 1024 --global-batch 512"
          + " --sequence 8192 --precision bf16"
    },
    subcommands = {
      picocli.AutoComplete.GenerateCompletion.class,
      PlanCommand.class,
      EstimateCommand.class,
      CatalogCommand.class,
      ImportCommand.class,
      CommunicateCommand.class,
      CalibrateCommand.class,
      ExportCommand.class,
      AuditCommand.class,
      AccuracyCommand.class,
    })
public final class Main {
  static final int OK = 0;
  static final int BUG = 1;
  static final int INPUT = 2;
  static final int NO_PLAN = 3;
  static final int LIMIT = 4;

  private Main() {}

  public static void main(String[] args) {
    PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    int code = run(out, err, args);
    out.flush();
    err.flush();
    System.exit(code);
  }

  /** Runs one command line; returns the exit code. */
  public static int run(PrintWriter out, PrintWriter err, String... args) {
    CommandLine line = new CommandLine(new Main());
    line.setOut(out).setErr(err).setCaseInsensitiveEnumValuesAllowed(true);
    line.setUsageHelpAutoWidth(true);
    line.setExecutionExceptionHandler((e, command, result) -> failed(e, err));
    line.setParameterExceptionHandler((e, a) -> misused(e, err));
    line.setExecutionStrategy(new CommandLine.RunLast());
    if (args.length == 0) {
      line.usage(out);
      return INPUT;
    }
    int code = line.execute(args);
    out.flush();
    return code;
  }

  private static int misused(CommandLine.ParameterException e, PrintWriter err) {
    err.println(e.getMessage());
    if (!CommandLine.UnmatchedArgumentException.printSuggestions(e, err)) {
      err.println("Try: " + e.getCommandLine().getCommandSpec().qualifiedName() + " --help");
    }
    return INPUT;
  }

  private static int failed(Exception e, PrintWriter err) {
    if (e instanceof InputException input) {
      for (InputError error : input.errors()) {
        err.println(error);
      }
      return INPUT;
    }
    if (e instanceof dev.meshplan.hardware.NoCostModel none) {
      err.println(none.getMessage());
      return NO_PLAN;
    }
    err.println(
        "This is a bug in meshplan, please report it with the command you ran: "
            + e.getClass().getSimpleName()
            + ": "
            + e.getMessage());
    if (System.getenv("MESHPLAN_DEBUG") != null) {
      e.printStackTrace(err);
    }
    return BUG;
  }

  /** The version in the jar's manifest. */
  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"meshplan " + dev.meshplan.study.Version.get()};
    }
  }
}
