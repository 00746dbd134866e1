package dev.meshplan.hardware;

import dev.meshplan.config.Section;
import dev.meshplan.units.Dimension;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Reads a system file. The keys are described in hardware/README.md. */
public final class SystemReader {
  private SystemReader() {}

  /** The system, or null when {@code s.errors()} got something. */
  public static SystemSpec read(Section s) {
    int before = s.errors().size();
    String id = s.text("id");
    int perNode = (int) s.integer("gpus_per_node", 1, 1 << 20);
    SystemSpec.Domain domain = domain(s.section("domain", true), perNode);
    Section h = s.section("host", false);
    SystemSpec.Host host = new SystemSpec.Host("x86", Double.NaN);
    if (h != null) {
      host =
          new SystemSpec.Host(
              h.text("kind", "x86"), h.quantity("memory", Dimension.BYTES, Double.NaN));
      h.finish();
    }
    Section p = s.section("power", false);
    SystemSpec.NodePower power = new SystemSpec.NodePower(Known.UNKNOWN, Known.UNKNOWN);
    if (p != null) {
      power =
          new SystemSpec.NodePower(GpuReader.watts(p, "node_overhead"), GpuReader.watts(p, "rack"));
      p.finish();
    }
    SystemSpec system =
        new SystemSpec(
            id,
            s.texts("aliases"),
            s.text("name"),
            s.text("gpu"),
            perNode,
            domain,
            (int) s.integer("nics_per_node", 0, 1 << 10, 0),
            s.text("network", ""),
            host,
            power,
            s.text("cooling", ""),
            s.text("space", ""),
            s.text("status", "available"),
            GpuReader.sources(s),
            s.text("notes", ""));
    s.finish();
    return s.errors().size() > before ? null : system;
  }

  private static SystemSpec.Domain domain(Section s, int perNode) {
    if (s == null) {
      return null;
    }
    int size = (int) s.integer("size", 1, 1 << 20);
    SystemSpec.Fabric kind = s.choice("kind", SystemSpec.Fabric.class);
    double bandwidth = s.quantity("bandwidth", Dimension.BYTES_PER_SECOND, Double.NaN);
    double pair = s.quantity("pair_bandwidth", Dimension.BYTES_PER_SECOND, bandwidth);
    if (pair > bandwidth * 1.0001) {
      s.error("pair_bandwidth", "is more than the bandwidth of all links together.");
    }
    TreeSet<Integer> blocks = new TreeSet<>(s.integers("blocks", 1, size));
    blocks.add(size);
    int board = (int) s.integer("board_gpus", 1, size, Math.min(perNode, size));
    for (int b : blocks) {
      if (b % board != 0) {
        s.error("blocks", b + " is not made of whole boards of " + board + " GPUs.");
      }
    }
    Map<String, Known> collectives = new LinkedHashMap<>();
    Section c = s.section("collectives", false);
    if (c != null) {
      for (String key : c.keys()) {
        collectives.put(key, GpuReader.share(c, key, 1e12));
      }
    }
    List<Integer> list = new ArrayList<>(blocks);
    SystemSpec.Domain d =
        new SystemSpec.Domain(
            size,
            kind,
            s.text("link"),
            bandwidth,
            pair,
            list,
            board,
            s.quantity("host_bandwidth", Dimension.BYTES_PER_SECOND, Double.NaN),
            collectives);
    s.finish();
    return d;
  }
}
