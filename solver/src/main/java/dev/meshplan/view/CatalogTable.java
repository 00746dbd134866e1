package dev.meshplan.view;

import dev.meshplan.study.CatalogList;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Catalog lists as aligned columns: one row per entry, its other names in the last column. */
public final class CatalogTable {
  private static final int MOST_ALIASES = 60;

  private CatalogTable() {}

  /**
   * The table of a list made by {@link CatalogList#of}.
   *
   * @return text with a final newline; says so when nothing matches
   */
  public static String of(CatalogList.Kind kind, List<?> lines) {
    Map<String, List<String>> rows = new LinkedHashMap<>();
    Map<String, List<String>> aliases = new LinkedHashMap<>();
    for (Object line : lines) {
      List<String> cells = cells(line);
      String name = cells.get(0);
      String id = cells.get(1);
      List<String> row = new ArrayList<>(cells.subList(1, cells.size()));
      rows.putIfAbsent(id, row);
      aliases.computeIfAbsent(id, k -> new ArrayList<>());
      if (!name.equals(id)) {
        aliases.get(id).add(name);
      }
    }
    if (rows.isEmpty()) {
      return "No " + kind.key() + " match.\n";
    }
    List<List<String>> table = new ArrayList<>();
    table.add(header(kind));
    rows.forEach(
        (id, row) -> {
          row.add(shortened(String.join(", ", aliases.get(id))));
          table.add(row);
        });
    return aligned(table)
        + "\n"
        + rows.size()
        + " entries, "
        + lines.size()
        + " names. One in full: meshplan catalog "
        + kind.key()
        + " "
        + rows.keySet().iterator().next()
        + "\n";
  }

  private static List<String> header(CatalogList.Kind kind) {
    return switch (kind) {
      case MODELS ->
          List.of("MODEL", "PARAMETERS", "ACTIVE", "LAYERS", "HIDDEN", "EXPERTS", "ALSO");
      case GPUS -> List.of("GPU", "16 BIT", "USABLE", "MEMORY BW", "POWER", "STATUS", "ALSO");
      case SYSTEMS ->
          List.of("SYSTEM", "GPU", "DOMAIN", "FABRIC", "LINK", "PER GPU", "NETWORK", "ALSO");
      case NETWORKS -> List.of("NETWORK", "KIND", "ONE PORT", "PORTS PER NODE", "ALSO");
      case OFFERS -> List.of("OFFER", "SYSTEM", "KIND", "LOW", "BASE", "HIGH", "DATE", "ALSO");
    };
  }

  private static List<String> cells(Object line) {
    if (line instanceof CatalogList.ModelLine m) {
      return List.of(
          m.name(),
          m.id(),
          parameters(m.totalParameters()),
          parameters(m.activeParameters()),
          Integer.toString(m.layers()),
          Integer.toString(m.hidden()),
          m.experts() == 0 ? "dense" : m.experts() + " top " + m.topK());
    }
    if (line instanceof CatalogList.GpuLine g) {
      double peak =
          g.peakFlopPerSecond()
              .getOrDefault("bf16", g.peakFlopPerSecond().getOrDefault("fp16", Double.NaN));
      return List.of(
          g.name(),
          g.id(),
          Double.isNaN(peak) ? "unknown" : Quantity.flops(peak),
          Quantity.bytes(g.usableMemoryBytes()),
          bandwidth(g.memoryBandwidthBytesPerSecond()),
          watts(g.peakWatts()),
          g.status());
    }
    if (line instanceof CatalogList.SystemLine s) {
      return List.of(
          s.name(),
          s.id(),
          s.gpu(),
          Integer.toString(s.domainGpus()),
          s.fabric().key(),
          s.link(),
          bandwidth(s.scaleUpBytesPerSecond()),
          s.network().isEmpty() ? "-" : s.network());
    }
    if (line instanceof CatalogList.NetworkLine n) {
      return List.of(
          n.name(),
          n.id(),
          n.kind(),
          bandwidth(n.portBytesPerSecond()),
          n.portsPerNode() == 0 ? "as the system" : Integer.toString(n.portsPerNode()));
    }
    CatalogList.OfferLine o = (CatalogList.OfferLine) line;
    return List.of(
        o.name(),
        o.id(),
        o.system(),
        o.kind().key(),
        Quantity.digits(o.low()),
        Quantity.digits(o.base()),
        Quantity.digits(o.high()),
        o.date());
  }

  /** A count as B (billions) or M (millions), as models are named. */
  static String parameters(double count) {
    double billions = count / Quantity.GIGA;
    return billions >= 1 ? Quantity.digits(billions) + "B" : Quantity.digits(1000 * billions) + "M";
  }

  static String bandwidth(double bytesPerSecond) {
    return Double.isNaN(bytesPerSecond) ? "unknown" : Quantity.bandwidth(bytesPerSecond);
  }

  static String watts(double watts) {
    return Double.isNaN(watts) ? "unknown" : Quantity.digits(watts) + " W";
  }

  private static String shortened(String aliases) {
    if (aliases.length() <= MOST_ALIASES) {
      return aliases;
    }
    int cut = aliases.lastIndexOf(", ", MOST_ALIASES - 5);
    return aliases.substring(0, Math.max(cut, 0)) + ", ...";
  }

  private static String aligned(List<List<String>> table) {
    int columns = table.get(0).size();
    List<Integer> widths = new ArrayList<>(Collections.nCopies(columns, 0));
    for (List<String> row : table) {
      for (int i = 0; i < columns; i++) {
        widths.set(i, Math.max(widths.get(i), row.get(i).length()));
      }
    }
    StringBuilder out = new StringBuilder();
    for (List<String> row : table) {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        text.append(row.get(i)).append(" ".repeat(widths.get(i) - row.get(i).length() + 2));
      }
      out.append(text.toString().stripTrailing()).append('\n');
    }
    return out.toString();
  }
}
