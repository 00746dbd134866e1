package dev.meshplan.cli;

import dev.meshplan.config.Text;
import dev.meshplan.plan.Catalog;
import dev.meshplan.study.Audit;
import dev.meshplan.study.AuditInput;
import dev.meshplan.study.AuditQuestion;
import dev.meshplan.study.AuditReport;
import dev.meshplan.study.Version;
import dev.meshplan.view.AuditText;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Judges a launch configuration that somebody has. */
@Command(
    name = "audit",
    mixinStandardHelpOptions = true,
    description =
        "Judge a launch script or configuration: rules it breaks, memory, groups that leave their"
            + " NVLink domain, step time, and the best plan beside it.",
    footer = {
      "",
      "Reads launch scripts, argument files and args YAML of Megatron-LM, Megatron-DeepSpeed and",
      "Megatron-SWIFT, Megatron-Bridge overrides, DeepSpeed JSON (with --launch), torchtitan TOML",
      "or overrides, and arguments of Hugging Face trainers. Nothing is run: what a script takes",
      "from its environment is asked for, and given with --set.",
      "",
      "Examples:",
      "  meshplan audit train.sh --system hgx-h100 --gpus 64",
      "  meshplan audit train.sh --system hgx-h100 --gpus 64 --set TP=8 --set 1=70B",
      "  meshplan audit ds_config.json --system hgx-h100 --gpus 16 --model llama-3.1-8b"
          + " --sequence 8192",
      "",
      "Exit codes: 0 fine (TIGHT is a warning), 2 wrong input, 5 slower than the best beyond the",
      "error band, 6 does not fit, 7 illegal; the gravest counts."
    })
final class AuditCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "FILE", description = "The configuration; - reads standard input.")
  private String file;

  @Option(names = "--system", required = true, paramLabel = "ID", description = "Where it runs.")
  private String system;

  @Option(
      names = "--network",
      paramLabel = "ID",
      defaultValue = "",
      description = "Network between the nodes; else the system's usual one.")
  private String network;

  @Option(names = "--gpus", required = true, paramLabel = "N", description = "GPUs of the job.")
  private int gpus;

  @Option(
      names = "--model",
      paramLabel = "ID",
      defaultValue = "",
      description = "The model, where the file does not say its shape.")
  private String model;

  @Option(
      names = "--sequence",
      paramLabel = "N",
      defaultValue = "0",
      description = "Tokens per sequence, where the file does not say them.")
  private int sequence;

  @Option(
      names = "--launch",
      paramLabel = "FILE",
      description = "Launch script beside a DeepSpeed JSON.")
  private String launch;

  @Option(
      names = "--set",
      paramLabel = "NAME=VALUE",
      description =
          "Value of a variable of the script, such as TP=8 or 1=8 for $1; wins over the script's"
              + " own. Repeatable.")
  private Map<String, String> variables = new LinkedHashMap<>();

  @Option(names = "--no-best", description = "Do not look for the best plan.")
  private boolean noBest;

  @Option(
      names = "--catalog",
      paramLabel = "DIR",
      description = "Folder with models/ and hardware/ whose files win over the built-in ones.")
  private Path catalog;

  @Mixin private Output output = new Output();

  @Override
  public Integer call() {
    AuditInput input =
        AuditInput.read(
            new AuditQuestion(
                Input.name(file),
                Input.text(file),
                system,
                network,
                gpus,
                model,
                sequence,
                launch == null ? "" : Input.text(launch),
                variables),
            Catalog.open(catalog));
    AuditReport report = Audit.of(input.plan(), input.problem(), !noBest, Version.get());
    output.write(
        spec.commandLine().getOut(), output.json() ? Text.json(report) : AuditText.of(report));
    return report.exitCode();
  }
}
