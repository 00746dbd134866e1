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

  private CollectiveAccuracy(Catalog catalog) {
    this.catalog = catalog;
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

  /** The file's result. */
  public record Report(List<Row> rows, List<AccuracySummary.Line> summary) {}

  /**
   * Prices every row.
   *
   * @param csv text of the file; its columns are those of the measured set in the test resources
   * @throws dev.meshplan.config.InputException when columns are missing or cells are no numbers
   */
  public static Report replay(String file, String csv, Catalog catalog) {
    CollectiveAccuracy accuracy = new CollectiveAccuracy(catalog);
    List<Scored> scored = new ArrayList<>();
    for (MeasuredCollective m : MeasuredFile.read(file, csv)) {
      scored.add(accuracy.score(m));
    }
    return new Report(scored.stream().map(Scored::row).toList(), AccuracySummary.of(scored));
  }

  private Scored score(MeasuredCollective m) {
    String key = m.system() + " " + m.network();
    boolean crosses = m.gpus() > m.domainGpus() && m.domainGpus() > 1;
    if (!m.excluded().isEmpty()) {
      return skipped(m, crosses, "excluded: " + m.excluded());
    }
    if (m.system().isEmpty()) {
      return skipped(m, crosses, "the system is not named");
    }
    if (catalog.systems().id(m.system()) == null) {
      return skipped(m, crosses, "no system " + m.system() + " in the catalog");
    }
    if (!m.network().isEmpty() && catalog.networks().id(m.network()) == null) {
      return skipped(m, crosses, "no network " + m.network() + " in the catalog");
    }
    if (m.collective() == null && !m.expertExchange()) {
      return skipped(m, crosses, "no cost model yet for " + m.name());
    }
    try {
      Communication c = machines.computeIfAbsent(key, k -> machine(m));
      return m.expertExchange() ? exchange(m, c, crosses) : collective(m, c, crosses);
    } catch (NoCostModel e) {
      return skipped(m, crosses, e.getMessage());
    }
  }

  private Communication machine(MeasuredCollective m) {
    Errors errors = new Errors();
    SystemSpec system = catalog.systems().get(m.system(), errors, x -> {});
    Gpu gpu = gpu(system, errors);
    Network network =
        m.network().isEmpty() ? null : catalog.networks().get(m.network(), errors, x -> {});
    errors.throwIfAny();
    return new Communication(Fabric.of(system, gpu, network));
  }

  private Gpu gpu(SystemSpec system, Errors errors) {
    return catalog.gpus().get(system.gpu(), errors, x -> {});
  }

  private Scored collective(MeasuredCollective m, Communication c, boolean crosses) {
    Collective kind = m.collective();
    SystemSpec system = c.fabric().system();
    Group g = group(m, system);
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
      CollectiveCost cost = c.cost(kind, bytes, g);
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
    if (m.domainGpus() > 1) {
      return Group.of(m.gpus(), m.domainGpus());
    }
    if (system.domain().kind() == SystemSpec.Fabric.PCIE) {
      int perDomain = system.domain().size();
      return Group.of(m.gpus(), perDomain);
    }
    return new Group(m.gpus(), 1, m.nodes() > 1 ? m.gpus() / m.nodes() : m.gpus(), 0);
  }

  private static List<Algorithm> forced(MeasuredCollective m, Collective kind) {
    return switch (m.algorithm()) {
      case "ring" -> RINGS;
      case "tree" -> TREES;
      case "nvls" -> List.of(Algorithm.NVLS);
      case "nvlstree", "nvls_tree" -> List.of(Algorithm.NVLS_TREE);
      case "sharp", "collnet" -> List.of(Algorithm.SHARP);
      case "custom-ar" -> List.of(Algorithm.CUSTOM);
      default -> {
        if (kind == Collective.ALL_REDUCE && !m.sixteenBit()) {
          List<Algorithm> noSwitch = new ArrayList<>(RINGS);
          noSwitch.addAll(TREES);
          yield noSwitch;
        }
        yield List.of();
      }
    };
  }

  private Scored exchange(MeasuredCollective m, Communication c, boolean crosses) {
    MoeExchange.Dispatcher dispatcher = m.dispatcher();
    if (dispatcher == null) {
      return skipped(m, crosses, "no cost model yet for " + m.algorithm());
    }
    if (Double.isNaN(m.tokens() + m.hidden() + m.topK())) {
      return skipped(m, crosses, "tokens, hidden size or top-k are not given");
    }
    int perDomain = Math.max(1, Math.min(m.gpus(), m.domainGpus()));
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
