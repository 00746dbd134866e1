package dev.meshplan.formats;

import dev.meshplan.config.Text;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.PathKind;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A reported node as a system of the catalog, with what the report does and does not say. */
final class NodeSystem {
  /**
   * Most NVLinks that any GPU has had up to NVLink 5; more in sum means that a switch shares them.
   */
  private static final int MOST_LINKS = 18;

  private final NodeTopology t;
  private final Gpu gpu;
  private final int domainGpus;
  private final List<String> understood = new ArrayList<>();
  private final List<String> assumed = new ArrayList<>();
  private final List<String> missing = new ArrayList<>();
  private final List<String> faults = new ArrayList<>();

  private NodeSystem(NodeTopology t, Gpu gpu, int domainGpus) {
    this.t = t;
    this.gpu = gpu;
    this.domainGpus = domainGpus;
    missing.addAll(t.missing());
    faults.addAll(t.faults());
  }

  static Imported of(NodeTopology t, String kind, String file, String id, Gpu gpu, int domainGpus) {
    NodeSystem s = new NodeSystem(t, gpu, domainGpus);
    boolean closed = t.missing().isEmpty() && t.whole() && !t.gpus().isEmpty();
    s.describe();
    if (t.gpus().size() == 1 && Boolean.TRUE.equals(t.throughSwitch())) {
      s.missing.add(
          "one GPU of a board with NVSwitches is shown, so the size of its node is not known");
      closed = false;
    }
    String yaml = closed ? s.yaml(kind, file, id) : "";
    return new Imported(kind, s.understood, s.assumed, s.missing, s.faults, yaml);
  }

  private void describe() {
    understood.add(t.gpus().size() + " GPUs, " + t.nics().size() + " NICs");
    for (String a : t.asymmetries()) {
      faults.add("the matrix is not symmetric: " + a);
    }
    int most = t.gpus().stream().mapToInt(this::links).max().orElse(0);
    for (String g : t.gpus()) {
      boolean seen = t.gpus().stream().allMatch(o -> t.path(g, o) != null);
      if (most > 0 && seen && links(g) == 0 && t.gpus().size() > 1) {
        faults.add(g + " has no NVLink to any GPU, the others have: check its board and fabric");
      } else if (most > 0 && seen && links(g) < most) {
        faults.add(g + " has " + links(g) + " NVLinks in sum, others " + most);
      }
    }
    for (String g : t.gpus()) {
      String nics = t.nearestNics(g);
      if (nics != null) {
        understood.add(g + " is nearest to " + nics);
      }
    }
    for (int node : t.numa().stream().filter(n -> n >= 0).distinct().sorted().toList()) {
      List<String> on = new ArrayList<>();
      for (int i = 0; i < t.gpus().size(); i++) {
        if (t.numa().get(i) == node) {
          on.add(t.gpus().get(i));
        }
      }
      understood.add("NUMA node " + node + ": " + String.join(", ", on));
    }
    if (grace()) {
      understood.add("GPU memory is NUMA memory of the CPU (C2C): NICs hang off the CPU, not PCIe");
    }
  }

  private boolean grace() {
    return t.gpuNuma().stream().anyMatch(n -> n >= 0);
  }

  private int links(String g) {
    return t.gpus().stream().mapToInt(o -> t.links(g, o)).sum();
  }

  private String yaml(String kind, String file, String id) {
    Map<String, Object> top = new LinkedHashMap<>();
    top.put("id", id);
    top.put("name", t.gpus().size() + "-GPU node as reported by " + kind);
    if (gpu == null) {
      missing.add("the report does not name the GPU: add gpu: ID (--gpu ID)");
    } else {
      top.put("gpu", gpu.id());
    }
    top.put("gpus_per_node", t.gpus().size());
    top.put("domain", domain());
    top.put("nics_per_node", t.nics().size());
    if (!Double.isNaN(t.nicBytesPerSecond())) {
      understood.add("NICs of " + Quantity.bandwidth(t.nicBytesPerSecond()) + " one way");
    }
    assumed.add("no network: the report names none, so a request must");
    if (grace()) {
      top.put("host", Map.of("kind", "grace"));
    }
    top.put("sources", List.of(kind + ", " + file));
    return Text.yaml(top);
  }

  private Map<String, Object> domain() {
    List<List<String>> linked = t.groups(p -> p.kind() == PathKind.NVL);
    int largest = linked.stream().mapToInt(List::size).max().orElse(1);
    if (largest > 1) {
      return nvlink(linked.stream().filter(g -> g.size() > 1).toList());
    }
    return pcie();
  }

  private Map<String, Object> nvlink(List<List<String>> groups) {
    int size = groups.stream().mapToInt(List::size).min().orElse(1);
    List<String> one = groups.get(0);
    int least = Integer.MAX_VALUE;
    int most = 0;
    for (String a : one) {
      for (String b : one) {
        if (!a.equals(b)) {
          least = Math.min(least, t.links(a, b));
          most = Math.max(most, t.links(a, b));
        }
      }
    }
    int sum = links(one.get(0));
    boolean even = least == most && least > 0;
    boolean through = t.throughSwitch() != null ? t.throughSwitch() : even && sum > MOST_LINKS;
    int perGpu = through ? most : sum;
    String kind = through ? "switch" : size == 2 ? "pairs" : "mesh";
    for (List<String> g : groups) {
      understood.add(
          "NVLink domain "
              + String.join(", ", g)
              + ": "
              + (through
                  ? "every pair over switches, " + perGpu + " links a GPU"
                  : even
                      ? "every pair joined by " + most + " links, " + sum + " a GPU, no switch"
                      : "direct links, " + least + " to " + most + " a pair, " + sum + " a GPU"));
    }
    if (groups.stream().anyMatch(g -> g.size() != size)) {
      assumed.add("NVLink domains differ in size; the smallest (" + size + ") is written");
    }
    if (least == 0 && size > 2) {
      understood.add("some pairs have no direct link: SYS between them is the PCIe path");
    }
    Map<String, Object> d = new LinkedHashMap<>();
    int whole = size;
    if (grace() && through) {
      if (domainGpus > 0) {
        whole = domainGpus;
      } else {
        missing.add(
            "one tray is shown; its NVLink switches may join more trays (72 GPUs on NVL72): say"
                + " --domain-gpus N");
      }
    } else if (domainGpus > 0) {
      whole = domainGpus;
    }
    d.put("size", whole);
    d.put("kind", kind);
    if (gpu != null) {
      d.put("link", "nvlink" + generation());
    }
    double rate = linkBytesPerSecond();
    if (Double.isNaN(rate)) {
      missing.add("the speed of one link follows from the GPU, which is not known: add bandwidth");
    } else {
      d.put("bandwidth", spelled(perGpu * rate));
      if (!through && size > 2) {
        d.put("pair_bandwidth", spelled((even ? least : 1) * rate));
        if (!even) {
          d.put("links", pairs(one));
        }
      }
      assumed.add(
          perGpu + " links of " + spelled(rate) + " one way each, the rate of this generation");
    }
    return d;
  }

  private List<String> pairs(List<String> gpus) {
    List<String> pairs = new ArrayList<>();
    for (int a = 0; a < gpus.size(); a++) {
      for (int b = a + 1; b < gpus.size(); b++) {
        int links = t.links(gpus.get(a), gpus.get(b));
        if (links > 0) {
          pairs.add(a + "-" + b + (links > 1 ? "x" + links : ""));
        }
      }
    }
    return pairs;
  }

  private Map<String, Object> pcie() {
    List<List<String>> near = t.groups(p -> p.kind().compareTo(PathKind.PXB) <= 0);
    List<List<String>> sockets = t.groups(p -> p.kind().compareTo(PathKind.NODE) <= 0);
    List<List<String>> switches = t.groups(p -> p.kind().compareTo(PathKind.PIX) <= 0);
    int size = near.stream().mapToInt(List::size).min().orElse(1);
    int largest = near.stream().mapToInt(List::size).max().orElse(1);
    understood.add("no NVLink between the GPUs");
    near.stream()
        .filter(g -> g.size() > 1)
        .forEach(g -> understood.add("PCIe domain " + String.join(", ", g)));
    switches.stream()
        .filter(g -> g.size() > 1)
        .forEach(g -> understood.add("one PCIe switch: " + String.join(", ", g)));
    understood.add(
        sockets.size() + " CPU socket(s): " + sockets.stream().map(List::size).toList() + " GPUs");
    if (size != largest) {
      assumed.add(
          "PCIe domains differ in size (" + size + " to " + largest + "); the smallest is written");
    }
    Map<String, Object> d = new LinkedHashMap<>();
    d.put("size", size);
    d.put("kind", "pcie");
    int generation = gpu == null ? 0 : pcieGeneration();
    if (generation == 0) {
      missing.add("a matrix does not tell the PCIe generation: add link and bandwidth");
    } else {
      d.put("link", "pcie" + generation);
      d.put("bandwidth", generation == 3 ? "15.8 GB/s" : generation == 4 ? "31 GB/s" : "63 GB/s");
      assumed.add("PCIe " + generation + " x16, the fastest that the GPU has");
    }
    d.put("pcie", PcieTree.of(t, largest));
    return d;
  }

  private int pcieGeneration() {
    return switch (gpu.architecture()) {
      case PASCAL, VOLTA, TURING -> 3;
      case AMPERE, ADA -> 4;
      case HOPPER, BLACKWELL -> 5;
      default -> 0;
    };
  }

  private int generation() {
    return switch (gpu.architecture()) {
      case PASCAL -> 1;
      case VOLTA, TURING -> 2;
      case AMPERE -> 3;
      case BLACKWELL -> 5;
      case RUBIN -> 6;
      default -> 4;
    };
  }

  /** Bytes per second of one NVLink, one way; NaN when the GPU or its links are not known. */
  private double linkBytesPerSecond() {
    if (gpu == null) {
      return Double.NaN;
    }
    return switch (gpu.architecture()) {
      case VOLTA, HOPPER -> 25 * Quantity.GIGA;
      case AMPERE ->
          gpu.id().startsWith("a100") || gpu.id().startsWith("a800")
              ? 25 * Quantity.GIGA
              : Double.NaN;
      case BLACKWELL -> 50 * Quantity.GIGA;
      default -> Double.NaN;
    };
  }

  private static String spelled(double bytesPerSecond) {
    double g = bytesPerSecond / Quantity.GIGA;
    return (g == Math.rint(g) ? Long.toString(Math.round(g)) : Double.toString(g)) + " GB/s";
  }
}
