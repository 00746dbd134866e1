package dev.meshplan.study;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputError;
import dev.meshplan.config.Library;
import dev.meshplan.config.Names;
import dev.meshplan.config.Section;
import dev.meshplan.config.YamlReader;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.GpuReader;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.Offer;
import dev.meshplan.hardware.SystemReader;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.hardware.Traps;
import dev.meshplan.model.Model;
import dev.meshplan.model.ModelReader;
import dev.meshplan.model.Parameters;
import dev.meshplan.plan.Catalog;
import dev.meshplan.units.Quantity;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Checks a user's catalog file: is it readable, complete, and free of the usual traps? */
public final class CatalogCheck {
  private CatalogCheck() {}

  /**
   * What came of one file.
   *
   * @param file as given
   * @param kind model, gpu, system, network, offer; empty when it can't be told
   * @param id the id in the file
   * @param summary the key figures in one sentence
   * @param errors what must be changed
   * @param warnings what looks wrong, and what nobody published
   */
  public record Result(
      String file,
      String kind,
      String id,
      String summary,
      List<String> errors,
      List<String> warnings) {
    public boolean ok() {
      return errors.isEmpty();
    }
  }

  /** Reads and checks a file of any kind; the kind is told by its keys. */
  public static Result check(Path file, Catalog catalog) {
    Errors errors = new Errors();
    Section s = YamlReader.read(file, errors);
    String kind = s == null ? "" : kind(s.keys());
    List<String> warnings = new ArrayList<>();
    String id = "";
    String summary = "";
    if (s != null) {
      switch (kind) {
        case "model" -> {
          Model m = ModelReader.read(s);
          if (m != null) {
            id = m.id();
            summary = summary(m, warnings);
          }
        }
        case "gpu" -> {
          Gpu g = GpuReader.read(s);
          if (g != null) {
            id = g.id();
            summary = summary(g, warnings, catalog);
          }
        }
        case "system" -> {
          SystemSpec y = SystemReader.read(s);
          if (y != null) {
            id = y.id();
            summary = summary(y, warnings, catalog, s);
          }
        }
        case "network" -> {
          Network n = Network.read(s);
          if (n != null) {
            id = n.id();
            summary = "one port carries " + Quantity.bandwidth(n.portBandwidth()) + " one way";
          }
        }
        case "offer" -> {
          Offer o = Offer.read(s);
          if (o != null) {
            id = o.id();
            summary = "%s USD for %s".formatted(Quantity.digits(o.base()), o.system());
            named(s, "system", o.system(), catalog.systems());
          }
        }
        default ->
            errors.add(
                new InputError(
                    file.toString(),
                    s.line(),
                    "",
                    "",
                    "is no catalog file: a model has hidden and layers, a GPU memory and"
                        + " architecture, a system gpu and domain, a network port_bandwidth, an"
                        + " offer system and base."));
      }
    }
    String stem = file.getFileName().toString().replaceFirst("\\.ya?ml$", "");
    if (!id.isEmpty() && !stem.equals(id)) {
      warnings.add("id is " + id + ", but in a catalog folder the file's name is the id: " + stem);
    }
    return new Result(
        file.toString(),
        kind,
        id,
        summary,
        errors.list().stream().map(InputError::toString).toList(),
        List.copyOf(warnings));
  }

  private static String kind(List<String> keys) {
    if (keys.contains("hidden") || keys.contains("layers")) {
      return "model";
    }
    if (keys.contains("domain") || keys.contains("gpus_per_node")) {
      return "system";
    }
    if (keys.contains("port_bandwidth")) {
      return "network";
    }
    if (keys.contains("architecture") || keys.contains("memory_bandwidth")) {
      return "gpu";
    }
    return keys.contains("system") && keys.contains("base") ? "offer" : "";
  }

  private static String summary(Model m, List<String> warnings) {
    double total = Parameters.total(m);
    Model.Published p = m.published();
    double counted = total + (p.withMtp() ? m.mtpLayers() * Parameters.mtp(m) : 0);
    double active = Parameters.active(m, p.convention());
    if (p.mismatch().isEmpty()) {
      differs(warnings, "total", counted, p.total());
      differs(warnings, "active", active, p.active());
    }
    if (p.total() == 0) {
      warnings.add("published.total is missing: nothing to check the count against.");
    }
    return "%d layers, %s parameters, %s active"
        .formatted(m.layerCount(), Quantity.count(total), Quantity.count(active));
  }

  private static void differs(List<String> warnings, String what, double ours, double theirs) {
    if (theirs > 0 && Math.abs(ours / theirs - 1) > 0.01) {
      warnings.add(
          "published.%s is %s, the shape gives %s (%+.1f%%): correct the shape, or say why in published.mismatch."
              .formatted(
                  what, Quantity.count(theirs), Quantity.count(ours), 100 * (ours / theirs - 1)));
    }
  }

  private static String summary(Gpu g, List<String> warnings, Catalog catalog) {
    warnings.addAll(Traps.warnings(g, catalog.gpus().all().values()));
    unknown(warnings, g.unknown());
    return "%s, %s usable (%s)"
        .formatted(
            Quantity.flops(g.peak16()),
            Quantity.bytes(g.usableMemoryBytes().value()),
            g.usableMemoryBytes().basis().key());
  }

  private static String summary(
      SystemSpec y, List<String> warnings, Catalog catalog, Section section) {
    warnings.addAll(Traps.warnings(y));
    unknown(warnings, y.unknown());
    if (!y.gpu().endsWith(".yaml")) {
      named(section, "gpu", y.gpu(), catalog.gpus());
    }
    if (!y.network().isEmpty()) {
      named(section, "network", y.network(), catalog.networks());
    }
    return "domains of %d, %s per GPU one way"
        .formatted(y.domain().size(), Quantity.bandwidth(y.domain().bandwidth()));
  }

  private static void unknown(List<String> warnings, List<String> keys) {
    if (!keys.isEmpty()) {
      warnings.add("not given, so usable only where not needed: " + String.join(", ", keys));
    }
  }

  private static void named(Section s, String key, String name, Library<?> library) {
    if (library.id(name) == null) {
      s.error(key, "is not in the catalog." + Names.hint(name, library.names()));
    }
  }
}
