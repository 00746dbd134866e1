package dev.meshplan.hardware;

import dev.meshplan.config.Section;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The figures that data sheets make easy to copy wrongly: both directions for one, a link for a
 * GPU, bits for bytes, sparse for dense, GiB for GB. What is certainly wrong is an error of the
 * reader; what may be right is a warning.
 */
public final class Traps {
  /** InfiniBand generations: one port, one way, GB/s. */
  private static final Map<String, Double> PORTS =
      Map.of("edr", 12.5, "hdr", 25.0, "ndr", 50.0, "xdr", 100.0);

  /** More than any port sold: such a figure is in bits. */
  private static final double MOST_PORT = 200 * Quantity.GIGA;

  private Traps() {}

  /** Reports a domain's bandwidth that its links can't carry one way. */
  static void bandwidth(Section s, Link link, SystemSpec.Fabric kind, double bandwidth) {
    tooMuch(s, "bandwidth", link, bandwidth);
    double one = link.oneLink();
    boolean whole = kind == SystemSpec.Fabric.SWITCH || kind == SystemSpec.Fabric.PAIRS;
    if (whole && link.nvlink() && (close(bandwidth, one) || close(bandwidth, 2 * one))) {
      s.error(
          "bandwidth",
          "is one %s link; a GPU has %d of them, %s one way."
              .formatted(link.key(), link.links(), Quantity.bandwidth(link.oneWay())));
    }
  }

  /** Reports a host link of both directions. */
  static void hostBandwidth(Section s, double bandwidth) {
    if (close(bandwidth, 128 * Quantity.GIGA) || close(bandwidth, 126 * Quantity.GIGA)) {
      s.error(
          "host_bandwidth",
          Quantity.bandwidth(bandwidth)
              + " of PCIe 5.0 x16 is both directions; one way is 63 GB/s.");
    }
    if (bandwidth > 900 * Quantity.GIGA * 1.02) {
      tooMuch(s, "host_bandwidth", Link.C2C, bandwidth);
    }
  }

  private static void tooMuch(Section s, String key, Link link, double bandwidth) {
    double most = link.oneWay();
    if (!(bandwidth > most * 1.02)) {
      return;
    }
    double half = link.halfOf(bandwidth);
    s.error(
        key,
        Double.isNaN(half)
            ? "is more than %s carries per GPU: %s one way.".formatted(link.key(), gb(most))
            : "%s is both directions; one way is %s.".formatted(gb(bandwidth), gb(half)));
  }

  /** Reports a port of both directions, or bytes where bits are meant. */
  static void port(Section s, String id, String name, double bandwidth) {
    if (bandwidth > MOST_PORT) {
      s.error(
          "port_bandwidth",
          "is more than any port carries; ports are sold in Gb/s: 400 Gb/s is 50 GB/s.");
      return;
    }
    String text = (id + " " + name).toLowerCase(Locale.ROOT);
    for (String generation : List.of("edr", "hdr", "ndr", "xdr")) {
      double one = PORTS.get(generation) * Quantity.GIGA;
      if (text.contains(generation) && close(bandwidth, 2 * one)) {
        s.error(
            "port_bandwidth",
            "%s of %s is both directions; one way is %s."
                .formatted(gb(bandwidth), generation.toUpperCase(Locale.ROOT), gb(one)));
      }
    }
  }

  /** Reports peaks beyond anything dense of the architecture. */
  static void peaks(Section s, Gpu.Architecture architecture, Map<Precision, Double> peaks) {
    double most = architecture.mostDense16();
    for (Precision p : List.of(Precision.BF16, Precision.FP16)) {
      double peak = peaks.getOrDefault(p, Double.NaN);
      if (peak > 1.5 * most) {
        s.error(
            p.key(),
            "is beyond any dense peak of %s (%s): sheets print figures with sparsity, which are twice the dense ones."
                .formatted(architecture.key(), Quantity.flops(most)));
      }
    }
  }

  /**
   * What looks copied wrongly in a GPU, sentences. Empty = nothing.
   *
   * @param known GPUs to compare with
   */
  public static List<String> warnings(Gpu gpu, Collection<Gpu> known) {
    List<String> out = new ArrayList<>();
    for (Gpu other : known) {
      if (!other.id().equals(gpu.id()) && other.architecture() == gpu.architecture()) {
        gpu.peaks()
            .forEach(
                (p, v) -> {
                  if (close(v, 2 * other.peak(p)) && alike(gpu, other)) {
                    out.add(
                        "peak.%s = %s is twice the dense peak of %s: is it the figure with sparsity?"
                            .formatted(p.key(), Quantity.flops(v), other.id()));
                  }
                });
      }
    }
    double label = gpu.memoryBytes() / Quantity.GIGA;
    if (label != Math.rint(label) && whole(gpu.memoryBytes() / Quantity.GIB)) {
      out.add("memory is in GiB: labels are in GB, and what a process can use is usable_memory.");
    }
    double usable = gpu.usableMemoryBytes().value() / Quantity.GIB;
    if (gpu.architecture().nvidia() && Math.abs(usable - label) < 1e-6) {
      out.add(
          "usable_memory is the label read as GiB: a card sold as 80 GB offers 79.2 GiB; see nvidia-smi.");
    }
    Double fp8 = gpu.peaks().get(Precision.FP8);
    if (fp8 != null && gpu.architecture().nvidia() && close(fp8, 4 * gpu.peak16())) {
      out.add("peak.fp8 is four times the 16-bit peak: is it the figure with sparsity?");
    }
    return List.copyOf(out);
  }

  /** What looks copied wrongly in a system, sentences. Empty = nothing. */
  public static List<String> warnings(SystemSpec system) {
    List<String> out = new ArrayList<>();
    SystemSpec.Domain d = system.domain();
    if (d.kind() == SystemSpec.Fabric.MESH && d.size() > 2 && d.pairBandwidth() == d.bandwidth()) {
      out.add(
          "domain.pair_bandwidth is missing: in a mesh two GPUs have one link, not all of them.");
    }
    if (system.power().rack().known() && d.size() <= 16 && system.power().rack().value() > 40e3) {
      out.add("power.rack is more than a server of " + d.size() + " GPUs draws.");
    }
    return List.copyOf(out);
  }

  private static boolean alike(Gpu a, Gpu b) {
    double ratio = a.memoryBandwidth() / b.memoryBandwidth();
    return ratio > 0.8 && ratio < 1.25;
  }

  private static boolean whole(double v) {
    return Math.abs(v - Math.rint(v)) < 1e-9;
  }

  private static boolean close(double a, double b) {
    return Math.abs(a / b - 1) < 0.01;
  }

  private static String gb(double bytesPerSecond) {
    return Quantity.bandwidth(bytesPerSecond);
  }
}
