package dev.meshplan.cli;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.config.Section;
import dev.meshplan.config.Text;
import dev.meshplan.config.YamlReader;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.Problems;
import dev.meshplan.study.CalibratedFile;
import dev.meshplan.study.Calibration;
import dev.meshplan.study.CollectiveQuestion;
import dev.meshplan.study.NcclLog;
import dev.meshplan.study.StepCalibration;
import dev.meshplan.units.Quantity;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Fits a machine's constants to its own measurements. */
@Command(
    name = "calibrate",
    mixinStandardHelpOptions = true,
    description =
        "Fit the constants of collectives to nccl-tests or rccl-tests output and write a system"
            + " file with them; or pin one constant of the GPU to a measured step and write its"
            + " file.",
    footer = {
      "",
      "Example:",
      "  meshplan calibrate --nccl-tests all_reduce.log all_gather.log --system hgx-h100"
          + " -o my-h100.yaml"
    })
final class CalibrateCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private Output output;

  @Option(
      names = "--nccl-tests",
      arity = "1..*",
      paramLabel = "LOG",
      description = "Output of nccl-tests or rccl-tests; - reads standard input.")
  private List<String> logs = List.of();

  @Option(names = "--system", paramLabel = "ID", description = "System id, alias or file.")
  private String system;

  @Option(
      names = "--network",
      paramLabel = "ID",
      description = "Network id, alias or file; the system's usual one when left out.")
  private String network = "";

  @Option(
      names = "--network-output",
      paramLabel = "FILE",
      description = "Where the network file goes when a log crosses domains.")
  private Path networkOutput;

  @Option(
      names = "--step",
      paramLabel = "SECONDS",
      description = "Measured seconds of one step of the request's plan.")
  private Double step;

  @Option(
      names = "--memory",
      paramLabel = "GIB",
      description = "Measured device memory of the fullest GPU, GiB.")
  private Double memory;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "REQUEST",
      description = "Request file of the measured step; - reads standard input.")
  private String request;

  @Option(names = "--catalog", paramLabel = "DIR", description = "Folder whose files win.")
  private Path folder;

  @Override
  public Integer call() {
    if (step != null) {
      return step();
    }
    if (logs.isEmpty() || system == null) {
      throw new InputException(
          "command line",
          logs.isEmpty() ? "--nccl-tests" : "--system",
          "",
          "is missing: name logs and the system that they were measured on.");
    }
    Catalog catalog = Catalog.open(folder);
    CollectiveQuestion machine = CollectiveQuestion.on(catalog, system, network);
    List<NcclLog.Test> tests = new ArrayList<>();
    for (String log : logs) {
      tests.addAll(NcclLog.read(Input.name(log), Input.text(log)));
    }
    var joins = machine.communication().fabric().network();
    Calibration.Result r = Calibration.fit(tests, machine.system(), machine.gpu(), joins);
    PrintWriter out = spec.commandLine().getOut();
    if (output.json()) {
      output.write(out, Text.json(r));
      return Main.OK;
    }
    List<String> names = logs.stream().map(CalibrateCommand::fileName).toList();
    String yaml = CalibratedFile.system(system, text(catalog.systems(), system), r.link(), names);
    spec.commandLine().getErr().print(report(r));
    spec.commandLine().getErr().flush();
    output.write(out, yaml);
    if (!r.network().isEmpty()) {
      String text =
          CalibratedFile.network(
              joins.id(), text(catalog.networks(), joins.id()), r.network(), names);
      if (networkOutput == null) {
        out.print("---\n" + text);
        out.flush();
      } else {
        CommunicateCommand.write(networkOutput, text);
      }
    }
    return Main.OK;
  }

  private int step() {
    if (request == null || !(step > 0)) {
      throw new InputException(
          "command line", request == null ? "REQUEST" : "--step", "", "must be given.");
    }
    Catalog catalog = Catalog.open(folder);
    Errors errors = new Errors();
    Section section = YamlReader.parse(Input.name(request), Input.text(request), errors);
    errors.throwIfAny();
    StepCalibration.Result r =
        StepCalibration.of(
            Problems.read(section, catalog),
            step,
            memory == null ? Double.NaN : memory * Quantity.GIB);
    PrintWriter out = spec.commandLine().getOut();
    if (output.json()) {
      output.write(out, Text.json(r));
      return Main.OK;
    }
    spec.commandLine().getErr().print(StepCalibrationText.of(r));
    spec.commandLine().getErr().flush();
    if (r.key() == null) {
      return Main.NO_PLAN;
    }
    output.write(
        out,
        CalibratedFile.gpu(
            r.gpu(),
            text(catalog.gpus(), r.gpu()),
            r,
            "a measured step of " + Quantity.digits(step) + " s, " + Input.name(request)));
    return Main.OK;
  }

  private static String fileName(String log) {
    Path name = Path.of(log).getFileName();
    return log.equals("-") || name == null ? Input.name(log) : name.toString();
  }

  private static String text(dev.meshplan.config.Library<?> library, String name) {
    return name.endsWith(".yaml") || name.endsWith(".yml")
        ? Input.text(name)
        : library.text(library.id(name));
  }

  private static String report(Calibration.Result r) {
    StringBuilder s = new StringBuilder();
    s.append(
        String.format(
            Locale.ROOT,
            "%-16s %5s %5s   %18s   %18s%n",
            "collective",
            "gpus",
            "rows",
            "before median/p90",
            "after median/p90"));
    for (Calibration.Line l : r.tests()) {
      s.append(
          String.format(
              Locale.ROOT,
              "%-16s %5d %5d   %8s %9s   %8s %9s%n",
              l.collective().key(),
              l.ranks(),
              l.rows(),
              Quantity.percent(l.medianBefore()),
              Quantity.percent(l.p90Before()),
              Quantity.percent(l.medianAfter()),
              Quantity.percent(l.p90After())));
    }
    List<Calibration.Moved> moved = new ArrayList<>(r.link());
    moved.addAll(r.network());
    for (Calibration.Moved m : moved) {
      s.append(
          String.format(
              Locale.ROOT,
              "  %-34s %10s (%s) -> %s%n",
              m.key(),
              Quantity.digits(m.before()),
              m.basis().key(),
              Quantity.digits(m.after())));
    }
    return s.toString();
  }
}
