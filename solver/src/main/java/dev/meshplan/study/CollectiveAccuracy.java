package dev.meshplan.study;

import dev.meshplan.communication.Algorithm;
import dev.meshplan.communication.Collective;
import dev.meshplan.communication.CollectiveCost;
import dev.meshplan.communication.Communication;
import dev.meshplan.communication.Fabric;
import dev.meshplan.communication.Group;
import dev.meshplan.communication.MoeExchange;
import dev.meshplan.communication.NcclModel;
import dev.meshplan.communication.PlainRing;
import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.plan.Catalog;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measured collectives priced again: how far the estimator, the plain ring and NCCL's model are.
 */
public final class CollectiveAccuracy {
  private static final List<Algorithm> RINGS =
      List.of(Algorithm.RING_LL, Algorithm.RING_LL128, Algorithm.RING_SIMPLE);
  private static final List<Algorithm> TREES = List.of(Algorithm.TREE_LL, Algorithm.TREE_SIMPLE);

  private final Catalog catalog;
  private final Map<String, Communication> machines = new LinkedHashMap<>();

  private final Map<String, Double> tuning;

  /**
   * @param tuning constants other than the shipped ones, by row and key; empty = as shipped
   */
  CollectiveAccuracy(Catalog catalog, Map<String, Double> tuning) {
    this.catalog = catalog;
    this.tuning = tuning;
  }

  /**
   * One row.
   *
   * @param measured seconds (where the source prints bandwidth alone, from its bytes)
   * @param predicted seconds; NaN when the row is skipped
   * @param relativeError predicted over measured minus one; NaN when the row is skipped
   * @param algorithm that the estimator takes
   * @param skippedReason why the row isn't scored, or null
   */
  public record Row(
      String id,
      String system,
      String collective,
      double bytes,
      int gpus,
      double measured,
      double predicted,
      double relativeError,
      String algorithm,
      String skippedReason) {}

  /** A row with what the table needs beyond it. */
  record Scored(Row row, boolean kernel, boolean crosses, double ringError, double ncclError) {}

  /**
   * The file's result.
   *
   * @param spread between publishers who measured the same
   */
  public record Report(List<Row> rows, List<AccuracySummary.Line> summary, LabSpread spread) {}

  /**
   * Prices every row.
   *
   * @param csv text of the file; its columns are those of the measured set in the test resources
   * @throws dev.meshplan.config.InputException when columns are missing or cells are no numbers
   */
  public static Report replay(String file, String csv, Catalog catalog) {
    CollectiveAccuracy accuracy = new CollectiveAccuracy(catalog, Map.of());
    List<Scored> scored = new ArrayList<>();
    List<MeasuredCollective> measured = MeasuredFile.read(file, csv);
    for (MeasuredCollective m : measured) {
      scored.add(accuracy.score(m));
    }
    return new Report(
        scored.stream().map(Scored::row).toList(),
        AccuracySummary.of(scored),
        LabSpread.of(measured, scored));
  }

  Scored score(MeasuredCollective m) {
    boolean crosses = m.domainGpus() > 1 ? m.gpus() > m.domainGpus() : m.nodes() > 1;
    String reason = unusable(m);
    if (!reason.isEmpty()) {
      return skipped(m, crosses, reason);
    }
    try {
      Communication c = machines.computeIfAbsent(m.system() + " " + m.network(), k -> machine(m));
      return m.expertExchange() ? exchange(m, c) : collective(m, c);
    } catch (NoCostModel e) {
      return skipped(m, crosses, e.getMessage());
    } catch (InputException e) {
      return skipped(m, crosses, e.getMessage().lines().findFirst().orElse("wrong input"));
    }
  }

  /** Why a row can't be priced whatever the machine; empty = it can. */
  private String unusable(MeasuredCollective m) {
    if (!m.excluded().isEmpty()) {
      return "excluded: " + m.excluded();
    }
    if (!m.fault().isEmpty()) {
      return m.fault();
    }
    if (m.system().isEmpty()) {
      return "the system is not named";
    }
    if (catalog.systems().id(m.system()) == null) {
      return "no system " + m.system() + " in the catalog";
    }
    if (unknownNetwork(m)) {
      return "no network " + m.network() + " in the catalog";
    }
    if (m.collective() == null && !m.expertExchange()) {
      return "no cost model yet for " + m.name();
    }
    if (m.gpus() < 2) {
      return m.gpus() == 0 ? "the number of GPUs is not given" : "one GPU sends nothing";
    }
    return Double.isNaN(m.seconds()) && Double.isNaN(m.busBandwidth()) ? "no time is given" : "";
  }

  private boolean unknownNetwork(MeasuredCollective m) {
    return !m.network().isEmpty()
        && catalog.networks().id(m.network()) == null
        && NetworkName.read(m.network()) == null;
  }

  /** The machine on the row's network, or on its usual one where none is named. */
  Communication machine(MeasuredCollective m) {
    Errors errors = new Errors();
    SystemSpec system = catalog.systems().get(m.system(), errors, x -> {});
    Gpu gpu = gpu(system, errors);
    String id = m.network().isEmpty() ? system.network() : m.network();
    Network network =
        catalog.networks().id(id) == null
            ? NetworkName.read(id)
            : catalog.networks().get(id, errors, x -> {});
    errors.throwIfAny();
    return new Communication(Fabric.of(system, gpu, network, tuning));
  }

  private Gpu gpu(SystemSpec system, Errors errors) {
    return catalog.gpus().get(system.gpu(), errors, x -> {});
  }

  private Scored collective(MeasuredCollective m, Communication c) {
    Collective kind = m.collective();
    SystemSpec system = c.fabric().system();
    Group g = group(m, system);
    boolean crosses = c.crosses(g);
    Gpu gpu = gpu(system, new Errors());
    double bytes = bytes(m, gpu);
    if (Double.isNaN(bytes)) {
      return skipped(m, crosses, "the size is not given");
    }
    double measured =
        Double.isNaN(m.seconds())
            ? kind.wireBytes(bytes, m.gpus()) / m.busBandwidth()
            : m.seconds();
    List<Algorithm> forced = forced(m, kind);
    String name;
    double predicted;
    if (forced.isEmpty()) {
      CollectiveCost cost = c.cost(kind, bytes, g, m.registered());
      predicted = cost.seconds();
      name = cost.algorithm();
    } else {
      Algorithm best = forced.get(0);
      for (Algorithm a : forced) {
        best = c.seconds(kind, bytes, g, a) < c.seconds(kind, bytes, g, best) ? a : best;
      }
      predicted = c.seconds(kind, bytes, g, best);
      name = best.title();
    }
    if (Double.isInfinite(predicted)) {
      return skipped(m, crosses, "no cost model yet for " + m.algorithm() + " here");
    }
    Network network = c.fabric().network();
    double ring = PlainRing.seconds(kind, bytes, g, system, network);
    double nccl = NcclModel.seconds(kind, bytes, g, system, gpu, network);
    return new Scored(
        row(m, measured, predicted, name, null),
        m.kernel(),
        crosses,
        ring / measured - 1,
        nccl / measured - 1);
  }

  /** oneCCL's benchmark prints the shard where nccl-tests prints the full buffer. */
  private static double bytes(MeasuredCollective m, Gpu gpu) {
    boolean shard = gpu.vendor().equals("Intel") && m.collective() == Collective.ALL_GATHER;
    return shard ? m.bytes() * m.gpus() : m.bytes();
  }

  private static Group group(MeasuredCollective m, SystemSpec system) {
    SystemSpec.Fabric kind = system.domain().kind();
    boolean cards = kind == SystemSpec.Fabric.PCIE || kind == SystemSpec.Fabric.PAIRS;
    if (m.domainGpus() > 1 && !cards) {
      return Group.of(m.gpus(), m.domainGpus());
    }
    int perNode = m.nodes() > 1 ? (m.gpus() + m.nodes() - 1) / m.nodes() : m.gpus();
    if (m.domainGpus() == 0 && !cards) {
      int domain = Math.max(perNode, Math.min(m.gpus(), system.domain().size()));
      return Group.of(m.gpus(), Math.min(domain, system.domain().size()));
    }
    int most = kind == SystemSpec.Fabric.PCIE || m.domainGpus() != 1 ? system.domain().size() : 1;
    return new Group(
        m.gpus(), Math.min(m.gpus(), most), Math.min(perNode, system.gpusPerNode()), 0);
  }

  private static List<Algorithm> forced(MeasuredCollective m, Collective kind) {
    return switch (m.ran()) {
      case "ring" -> RINGS;
      case "tree" -> TREES;
      case "nvls" -> List.of(Algorithm.NVLS);
      case "nvlstree" -> List.of(Algorithm.NVLS_TREE);
      case "sharp", "collnet" -> List.of(Algorithm.SHARP);
      case "customar" -> List.of(Algorithm.CUSTOM);
      default -> {
        if (kind == Collective.ALL_REDUCE && !m.addedInSwitch()) {
          List<Algorithm> noSwitch = new ArrayList<>(RINGS);
          noSwitch.addAll(TREES);
          yield noSwitch;
        }
        yield List.of();
      }
    };
  }

  private Scored exchange(MeasuredCollective m, Communication c) {
    SystemSpec system = c.fabric().system();
    int domain = m.domainGpus() > 0 ? m.domainGpus() : system.domain().size();
    int perDomain = Math.min(m.gpus(), domain);
    boolean crosses = c.crosses(Group.of(m.gpus(), perDomain));
    MoeExchange.Dispatcher dispatcher = m.dispatcher();
    if (dispatcher == null) {
      return skipped(m, crosses, "no cost model yet for " + m.algorithm());
    }
    if (Double.isNaN(m.tokens() + m.hidden() + m.topK())) {
      return skipped(m, crosses, "tokens, hidden size or top-k are not given");
    }
    MoeExchange e =
        new MoeExchange(
            m.tokens(),
            m.hidden(),
            (int) m.topK(),
            m.gpus(),
            perDomain,
            m.bytesPerElement(),
            0,
            dispatcher,
            1);
    boolean dispatch = m.name().equals("moe_dispatch");
    double predicted = dispatch ? c.dispatchSeconds(e) : c.combineSeconds(e);
    double measured = Double.isNaN(m.seconds()) ? e.countedBytes() / m.busBandwidth() : m.seconds();
    return new Scored(
        row(m, measured, predicted, dispatcher.key(), null), true, crosses, Double.NaN, Double.NaN);
  }

  private static Scored skipped(MeasuredCollective m, boolean crosses, String reason) {
    return new Scored(
        row(m, m.seconds(), Double.NaN, "", reason), m.kernel(), crosses, Double.NaN, Double.NaN);
  }

  private static Row row(
      MeasuredCollective m, double measured, double predicted, String algorithm, String reason) {
    return new Row(
        m.id(),
        m.system(),
        m.name(),
        m.bytes(),
        m.gpus(),
        measured,
        predicted,
        reason == null ? predicted / measured - 1 : Double.NaN,
        algorithm,
        reason);
  }
}
