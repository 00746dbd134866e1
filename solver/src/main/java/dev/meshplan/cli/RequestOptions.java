package dev.meshplan.cli;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.config.Section;
import dev.meshplan.config.Text;
import dev.meshplan.config.YamlReader;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Problems;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A request as a file, as flags, or as a file with flags laid over it. */
final class RequestOptions {
  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "REQUEST",
      description = "Request file (YAML or JSON); - reads standard input.")
  private String file;

  @Option(names = "--model", paramLabel = "ID", description = "Model id, alias or file.")
  private String model;

  @Option(names = "--system", paramLabel = "ID", description = "System id, alias or file.")
  private String system;

  @Option(names = "--network", paramLabel = "ID", description = "Network id, alias or file.")
  private String network;

  @Option(names = "--gpus", paramLabel = "N", description = "At most N GPUs work.")
  private String gpus;

  @Option(names = "--domains", paramLabel = "N", description = "Whole scale-up domains there are.")
  private String domains;

  @Option(names = "--spares-per-domain", paramLabel = "N", description = "GPUs held back.")
  private String spares;

  @Option(
      names = "--healthy",
      split = ",",
      paramLabel = "N",
      description = "Healthy GPUs of each domain.")
  private List<String> healthy;

  @Option(names = "--blocks", split = ",", paramLabel = "N", description = "Block sizes allowed.")
  private List<String> blocks;

  @Option(names = "--price", paramLabel = "PRICE", description = "Such as '2.5 USD/GPU-hour'.")
  private String price;

  @Option(names = "--global-batch", paramLabel = "N", description = "Sequences per step.")
  private String globalBatch;

  @Option(names = "--sequence", paramLabel = "N", description = "Tokens per sequence.")
  private String sequence;

  @Option(names = "--precision", paramLabel = "P", description = "bf16 fp16 fp8 mxfp8 nvfp4.")
  private String precision;

  @Option(
      names = "--framework",
      paramLabel = "F",
      description = "megatron deepspeed torchtitan any.")
  private String framework;

  @Option(names = "--era", paramLabel = "ERA", description = "Software, such as megatron-2026b.")
  private String era;

  @Option(
      names = "--training",
      split = ",",
      paramLabel = "KEY=VALUE",
      description = "Any other key of the training section.")
  private Map<String, String> training = new LinkedHashMap<>();

  @Option(names = "--objective", paramLabel = "O", description = "time, cost or energy.")
  private String objective;

  @Option(names = "--locality", paramLabel = "L", description = "strict or priced.")
  private String locality;

  @Option(
      names = "--fix",
      split = ",",
      paramLabel = "AXIS=VALUE",
      description = "Pinned axes, such as tp=8,ep=64,recompute=none.")
  private Map<String, String> fix = new LinkedHashMap<>();

  @Option(names = "--memory-share", paramLabel = "X", description = "Usable share (default 0.92).")
  private String memoryShare;

  @Option(
      names = "--evaluations",
      paramLabel = "N",
      description = "Candidates priced before giving up (default 4,000,000).")
  private String evaluations;

  @Option(names = "--alternatives", paramLabel = "N", description = "Runners-up to show.")
  private String alternatives;

  @Option(
      names = "--catalog",
      paramLabel = "DIR",
      description = "Folder with models/ and hardware/ whose files win over the built-in ones.")
  private Path catalogFolder;

  Catalog catalog() {
    return Catalog.open(catalogFolder);
  }

  /** The request, resolved. */
  Problem problem(Catalog catalog) {
    Errors errors = new Errors();
    Section flags = YamlReader.parse("command line", Text.json(flags()), errors).unlocated();
    Section section = flags;
    if (file != null) {
      section =
          file.equals("-")
              ? YamlReader.parse("standard input", standardInput(), errors)
              : YamlReader.read(Path.of(file), errors);
      if (section == null) {
        errors.throwIfAny();
      }
      section = section.overlaid(flags);
    } else if (model == null && system == null) {
      throw new InputException(
          "command line",
          "",
          "",
          "give a request file, or --model, --system, --gpus, --global-batch and --sequence.");
    }
    return Problems.read(section, catalog);
  }

  private Map<String, Object> flags() {
    Map<String, Object> top = new LinkedHashMap<>();
    Map<String, Object> cluster = new LinkedHashMap<>();
    Map<String, Object> job = new LinkedHashMap<>(training);
    Map<String, Object> limits = new LinkedHashMap<>();
    put(top, "model", model);
    put(cluster, "system", system);
    put(cluster, "network", network);
    put(cluster, "gpus", gpus);
    put(cluster, "domains", domains);
    put(cluster, "spares_per_domain", spares);
    put(cluster, "healthy", healthy);
    put(cluster, "blocks", blocks);
    put(cluster, "price", price);
    put(job, "global_batch", globalBatch);
    put(job, "sequence", sequence);
    put(job, "precision", precision);
    put(job, "framework", framework);
    put(job, "era", era);
    put(top, "cluster", cluster.isEmpty() ? null : cluster);
    put(top, "training", job.isEmpty() ? null : job);
    put(top, "objective", objective);
    put(top, "locality", locality);
    put(top, "fix", fix.isEmpty() ? null : new LinkedHashMap<>(fix));
    put(limits, "memory_share", memoryShare);
    put(limits, "evaluations", evaluations);
    put(top, "limits", limits.isEmpty() ? null : limits);
    put(top, "alternatives", alternatives);
    return top;
  }

  private static void put(Map<String, Object> map, String key, Object value) {
    if (value != null) {
      map.put(key, value instanceof List<?> list ? new ArrayList<>(list) : value);
    }
  }

  private static String standardInput() {
    try {
      return new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new InputException("standard input", "", "", "can't be read: " + e.getMessage());
    }
  }
}
