package dev.meshplan.cli;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.config.Library;
import dev.meshplan.config.Text;
import dev.meshplan.formats.HuggingFaceConfig;
import dev.meshplan.formats.Imported;
import dev.meshplan.formats.InventoryImport;
import dev.meshplan.formats.NcclTopology;
import dev.meshplan.formats.Quoting;
import dev.meshplan.formats.TopologyMatrix;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.plan.Catalog;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Foreign files as catalog entries: what they say, what they leave out, what is faulty. */
@Command(
    name = "import",
    mixinStandardHelpOptions = true,
    description =
        "Turn a foreign file into YAML for the catalog or a request, saying what was understood,"
            + " assumed, missing and faulty.",
    footer = {
      "",
      "Examples:",
      "  meshplan import model config.json --id my-model -o models/my-model.yaml",
      "  nvidia-smi topo -m | meshplan import system - --gpu h200-sxm --id my-node",
      "  meshplan import inventory /etc/slurm/topology.conf --system gb200-nvl72"
    })
final class ImportCommand {
  @Option(
      names = "--catalog",
      paramLabel = "DIR",
      description = "Folder with models/ and hardware/ whose files win over the built-in ones.")
  private Path catalog;

  @Spec private CommandSpec spec;

  @Command(
      name = "model",
      description = "A Hugging Face config.json.",
      mixinStandardHelpOptions = true)
  int model(
      @Parameters(paramLabel = "FILE", description = "config.json; - reads standard input.")
          String file,
      @Option(names = "--id", paramLabel = "ID", description = "Id of the model.") String id,
      @Option(
              names = "--as",
              paramLabel = "TYPE",
              defaultValue = "",
              description = "A known model_type to read an unknown one as.")
          String as,
      @Mixin Output to) {
    return print(HuggingFaceConfig.read(Input.name(file), Input.text(file), id(id, file), as), to);
  }

  @Command(
      name = "system",
      description = "Output of nvidia-smi topo -m, or NCCL's topology XML.",
      mixinStandardHelpOptions = true)
  int system(
      @Parameters(paramLabel = "FILE", description = "The file; - reads standard input.")
          String file,
      @Option(names = "--id", paramLabel = "ID", description = "Id of the system.") String id,
      @Option(names = "--gpu", paramLabel = "ID", description = "The GPU in it.") String gpu,
      @Option(
              names = "--domain-gpus",
              paramLabel = "N",
              defaultValue = "0",
              description = "GPUs of the scale-up domain where it spans nodes (72 on NVL72).")
          int domainGpus,
      @Mixin Output to) {
    String text = Input.text(file);
    Gpu known = gpu == null ? null : entry(Catalog.open(catalog).gpus(), "--gpu", gpu);
    String name = Input.name(file);
    return print(
        text.stripLeading().startsWith("<")
            ? NcclTopology.read(name, text, id(id, file), known, domainGpus)
            : TopologyMatrix.read(name, text, id(id, file), known, domainGpus),
        to);
  }

  @Command(
      name = "inventory",
      description =
          "Slurm's topology.conf, topology.yaml or scontrol show topology, or a list of nodes.",
      mixinStandardHelpOptions = true)
  int inventory(
      @Parameters(paramLabel = "FILE", description = "The file; - reads standard input.")
          String file,
      @Option(
              names = "--system",
              paramLabel = "ID",
              required = true,
              description = "What every node is.")
          String system,
      @Mixin Output to) {
    SystemSpec known = entry(Catalog.open(catalog).systems(), "--system", system);
    return print(InventoryImport.read(Input.name(file), Input.text(file), known), to);
  }

  private int print(Imported imported, Output to) {
    to.write(spec.commandLine().getOut(), to.json() ? Text.json(imported) : imported.text());
    return Main.OK;
  }

  private static String id(String id, String file) {
    if (id != null) {
      return id;
    }
    Path name = file.equals("-") ? Path.of("imported") : Path.of(file).getFileName();
    return Quoting.slug(name.toString().replaceFirst("\\.[A-Za-z]+$", ""));
  }

  private static <T> T entry(Library<T> library, String flag, String id) {
    Errors errors = new Errors();
    T entry =
        library.get(
            id,
            errors,
            m -> {
              throw new InputException("command line", flag, id, m);
            });
    errors.throwIfAny();
    return entry;
  }
}
