package dev.meshplan.study;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.config.Keyed;
import dev.meshplan.config.Library;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.Offer;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.model.Parameters;
import dev.meshplan.plan.Catalog;
import dev.meshplan.units.Basis;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.regex.Pattern;

/** The catalog as plain lists, one element per name: ids first, then aliases. */
public final class CatalogList {
  private static final Pattern FIELD_NAME = Pattern.compile("\\w+=");

  private CatalogList() {}

  /** What a catalog holds. */
  public enum Kind implements Keyed {
    MODELS,
    GPUS,
    SYSTEMS,
    NETWORKS,
    OFFERS;

    /** The folder of this kind. */
    public Library<?> library(Catalog catalog) {
      return switch (this) {
        case MODELS -> catalog.models();
        case GPUS -> catalog.gpus();
        case SYSTEMS -> catalog.systems();
        case NETWORKS -> catalog.networks();
        case OFFERS -> catalog.offers();
      };
    }
  }

  /** A model. Parameters are elements; active ones by the publisher's convention. */
  public record ModelLine(
      String name,
      String id,
      String family,
      int layers,
      int hidden,
      int vocabulary,
      String attention,
      int experts,
      int topK,
      int mtpLayers,
      int maxSequence,
      double totalParameters,
      double activeParameters,
      Model.ActiveConvention activeCounts,
      double publishedTotalParameters,
      double publishedActiveParameters,
      String mismatch) {}

  /** A GPU, in base units; NaN (null in JSON) = not published. */
  public record GpuLine(
      String name,
      String id,
      String title,
      String vendor,
      Gpu.Architecture architecture,
      String status,
      double memoryBytes,
      double usableMemoryBytes,
      Basis usableMemoryBasis,
      double memoryBandwidthBytesPerSecond,
      Map<String, Double> peakFlopPerSecond,
      double peakWatts,
      List<String> unknown) {}

  /** A system; bandwidths are per GPU and one way. */
  public record SystemLine(
      String name,
      String id,
      String title,
      String gpu,
      String status,
      int gpusPerNode,
      int domainGpus,
      SystemSpec.Fabric fabric,
      String link,
      double scaleUpBytesPerSecond,
      double pairBytesPerSecond,
      List<Integer> blocks,
      int nicsPerNode,
      String network,
      List<String> unknown) {}

  /** A network; bandwidth is that of one port, one way. */
  public record NetworkLine(
      String name,
      String id,
      String title,
      String kind,
      double portBytesPerSecond,
      int portsPerNode,
      double oversubscription,
      boolean railOptimised,
      boolean inNetworkReduction) {}

  /** An offer; prices are US dollars per GPU-hour (rent) or per GPU (purchase). */
  public record OfferLine(
      String name,
      String id,
      String title,
      String system,
      Offer.Kind kind,
      double low,
      double base,
      double high,
      String date,
      String trust) {}

  /**
   * The lines of a kind.
   *
   * @param filter keeps lines with this text in a value, ignoring case; empty = all
   */
  public static List<?> of(Catalog catalog, Kind kind, String filter) {
    return switch (kind) {
      case MODELS -> lines(catalog.models(), filter, CatalogList::line);
      case GPUS -> lines(catalog.gpus(), filter, CatalogList::line);
      case SYSTEMS -> lines(catalog.systems(), filter, CatalogList::line);
      case NETWORKS -> lines(catalog.networks(), filter, CatalogList::line);
      case OFFERS -> lines(catalog.offers(), filter, CatalogList::line);
    };
  }

  /**
   * The entry with this name.
   *
   * @throws InputException with the nearest names when there is none
   */
  public static <T> T get(Library<T> library, String name) {
    Errors errors = new Errors();
    T entry =
        library.get(
            name,
            errors,
            message -> {
              throw new InputException("command line", "ID", name, message);
            });
    errors.throwIfAny();
    return entry;
  }

  /** The line of a model under one of its names. */
  public static ModelLine line(String name, Model m) {
    Model.Published p = m.published();
    return new ModelLine(
        name,
        m.id(),
        m.family(),
        m.layerCount(),
        m.hidden(),
        m.vocabulary(),
        mixers(m),
        m.experts(),
        m.distinctKinds().stream()
            .filter(LayerKind::moe)
            .map(LayerKind::feedForward)
            .mapToInt(FeedForward::topK)
            .max()
            .orElse(0),
        m.mtpLayers(),
        m.maxSequence(),
        Parameters.total(m),
        Parameters.active(m, p.convention()),
        p.convention(),
        p.total(),
        p.active(),
        p.mismatch());
  }

  /** The kinds of sequence mixers with how many layers have each, such as 24 ssm, 4 gqa. */
  public static String mixers(Model m) {
    Map<String, Integer> counts = new LinkedHashMap<>();
    for (LayerKind k : m.layerKinds()) {
      if (k.attention() != null) {
        String kind = k.attention().kind().key();
        if (k.attention().window() > 0) {
          kind += " window " + k.attention().window();
        }
        counts.merge(kind, 1, Integer::sum);
      }
    }
    List<String> parts = new ArrayList<>();
    counts.forEach((kind, n) -> parts.add(n + " " + kind));
    return String.join(", ", parts);
  }

  private static GpuLine line(String name, Gpu g) {
    Map<String, Double> peaks = new LinkedHashMap<>();
    g.peaks().forEach((p, v) -> peaks.put(p.key(), v));
    return new GpuLine(
        name,
        g.id(),
        g.name(),
        g.vendor(),
        g.architecture(),
        g.status(),
        g.memoryBytes(),
        g.usableMemoryBytes().value(),
        g.usableMemoryBytes().basis(),
        g.memoryBandwidth(),
        peaks,
        g.power().peak().value(),
        g.unknown());
  }

  private static SystemLine line(String name, SystemSpec s) {
    SystemSpec.Domain d = s.domain();
    return new SystemLine(
        name,
        s.id(),
        s.name(),
        s.gpu(),
        s.status(),
        s.gpusPerNode(),
        d.size(),
        d.kind(),
        d.link(),
        d.bandwidth(),
        d.pairBandwidth(),
        d.blocks(),
        s.nicsPerNode(),
        s.network(),
        s.unknown());
  }

  private static NetworkLine line(String name, Network n) {
    return new NetworkLine(
        name,
        n.id(),
        n.name(),
        n.kind(),
        n.portBandwidth(),
        n.portsPerNode(),
        n.oversubscription(),
        n.railOptimised(),
        n.inNetworkReduction());
  }

  private static OfferLine line(String name, Offer o) {
    return new OfferLine(
        name,
        o.id(),
        o.name(),
        o.system(),
        o.kind(),
        o.low(),
        o.base(),
        o.high(),
        o.date(),
        o.trust());
  }

  private static <T> List<Object> lines(
      Library<T> library, String filter, BiFunction<String, T, Object> line) {
    String wanted = filter.toLowerCase(Locale.ROOT);
    Map<String, T> all = library.all();
    List<Object> out = new ArrayList<>();
    for (String name : library.names()) {
      Object one = line.apply(name, all.get(library.id(name)));
      String values = FIELD_NAME.matcher(one.toString()).replaceAll(" ");
      if (values.toLowerCase(Locale.ROOT).contains(wanted)) {
        out.add(one);
      }
    }
    return out;
  }
}
