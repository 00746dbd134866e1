package dev.meshplan.hardware;

import dev.meshplan.config.Section;
import dev.meshplan.units.Basis;
import dev.meshplan.units.Dimension;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Reads a GPU file. The keys are described in hardware/README.md. */
public final class GpuReader {
  private GpuReader() {}

  /** The GPU, or null when {@code s.errors()} got something. */
  public static Gpu read(Section s) {
    int before = s.errors().size();
    String id = s.text("id");
    int ahead = s.errors().size();
    double memory = s.quantity("memory", Dimension.BYTES);
    boolean label = s.errors().size() == ahead;
    Known usable =
        s.has("usable_memory")
            ? new Known(
                s.quantity("usable_memory", Dimension.BYTES), basis(s, "usable_memory_basis"))
            : new Known(memory * 0.96, Basis.ASSUMED);
    if (label && usable.value() > memory * 1.08) {
      s.error("usable_memory", "is more than the memory label.");
    }
    ahead = s.errors().size();
    Gpu.Architecture architecture = s.choice("architecture", Gpu.Architecture.class);
    if (s.errors().size() > ahead) {
      architecture = Gpu.Architecture.OTHER;
    }
    Map<Precision, Double> peaks = new EnumMap<>(Precision.class);
    Section p = s.section("peak", false);
    if (p != null) {
      for (Precision precision : Precision.values()) {
        double v = p.quantity(precision.key(), Dimension.FLOP_PER_SECOND, Double.NaN);
        if (!Double.isNaN(v)) {
          peaks.put(precision, v);
          if (!architecture.has(precision)) {
            p.error(precision.key(), "is no format of " + architecture.key() + ": leave it out.");
          }
        }
      }
      Traps.peaks(p, architecture, peaks);
      p.finish();
    }
    Gpu.Efficiency efficiency = efficiency(s.section("efficiency", false), peaks);
    Gpu.Power power = power(s.section("power", false));
    Gpu gpu =
        new Gpu(
            id,
            s.texts("aliases"),
            s.text("name"),
            s.text("vendor"),
            architecture,
            (int) s.integer("year", 2000, 2100, 0),
            s.text("status", "available"),
            memory,
            usable,
            s.quantity("memory_bandwidth", Dimension.BYTES_PER_SECOND, Double.NaN),
            peaks,
            efficiency,
            power,
            (int) s.integer("sms", 1, 4096, 0),
            sources(s),
            s.text("notes", ""));
    s.finish();
    return s.errors().size() > before ? null : gpu;
  }

  private static Gpu.Efficiency efficiency(Section s, Map<Precision, Double> peaks) {
    Map<Precision, Known> gemm = new EnumMap<>(Precision.class);
    if (s == null) {
      return Efficiencies.complete(
          gemm,
          peaks,
          Known.UNKNOWN,
          Known.UNKNOWN,
          Known.UNKNOWN,
          Known.UNKNOWN,
          Known.UNKNOWN,
          Known.UNKNOWN);
    }
    Section g = s.section("gemm", false);
    if (g != null) {
      for (Precision precision : Precision.values()) {
        Known k = share(g, precision.key(), 1.5);
        if (k.known()) {
          gemm.put(precision, k);
        }
      }
      g.finish();
    }
    Gpu.Efficiency e =
        Efficiencies.complete(
            gemm,
            peaks,
            share(s, "attention", 1),
            share(s, "attention_flash2", 1),
            share(s, "k_half", 1e5),
            share(s, "m_half", 1e5),
            share(s, "memory", 1),
            share(s, "best_gemm", 1.2));
    s.finish();
    return e;
  }

  private static Gpu.Power power(Section s) {
    if (s == null) {
      return new Gpu.Power(Known.UNKNOWN, Known.UNKNOWN, Known.UNKNOWN);
    }
    Known peak = watts(s, "peak");
    Known typical = watts(s, "typical");
    Known idle = watts(s, "idle");
    s.finish();
    return new Gpu.Power(idle, typical, peak);
  }

  /** Watts written {@code 700 W} (then published) or {@code {value: 600 W, basis: assumed}}. */
  static Known watts(Section s, String key) {
    Section one = s.isSection(key) ? s.section(key, true) : null;
    if (one != null) {
      Known k =
          new Known(
              one.quantity("value", Dimension.WATTS),
              one.choice("basis", BasisKey.class, BasisKey.PUBLISHED).basis());
      one.finish();
      return k;
    }
    double v = s.quantity(key, Dimension.WATTS, Double.NaN);
    return Double.isNaN(v) ? Known.UNKNOWN : new Known(v, Basis.PUBLISHED);
  }

  /** A number written {@code 0.71} (then fitted) or {@code {value: 0.71, basis: measured}}. */
  static Known share(Section s, String key, double max) {
    if (s.isSection(key)) {
      Section one = s.section(key, true);
      Known k =
          new Known(
              one.number("value", 0, max),
              one.choice("basis", BasisKey.class, BasisKey.ASSUMED).basis());
      one.finish();
      return k;
    }
    double v = s.number(key, 0, max, Double.NaN);
    return Double.isNaN(v) ? Known.UNKNOWN : new Known(v, Basis.FITTED);
  }

  static Basis basis(Section s, String key) {
    return s.choice(key, BasisKey.class, BasisKey.PUBLISHED).basis();
  }

  static List<String> sources(Section s) {
    List<String> sources = s.texts("sources");
    if (sources.isEmpty()) {
      s.error("sources", "must name where the numbers are published.");
    }
    return sources;
  }

  /** Basis as a keyed enum for the reader. */
  enum BasisKey implements dev.meshplan.config.Keyed {
    MEASURED,
    PUBLISHED,
    FITTED,
    FITTED_ON_ONE_SOURCE,
    DERIVED,
    ASSUMED;

    Basis basis() {
      return Arrays.stream(Basis.values()).filter(b -> b.name().equals(name())).findFirst().get();
    }
  }
}
