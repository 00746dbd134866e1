package dev.meshplan.cli;

import dev.meshplan.communication.Collective;
import dev.meshplan.communication.CollectiveCost;
import dev.meshplan.config.Errors;
import dev.meshplan.config.InputError;
import dev.meshplan.config.InputException;
import dev.meshplan.config.Names;
import dev.meshplan.config.Text;
import dev.meshplan.hardware.Link;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Catalog;
import dev.meshplan.study.CollectiveQuestion;
import dev.meshplan.study.ExpertTraffic;
import dev.meshplan.study.TensorTraffic;
import dev.meshplan.units.Dimension;
import dev.meshplan.units.Quantity;
import dev.meshplan.view.CollectiveCurve;
import dev.meshplan.view.CollectiveTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** What a collective costs on a machine. */
@Command(
    name = "communicate",
    mixinStandardHelpOptions = true,
    description =
        "Price a collective on a group of GPUs, or what a model's tensor parallelism or gradients"
            + " send.",
    footer = {
      "",
      "Examples:",
      "  meshplan communicate all_reduce --bytes 1GiB --system hgx-h100 --gpus 16",
      "  meshplan communicate all_to_all --system gb200-nvl72 --gpus 64 --all-sizes",
      "  meshplan communicate moe_dispatch --tokens 4096 --hidden 7168 --top-k 8 --fp8 --system"
          + " hgx-h100 --gpus 32",
      "  meshplan communicate --model llama-3.1-70b --tp 8 --tokens 1,64,2000 --system hgx-h100"
          + " --profile seed",
      "  meshplan communicate --model llama-3.1-70b --gradients --gpus 64 --system hgx-h100"
    })
final class CommunicateCommand implements Callable<Integer> {
  private static final String LINE = "command line";

  @Spec private CommandSpec spec;
  @Mixin private Output output;
  @Mixin private ExpertOptions experts;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "COLLECTIVE",
      description =
          "all_reduce all_gather reduce_scatter all_to_all send_recv broadcast, or moe_dispatch"
              + " moe_combine.")
  private String collective;

  @Option(names = "--bytes", paramLabel = "SIZE", description = "Such as 1GiB; as nccl-tests says.")
  private String bytes;

  @Option(names = "--all-sizes", description = "A table from 1 KiB to 16 GiB.")
  private boolean allSizes;

  @Option(names = "--system", paramLabel = "ID", description = "System id, alias or file.")
  private String system;

  @Option(
      names = "--network",
      paramLabel = "ID",
      description = "Network id, alias or file; the system's usual one when left out.")
  private String network = "";

  @Option(names = "--gpus", paramLabel = "N", description = "GPUs of the group.")
  private int gpus;

  @Option(
      names = "--per-domain",
      paramLabel = "N",
      description = "GPUs of the group in one scale-up domain; as many as fit when left out.")
  private int perDomain;

  @Option(
      names = "--ranks",
      split = ",",
      paramLabel = "GPU",
      description = "GPU numbers in ring order instead of --gpus.")
  private int[] ranks = {};

  @Option(
      names = "--registered",
      description = "All buffers are registered as symmetric memory (NCCL from 2.27 on).")
  private boolean registered;

  @Option(names = "--plot", paramLabel = "FILE", description = "SVG curve over all sizes.")
  private Path plot;

  @Option(names = "--model", paramLabel = "ID", description = "Model id, alias or file.")
  private String model;

  @Option(names = "--tp", paramLabel = "N", description = "Tensor degree, with --model.")
  private int tensor;

  @Option(
      names = "--tokens",
      split = ",",
      paramLabel = "N",
      description = "Tokens of one pass, with --model; of one rank, with moe_*.")
  private List<Integer> tokens = List.of(1, 64, 2000);

  @Option(names = "--gradients", description = "Price the gradient exchange of --model.")
  private boolean gradients;

  @Option(
      names = "--profile",
      paramLabel = "P",
      description = "fitted (default), or seed: nominal bandwidth, one delay per message.")
  private String profile = "fitted";

  @Option(names = "--link", paramLabel = "LINK", description = "Another link, with seed.")
  private String link;

  @Option(names = "--catalog", paramLabel = "DIR", description = "Folder whose files win.")
  private Path folder;

  @Override
  public Integer call() {
    require(system != null, "--system", "is missing: name a system of the catalog.");
    Catalog catalog = Catalog.open(folder);
    CollectiveQuestion question = CollectiveQuestion.on(catalog, system, network);
    if (model != null) {
      return gradients ? gradients(catalog, question) : tensor(catalog, question);
    }
    if (collective != null && collective.startsWith("moe")) {
      return experts(question);
    }
    Collective c = collective();
    require(gpus > 0 || ranks.length > 0, "--gpus", "is missing: how many GPUs take part?");
    require(
        Arrays.stream(ranks).distinct().count() == ranks.length
            && Arrays.stream(ranks).allMatch(r -> r >= 0),
        "--ranks",
        "must be different GPU numbers from 0 on.");
    require(perDomain >= 0, "--per-domain", "must be at least 1.");
    int count = ranks.length > 0 ? ranks.length : gpus;
    var group = question.group(count, perDomain);
    if (plot != null) {
      write(
          plot,
          CollectiveCurve.of(
              question.costs(c, CollectiveQuestion.allSizes(), group, ranks, registered),
              "%s, %d GPUs, %s".formatted(c.key(), count, question.system().name())));
    }
    if (allSizes) {
      List<CollectiveCost> costs =
          question.costs(c, CollectiveQuestion.allSizes(), group, ranks, registered);
      print(costs, CollectiveTable.of(costs));
      return Main.OK;
    }
    require(bytes != null || plot != null, "--bytes", "is missing: write it like 1GiB.");
    if (bytes != null) {
      CollectiveCost cost = question.costs(c, List.of(size()), group, ranks, registered).get(0);
      print(cost, CollectiveTable.of(cost));
    }
    return Main.OK;
  }

  private Integer experts(CollectiveQuestion question) {
    boolean dispatch = collective.equals("moe_dispatch");
    require(dispatch || collective.equals("moe_combine"), "COLLECTIVE", collective + " is none.");
    require(gpus > 0, "--gpus", "is missing: how many GPUs share the experts?");
    require(experts.hidden > 0, "--hidden", "is missing: elements of a token.");
    require(experts.topK > 0, "--top-k", "is missing: experts of a token.");
    require(experts.imbalance >= 1, "--imbalance", "must be at least 1.");
    require(experts.groupLimit >= 0, "--group-limit", "must be at least 1.");
    require(tokens.size() == 1 && tokens.get(0) > 0, "--tokens", "is missing: tokens of one rank.");
    var sent =
        new ExpertTraffic.Tokens(
            dispatch,
            tokens.get(0),
            experts.hidden,
            experts.topK,
            experts.fp8,
            experts.imbalance,
            experts.groupLimit);
    var lines = ExpertTraffic.of(question.communication(), question.group(gpus, perDomain), sent);
    print(lines, CollectiveTable.experts(lines));
    return Main.OK;
  }

  private Integer tensor(Catalog catalog, CollectiveQuestion question) {
    require(tensor > 0, "--tp", "is missing: the tensor degree.");
    require(tokens.stream().allMatch(t -> t > 0), "--tokens", "must be at least 1.");
    Model shape = model(catalog);
    List<TensorTraffic.Line> lines;
    if (profile.equals("seed")) {
      lines = TensorTraffic.seed(shape, tensor, tokens, question.system(), question.gpu(), link());
    } else {
      require(profile.equals("fitted"), "--profile", "must be fitted or seed.");
      lines = TensorTraffic.priced(shape, tensor, tokens, question.communication(), question.gpu());
    }
    print(lines, CollectiveTable.tensor(lines));
    return Main.OK;
  }

  private Integer gradients(Catalog catalog, CollectiveQuestion question) {
    require(gpus > 0, "--gpus", "is missing: how many GPUs hold a copy?");
    double parameters = dev.meshplan.model.Parameters.total(model(catalog));
    var lines = question.gradients(parameters, question.group(gpus, perDomain));
    print(lines, CollectiveTable.gradients(lines));
    return Main.OK;
  }

  private void print(Object record, String text) {
    output.write(spec.commandLine().getOut(), output.json() ? Text.json(record) : text);
  }

  private Model model(Catalog catalog) {
    Errors errors = new Errors();
    Model m =
        catalog
            .models()
            .get(model, errors, t -> errors.add(new InputError(LINE, 0, "--model", model, t)));
    errors.throwIfAny();
    return m;
  }

  private Collective collective() {
    List<String> known = Arrays.stream(Collective.values()).map(Collective::key).toList();
    require(collective != null, "COLLECTIVE", "is missing: one of " + String.join(", ", known));
    String name = collective.toLowerCase(Locale.ROOT).replace('-', '_');
    for (Collective c : Collective.values()) {
      if (c.key().equals(name) || c.key().replace("_", "").equals(name.replace("_", ""))) {
        return c;
      }
    }
    throw new InputException(
        LINE,
        "COLLECTIVE",
        collective,
        "is no collective." + Names.hint(name, known) + " Use one of " + String.join(", ", known));
  }

  private Link link() {
    if (link == null) {
      return null;
    }
    for (Link l : Link.values()) {
      if (l.key().equals(link)) {
        return l;
      }
    }
    List<String> known = Arrays.stream(Link.values()).map(Link::key).toList();
    throw new InputException(LINE, "--link", link, "is no link." + Names.hint(link, known));
  }

  private double size() {
    try {
      double size = Quantity.parse(bytes, Dimension.BYTES);
      require(size > 0, "--bytes", "must be more than nothing.");
      return size;
    } catch (IllegalArgumentException e) {
      throw new InputException(LINE, "--bytes", bytes, e.getMessage() + ".");
    }
  }

  static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new InputException(LINE, "", file.toString(), "can't be written: " + e.getMessage());
    }
  }

  private static void require(boolean given, String flag, String message) {
    if (!given) {
      throw new InputException(LINE, flag, "", message);
    }
  }
}
