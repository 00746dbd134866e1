package dev.meshplan.view;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Known;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.Offer;
import dev.meshplan.hardware.Precision;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.model.Parameters;
import dev.meshplan.study.CatalogList;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** One catalog entry in words: key figures with units and basis, sources, notes. */
public final class CatalogPage {
  private CatalogPage() {}

  /** The page of a model, GPU, system, network or offer. */
  public static String of(Object entry) {
    if (entry instanceof Model m) {
      return model(m);
    }
    if (entry instanceof Gpu g) {
      return gpu(g);
    }
    if (entry instanceof SystemSpec s) {
      return system(s);
    }
    return entry instanceof Network n ? network(n) : offer((Offer) entry);
  }

  private static String model(Model m) {
    Map<String, String> rows = new LinkedHashMap<>();
    rows.put("family", m.family());
    rows.put("also", String.join(", ", m.aliases()));
    double total = Parameters.total(m);
    rows.put("parameters", Quantity.count(total));
    if (m.mtpLayers() > 0) {
      rows.put(
          "with " + m.mtpLayers() + " MTP",
          Quantity.count(total + m.mtpLayers() * Parameters.mtp(m)));
    }
    for (Model.ActiveConvention c : Model.ActiveConvention.values()) {
      rows.put("active, " + c.key().replace('_', ' '), Quantity.count(Parameters.active(m, c)));
    }
    Model.Published p = m.published();
    if (p.total() > 0) {
      rows.put(
          "published",
          Quantity.count(p.total())
              + (p.active() > 0
                  ? ", active "
                      + Quantity.count(p.active())
                      + " ("
                      + p.convention().key().replace('_', ' ')
                      + ")"
                  : ""));
    }
    rows.put("mismatch", p.mismatch());
    rows.put("embedding", Quantity.count(Parameters.embedding(m)));
    rows.put("output head", m.tiedEmbeddings() ? "tied" : Quantity.count(Parameters.head(m)));
    rows.put("hidden", Quantity.count(m.hidden()));
    rows.put("vocabulary", Quantity.count(m.vocabulary()));
    rows.put("positions", m.positions().key());
    rows.put(
        "longest sequence", m.maxSequence() == 0 ? "unknown" : Quantity.count(m.maxSequence()));
    rows.put("norm", m.norm().key() + ", " + m.normsPerLayer() + " per layer");
    if (m.parallelBlock()) {
      rows.put("block", "attention and MLP side by side, one sum");
    }
    rows.put("layers", m.layerCount() + ": " + CatalogList.mixers(m));
    Map<LayerKind, Integer> kinds = new LinkedHashMap<>();
    m.layerKinds().forEach(k -> kinds.merge(k, 1, Integer::sum));
    kinds.forEach(
        (k, n) -> {
          Parameters.Layer one = Parameters.layer(m, k);
          rows.put(
              "  " + n + " x " + k.name(),
              Quantity.count(one.total())
                  + " each"
                  + (k.moe()
                      ? ", %s in %d experts, %s active"
                          .formatted(
                              Quantity.count(one.expert()),
                              k.feedForward().experts(),
                              Quantity.count(one.active()))
                      : ""));
        });
    return page(m.id(), rows, m.sources(), m.notes());
  }

  private static String gpu(Gpu g) {
    Map<String, String> rows = new LinkedHashMap<>();
    rows.put("name", g.name());
    rows.put("also", String.join(", ", g.aliases()));
    rows.put("architecture", g.architecture().key() + (g.year() > 0 ? ", " + g.year() : ""));
    rows.put("status", g.status());
    rows.put("memory", Quantity.digits(g.memoryBytes() / Quantity.GIGA) + " GB on the label");
    rows.put("usable memory", known(g.usableMemoryBytes(), Quantity::bytes));
    rows.put("memory bandwidth", CatalogTable.bandwidth(g.memoryBandwidth()));
    for (Map.Entry<Precision, Double> e : g.peaks().entrySet()) {
      Precision p = e.getKey();
      rows.put(
          "peak " + p.key(),
          Quantity.flops(e.getValue())
              + " dense; GEMM reaches "
              + known(g.efficiency().gemm().get(p), Quantity::percent));
    }
    rows.put("best measured GEMM", known(g.efficiency().bestGemm(), Quantity::percent));
    rows.put("attention", known(g.efficiency().attention(), Quantity::percent));
    rows.put("FlashAttention-2", known(g.efficiency().attentionFlash2(), Quantity::percent));
    rows.put("stream", known(g.efficiency().memory(), Quantity::percent));
    rows.put("power peak", known(g.power().peak(), CatalogTable::watts));
    rows.put("power typical", known(g.power().typical(), CatalogTable::watts));
    rows.put("power idle", known(g.power().idle(), CatalogTable::watts));
    rows.put("SMs", g.sms() == 0 ? "unknown" : Integer.toString(g.sms()));
    rows.put("not published", String.join(", ", g.unknown()));
    return page(g.id(), rows, g.sources(), g.notes());
  }

  private static String system(SystemSpec s) {
    SystemSpec.Domain d = s.domain();
    Map<String, String> rows = new LinkedHashMap<>();
    rows.put("name", s.name());
    rows.put("also", String.join(", ", s.aliases()));
    rows.put("status", s.status());
    rows.put("GPU", s.gpu());
    rows.put("GPUs per node", Integer.toString(s.gpusPerNode()));
    rows.put("domain", d.size() + " GPUs, " + d.kind().key() + ", " + d.link());
    rows.put("per GPU, one way", CatalogTable.bandwidth(d.bandwidth()));
    rows.put("both directions", CatalogTable.bandwidth(2 * d.bandwidth()));
    rows.put("between two GPUs", CatalogTable.bandwidth(d.pairBandwidth()));
    rows.put(
        "links",
        d.directLinks().isEmpty()
            ? ""
            : d.directLinks().stream()
                .map(l -> l.a() + "-" + l.b() + (l.count() > 1 ? "x" + l.count() : ""))
                .collect(java.util.stream.Collectors.joining(", ")));
    rows.put("whole domain", CatalogTable.bandwidth(2 * d.size() * d.bandwidth()) + " both ways");
    rows.put("blocks", blocks(d));
    rows.put("board", d.boardGpus() + " GPUs");
    rows.put("to host memory", CatalogTable.bandwidth(d.hostBandwidth()) + ", " + s.host().kind());
    rows.put("NICs per node", s.nicsPerNode() == 0 ? "unknown" : s.nicsPerNode() + "");
    rows.put("usual network", s.network());
    rows.put("power beside GPUs", known(s.power().nodeOverhead(), CatalogTable::watts));
    rows.put("power of a rack", known(s.power().rack(), CatalogTable::watts));
    rows.put("cooling", s.cooling());
    rows.put("space", s.space());
    rows.put("not published", String.join(", ", s.unknown()));
    return page(s.id(), rows, s.sources(), s.notes());
  }

  private static String network(Network n) {
    Map<String, String> rows = new LinkedHashMap<>();
    rows.put("name", n.name());
    rows.put("also", String.join(", ", n.aliases()));
    rows.put("kind", n.kind());
    rows.put("one port, one way", CatalogTable.bandwidth(n.portBandwidth()));
    rows.put("ports per node", n.portsPerNode() == 0 ? "as the system" : n.portsPerNode() + "");
    rows.put("latency", known(n.latency(), Quantity::seconds));
    rows.put("leaf radix", n.leafRadix() == 0 ? "unknown" : n.leafRadix() + "");
    rows.put("oversubscription", Quantity.digits(n.oversubscription()));
    rows.put("rail optimised", n.railOptimised() ? "yes" : "no");
    rows.put("PXN", n.pxn() ? "yes" : "no");
    rows.put("in-network reduction", n.inNetworkReduction() ? "yes" : "no");
    return page(n.id(), rows, n.sources(), n.notes());
  }

  private static String offer(Offer o) {
    String unit = o.kind() == Offer.Kind.RENT ? " USD per GPU-hour" : " USD per GPU";
    Map<String, String> rows = new LinkedHashMap<>();
    rows.put("name", o.name());
    rows.put("also", String.join(", ", o.aliases()));
    rows.put("system", o.system());
    rows.put("kind", o.kind().key());
    rows.put(
        "price",
        Quantity.digits(o.base())
            + unit
            + ", from "
            + Quantity.digits(o.low())
            + " to "
            + Quantity.digits(o.high()));
    rows.put("seen", o.date() + ", trust " + o.trust());
    return page(o.id(), rows, o.sources(), o.notes());
  }

  private static String blocks(SystemSpec.Domain d) {
    List<String> parts = new ArrayList<>();
    for (int b : d.blocks()) {
      parts.add(d.size() / b + " of " + b);
    }
    return String.join(", ", parts);
  }

  private static String known(Known k, java.util.function.DoubleFunction<String> text) {
    return k != null && k.known()
        ? text.apply(k.value()) + " (" + k.basis().key().replace('_', ' ') + ")"
        : "unknown";
  }

  private static String page(
      String id, Map<String, String> rows, List<String> sources, String notes) {
    int width = rows.keySet().stream().mapToInt(String::length).max().orElse(0);
    StringBuilder out = new StringBuilder(id).append('\n');
    rows.forEach(
        (key, value) -> {
          if (!value.isEmpty()) {
            out.append(String.format(Locale.ROOT, "  %-" + width + "s  %s", key, value))
                .append('\n');
          }
        });
    if (!notes.isEmpty()) {
      out.append("notes: ").append(notes).append('\n');
    }
    out.append("sources:\n");
    sources.forEach(s -> out.append("  - ").append(s).append('\n'));
    return out.toString();
  }
}
