package dev.meshplan.formats;

import dev.meshplan.config.InputException;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.PathKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Importer of the matrix that {@code nvidia-smi topo -m} prints. */
public final class TopologyMatrix {
  private static final Pattern ANSI = Pattern.compile("\u001B\\[[0-9;?]*[A-Za-z]");
  private static final Pattern GPU = Pattern.compile("GPU\\d+");
  private static final Pattern MIG =
      Pattern.compile("^\\s*MIG\\s+(\\S+)\\s+Device\\s+\\d+:.*", Pattern.MULTILINE);
  private static final Pattern LEGEND = Pattern.compile("^\\s+(NIC\\d+):\\s+(\\S+)\\s*$");
  private static final List<String> TITLES =
      List.of("CPU Affinity", "NUMA Affinity", "GPU NUMA ID");

  private final String file;
  private final List<String> lines;
  private static final Pattern AMD =
      Pattern.compile("ROCm System Management|Weight between two GPUs|\\bXGMI\\b|AMDSMI|amd-smi");

  private final List<String> devices = new ArrayList<>();
  private final Map<String, List<String>> rows = new LinkedHashMap<>();
  private final Map<String, List<String>> affinities = new LinkedHashMap<>();
  private final Map<String, String> names = new LinkedHashMap<>();
  private final List<String> titles = new ArrayList<>();
  private final List<String> missing = new ArrayList<>();
  private boolean pcieOnly;

  private TopologyMatrix(String file, String text) {
    this.file = file;
    this.lines = List.of(ANSI.matcher(text).replaceAll("").replace("\r", "").split("\n", -1));
  }

  /**
   * The node as a system of the catalog.
   *
   * @param file names it in messages
   * @param id id of the new system
   * @param gpu the GPU in it, which the matrix does not name; null = unknown
   * @param domainGpus size of the scale-up domain where it is larger than the node; 0 = not said
   * @throws InputException when it holds no matrix
   */
  public static Imported read(String file, String text, String id, Gpu gpu, int domainGpus) {
    Matcher mig = MIG.matcher(text);
    if (mig.find()) {
      long n = MIG.matcher(text).results().count();
      throw new InputException(
          file,
          "",
          "",
          "lists "
              + n
              + " MIG instances ("
              + mig.group(1)
              + "). A process sees one instance only, and instances have neither NVLink nor P2P"
              + " between them, so no group can span them: train on whole GPUs, or plan one"
              + " instance as a node of one GPU.");
    }
    if (AMD.matcher(text).find()) {
      throw new InputException(
          file,
          "",
          "",
          "is a report of rocm-smi or amd-smi, which is not read. Boxes with AMD GPUs are in the"
              + " catalog (meshplan catalog systems mi), and hardware/README.md shows how to"
              + " describe one.");
    }
    return NodeSystem.of(topology(file, text), "nvidia-smi topo -m", file, id, gpu, domainGpus);
  }

  /** The parsed matrix. */
  static NodeTopology topology(String file, String text) {
    TopologyMatrix m = new TopologyMatrix(file, text);
    int at = m.header();
    m.rows(at);
    return m.build();
  }

  /** Reads the header, which may be broken into several lines; returns the line after it. */
  private int header() {
    int at = 0;
    while (at < lines.size() && !isHeader(lines.get(at))) {
      if (lines.get(at).matches(".*topo\\s+(-mp|-p2p|-m\\s+-p).*")) {
        pcieOnly = true;
      }
      at++;
    }
    if (at == lines.size()) {
      throw new InputException(
          file,
          "",
          "",
          "holds no topology matrix: no header line with GPU0, GPU1 ... was found. It is what"
              + " nvidia-smi topo -m prints.");
    }
    StringBuilder header = new StringBuilder();
    do {
      header.append(' ').append(lines.get(at++));
    } while (at < lines.size() && isHeader(lines.get(at)));
    String text = header.toString();
    int end = text.length();
    for (String title : TITLES) {
      int p = text.indexOf(title);
      if (p >= 0) {
        titles.add(title);
        end = Math.min(end, p);
      }
    }
    devices.addAll(List.of(text.substring(0, end).trim().split("\\s+")));
    return at;
  }

  private static boolean isHeader(String line) {
    String[] tokens = line.trim().split("\\s+");
    return GPU.matcher(tokens[0]).matches() && !List.of(tokens).contains("X");
  }

  private void rows(int from) {
    int end = lines.size() - 1;
    while (end > from && lines.get(end).isBlank()) {
      end--;
    }
    long gpus = devices.stream().filter(d -> GPU.matcher(d).matches()).count();
    for (int i = from; i <= end; i++) {
      Matcher legend = LEGEND.matcher(lines.get(i));
      if (legend.matches()) {
        names.put(legend.group(1), legend.group(2));
        continue;
      }
      String[] tokens = lines.get(i).trim().split("\\s+");
      if (!devices.contains(tokens[0]) || rows.containsKey(tokens[0])) {
        continue;
      }
      List<String> rest = List.of(tokens).subList(1, tokens.length);
      int cells = Math.min(rest.size(), devices.size());
      rows.put(tokens[0], rest.subList(0, cells));
      List<String> affinity = rest.subList(cells, rest.size());
      boolean cut = i == end && rows.size() < gpus;
      affinities.put(tokens[0], cut ? List.of() : affinity);
      if (cut) {
        missing.add("the row of " + tokens[0] + " is cut; its last words are not used");
      }
    }
  }

  private NodeTopology build() {
    List<String> gpus = devices.stream().filter(d -> GPU.matcher(d).matches()).toList();
    List<String> nics = devices.stream().filter(d -> !gpus.contains(d)).toList();
    List<String> absent = gpus.stream().filter(g -> !rows.containsKey(g)).toList();
    if (!absent.isEmpty()) {
      missing.add(
          absent.size()
              + " of "
              + gpus.size()
              + " GPU rows are missing ("
              + absent.get(0)
              + (absent.size() > 1 ? " to " + absent.get(absent.size() - 1) : "")
              + "); they are not invented");
    }
    if (pcieOnly) {
      missing.add(
          "this is the -mp form, which shows PCIe paths only: NVLink may exist unseen; run"
              + " nvidia-smi topo -m");
    }
    Map<String, NodeTopology.Path> paths = new LinkedHashMap<>();
    String lastRow = "";
    for (String row : rows.keySet()) {
      lastRow = row;
    }
    for (Map.Entry<String, List<String>> e : rows.entrySet()) {
      for (int c = 0; c < e.getValue().size(); c++) {
        NodeTopology.Path p = cell(e.getValue().get(c));
        boolean end = e.getKey().equals(lastRow) && c == e.getValue().size() - 1;
        if (p == null && !(end && e.getValue().size() < devices.size())) {
          throw new InputException(
              file,
              e.getKey() + " to " + devices.get(c),
              e.getValue().get(c),
              "is no path kind (X, NV#, PIX, PXB, PHB, NODE, SYS, or SOC of old drivers).");
        }
        if (p != null) {
          paths.put(NodeTopology.key(name(e.getKey()), name(devices.get(c))), p);
        }
      }
    }
    List<String> cpu = new ArrayList<>();
    List<Integer> numa = new ArrayList<>();
    List<Integer> gpuNuma = new ArrayList<>();
    for (String g : gpus) {
      List<String> a = affinities.getOrDefault(g, List.of());
      cpu.add(at(a, "CPU Affinity"));
      numa.add(first(at(a, "NUMA Affinity")));
      gpuNuma.add(first(at(a, "GPU NUMA ID")));
    }
    return new NodeTopology(
        gpus,
        nics.stream().map(this::name).toList(),
        paths,
        cpu,
        numa,
        gpuNuma,
        null,
        Double.NaN,
        missing,
        List.of());
  }

  private String name(String device) {
    return names.getOrDefault(device, device);
  }

  private String at(List<String> affinity, String title) {
    int i = titles.indexOf(title);
    return i < 0 || i >= affinity.size() ? "" : affinity.get(i);
  }

  private static int first(String list) {
    Matcher m = Pattern.compile("^(\\d+)").matcher(list);
    return m.find() ? Integer.parseInt(m.group(1)) : -1;
  }

  private static NodeTopology.Path cell(String text) {
    if (text.matches("NV\\d+")) {
      return new NodeTopology.Path(PathKind.NVL, Integer.parseInt(text.substring(2)));
    }
    PathKind kind =
        switch (text) {
          case "X" -> PathKind.SELF;
          case "PIX" -> PathKind.PIX;
          case "PXB" -> PathKind.PXB;
          case "PHB" -> PathKind.PHB;
          case "NODE" -> PathKind.NODE;
          case "SYS", "SOC" -> PathKind.SYS;
          default -> null;
        };
    return kind == null ? null : new NodeTopology.Path(kind, 0);
  }
}
