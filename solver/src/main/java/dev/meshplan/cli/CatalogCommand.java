package dev.meshplan.cli;

import dev.meshplan.config.InputException;
import dev.meshplan.config.Text;
import dev.meshplan.plan.Catalog;
import dev.meshplan.study.CatalogCheck;
import dev.meshplan.study.CatalogList;
import dev.meshplan.view.CatalogPage;
import dev.meshplan.view.CatalogTable;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists, shows and checks what ids stand for. */
@Command(
    name = "catalog",
    mixinStandardHelpOptions = true,
    description = "List models, GPUs, systems, networks and offers; show one; check a file.",
    footer = {
      "",
      "Examples:",
      "  meshplan catalog models --filter qwen",
      "  meshplan catalog systems gb200-nvl72",
      "  meshplan catalog check my-model.yaml"
    },
    subcommands = {CatalogCommand.Check.class})
final class CatalogCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private Output output;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "KIND",
      description = "models, gpus, systems, networks or offers.")
  private String kind;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "ID",
      description = "Id, alias or file of one entry.")
  private String id;

  @Option(names = "--filter", paramLabel = "TEXT", description = "Only entries with this text.")
  private String filter = "";

  @Option(
      names = "--catalog",
      paramLabel = "DIR",
      description = "Folder with models/ and hardware/ whose files win over the built-in ones.")
  private Path folder;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    Catalog catalog = Catalog.open(folder);
    CatalogList.Kind wanted = kind(kind);
    if (id != null) {
      Object entry = CatalogList.get(wanted.library(catalog), id);
      output.write(out, output.json() ? Text.json(entry) : CatalogPage.of(entry));
      return Main.OK;
    }
    List<?> lines = CatalogList.of(catalog, wanted, filter);
    output.write(out, output.json() ? Text.json(lines) : CatalogTable.of(wanted, lines));
    return Main.OK;
  }

  private static CatalogList.Kind kind(String text) {
    List<String> known = Arrays.stream(CatalogList.Kind.values()).map(k -> k.key()).toList();
    if (text == null) {
      throw new InputException(
          "command line", "KIND", "", "is missing: one of " + String.join(", ", known) + ".");
    }
    for (CatalogList.Kind k : CatalogList.Kind.values()) {
      if (k.key().equals(text) || k.key().equals(text + "s")) {
        return k;
      }
    }
    throw new InputException(
        "command line", "KIND", text, "must be one of " + String.join(", ", known) + ".");
  }

  /** Validates catalog files. */
  @Command(
      name = "check",
      mixinStandardHelpOptions = true,
      description = "Check model, GPU, system, network and offer files.",
      footer = {"", "Example:", "  meshplan catalog check my-gpu.yaml my-system.yaml"})
  static final class Check implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private Output output;

    @Parameters(arity = "1..*", paramLabel = "FILE", description = "Files to check.")
    private List<Path> files;

    @Option(names = "--catalog", paramLabel = "DIR", description = "Catalog folder of your own.")
    private Path folder;

    @Override
    public Integer call() {
      Catalog catalog = Catalog.open(folder);
      List<CatalogCheck.Result> results = new ArrayList<>();
      for (Path file : files) {
        results.add(CatalogCheck.check(file, catalog));
      }
      PrintWriter out = spec.commandLine().getOut();
      if (output.json()) {
        output.write(out, Text.json(results));
      } else {
        StringBuilder text = new StringBuilder();
        PrintWriter err = spec.commandLine().getErr();
        for (CatalogCheck.Result r : results) {
          r.errors().forEach(err::println);
          r.warnings().forEach(w -> text.append(r.file()).append(": warning: ").append(w + "\n"));
          if (r.ok()) {
            text.append("%s: ok, %s %s: %s\n".formatted(r.file(), r.kind(), r.id(), r.summary()));
          }
        }
        output.write(out, text.toString());
      }
      return results.stream().allMatch(CatalogCheck.Result::ok) ? Main.OK : Main.INPUT;
    }
  }
}
