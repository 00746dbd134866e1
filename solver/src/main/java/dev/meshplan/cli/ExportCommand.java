package dev.meshplan.cli;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.config.Names;
import dev.meshplan.config.Section;
import dev.meshplan.config.Text;
import dev.meshplan.config.YamlReader;
import dev.meshplan.formats.Export;
import dev.meshplan.formats.Exporters;
import dev.meshplan.formats.Format;
import dev.meshplan.formats.Job;
import dev.meshplan.formats.OutputFile;
import dev.meshplan.optimize.Planner;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Problems;
import dev.meshplan.study.Version;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** An answer, or a request planned first, in the formats of frameworks and schedulers. */
@Command(
    name = "export",
    mixinStandardHelpOptions = true,
    description = "Write a plan for the framework or scheduler that launches it.",
    footer = {
      "",
      "Formats and the versions they are written for:",
      "  megatron         Megatron-LM main of 2026-08: shell script, args YAML",
      "  megatron-bridge  Megatron-Bridge main of 2026-08: recipe overrides",
      "  deepspeed        DeepSpeed main of 2026-08: JSON (and Megatron-DeepSpeed of 2025-07)",
      "  torchtitan       main of 2026-08: configuration in Python; releases of 2025: TOML",
      "  accelerate       FSDP2 YAML of 2026-07",
      "  slurm            batch script with segments, and the rank map (25.05 or newer)",
      "  slurm-topology   topology.yaml and topology.conf of the cluster",
      "  kubernetes       JobSet v1alpha2, Kueue v1beta2, ComputeDomain v1beta1",
      "  ranks            rank to GPU, CSV and JSON",
      "",
      "Examples:",
      "  meshplan export answer.yaml --to megatron --to slurm -o launch",
      "  meshplan export plans/llama-3.1-8b-hgx-h100/request.yaml --to megatron",
      "",
      "Exit codes: 0 ok, 2 wrong input, 3 no plan, or one that the format can't express."
    })
final class ExportCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "FILE", description = "Answer or request; - reads standard input.")
  private String file;

  @Option(
      names = "--to",
      required = true,
      split = ",",
      paramLabel = "FORMAT",
      description = "Where to; may be repeated, or all.")
  private List<String> to;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "DIR",
      description = "Folder to write to; without it the files are printed.")
  private Path directory;

  @Option(names = "--name", paramLabel = "NAME", description = "Name of the job.")
  private String name;

  @Option(
      names = "--micro-only",
      description = "DeepSpeed: leave train_batch_size out (needed with zero.Init).")
  private boolean microOnly;

  @Option(names = "--json", description = "Print the files as JSON.")
  private boolean json;

  @Option(
      names = "--catalog",
      paramLabel = "DIR",
      description = "Folder with models/ and hardware/ whose files win over the built-in ones.")
  private Path catalogFolder;

  @Override
  public Integer call() {
    List<Format> formats = formats();
    Catalog catalog = Catalog.open(catalogFolder);
    Job job = job(catalog);
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    if (job == null) {
      err.println("The request has no feasible plan: meshplan plan says why.");
      return Main.NO_PLAN;
    }
    List<Export> exports = formats.stream().map(f -> Exporters.export(f, job, microOnly)).toList();
    boolean refused = false;
    for (Export e : exports) {
      e.notes().forEach(n -> err.println(e.format().key() + ": " + n));
      if (!e.ok()) {
        refused |= !to.contains("all");
        err.println(
            e.format().key()
                + " can't express this plan: "
                + e.refused()
                + ". Nearest: "
                + e.nearest()
                + ".");
      }
    }
    if (json) {
      out.print(Text.json(exports));
    } else {
      write(exports, out);
    }
    return refused ? Main.NO_PLAN : Main.OK;
  }

  private void write(List<Export> exports, PrintWriter out) {
    for (Export e : exports) {
      for (OutputFile f : e.files()) {
        if (directory == null) {
          out.println("# ---- " + e.format().key() + "/" + f.name());
          out.print(f.text());
        } else {
          Path path =
              exports.size() == 1
                  ? directory.resolve(f.name())
                  : directory.resolve(e.format().key()).resolve(f.name());
          try {
            Files.createDirectories(path.getParent());
            Files.writeString(path, f.text());
          } catch (IOException x) {
            throw new InputException(
                "-o", "", path.toString(), "can't be written: " + x.getMessage());
          }
          out.println(path);
        }
      }
    }
  }

  private List<Format> formats() {
    List<String> known = Arrays.stream(Format.values()).map(Format::key).toList();
    List<Format> formats = new ArrayList<>();
    for (String key : to) {
      if (key.equals("all")) {
        return List.of(Format.values());
      }
      if (!known.contains(key)) {
        throw new InputException(
            "command line",
            "--to",
            key,
            "is no format." + Names.hint(key, known) + " Known: " + String.join(", ", known) + ".");
      }
      formats.add(Format.values()[known.indexOf(key)]);
    }
    return formats;
  }

  /** The job, or null when the request has no plan. */
  private Job job(Catalog catalog) {
    String source = Input.name(file);
    String text = Input.text(file);
    Errors errors = new Errors();
    Section s = YamlReader.parse(source, text, errors);
    errors.throwIfAny();
    if (s.has("outcome")) {
      Answer answer = Text.read(source, text, Answer.class);
      Problem problem = Problems.resolve(answer.request(), catalog, source, errors);
      errors.throwIfAny();
      return Job.of(answer, problem, title(answer.request().model()));
    }
    Problem problem = Problems.read(s, catalog);
    Answer answer = new Planner(Version.get(), (n, best, bound) -> {}).plan(problem);
    return answer.outcome() == Outcome.FOUND && answer.plan() != null
        ? Job.of(answer, problem, title(problem.model().id()))
        : null;
  }

  private String title(String model) {
    return name == null ? model : name;
  }
}
