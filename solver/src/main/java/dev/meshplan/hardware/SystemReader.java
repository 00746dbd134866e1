package dev.meshplan.hardware;

import dev.meshplan.config.Section;
import dev.meshplan.units.Basis;
import dev.meshplan.units.Dimension;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Reads a system file. The keys are described in hardware/README.md. */
public final class SystemReader {
  private static final Known HOST_PATH = new Known(5.2 * Quantity.GIGA, Basis.ASSUMED);
  private static final Known SOCKET_PATH = new Known(1.45 * Quantity.GIGA, Basis.ASSUMED);

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
    Link link = s.choice("link", Link.class);
    Traps.bandwidth(s, link, kind, bandwidth);
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
    double host = hostBandwidth(s);
    SystemSpec.Pcie pcie = pcie(s.section("pcie", false), perNode, kind, bandwidth, host);
    List<DirectLink> links = DirectLink.read(s, s.texts("links"), kind, size);
    if (DirectLink.most(links, size) * pair > bandwidth * 1.0001) {
      s.error("links", "are more than the bandwidth of all links together.");
    }
    List<Integer> axes = s.integers("axes", 1, size);
    if (!axes.isEmpty() && axes.stream().mapToInt(a -> a).reduce(1, (a, b) -> a * b) != size) {
      s.error("axes", "must multiply up to the domain's size (" + size + ").");
    }
    SystemSpec.Domain d =
        new SystemSpec.Domain(
            size,
            kind,
            link.key(),
            bandwidth,
            pair,
            list,
            board,
            host,
            pcie,
            links,
            axes,
            collectives);
    s.finish();
    return d;
  }

  private static double hostBandwidth(Section s) {
    double host = s.quantity("host_bandwidth", Dimension.BYTES_PER_SECOND, Double.NaN);
    Traps.hostBandwidth(s, host);
    return host;
  }

  /**
   * What is left out is the usual server: two sockets where a node has more than four GPUs, two
   * GPUs below a switch, direct writes up to PXB (NCCL's default), 5 GB/s through host memory and
   * 1.4 GB/s between sockets (measured on A40 and L40S boxes).
   */
  private static SystemSpec.Pcie pcie(
      Section s, int perNode, SystemSpec.Fabric kind, double bandwidth, double hostBandwidth) {
    double lane =
        kind == SystemSpec.Fabric.PCIE || Double.isNaN(hostBandwidth) ? bandwidth : hostBandwidth;
    int sockets = perNode > 4 ? 2 : 1;
    int perSwitch = Math.min(2, perNode);
    if (s == null) {
      int switches = Math.max(1, perNode / sockets / perSwitch);
      return new SystemSpec.Pcie(
          perSwitch, 1, 1, switches, sockets, PathKind.PXB, lane, HOST_PATH, SOCKET_PATH);
    }
    sockets = (int) s.integer("sockets", 1, 64, sockets);
    perSwitch = (int) s.integer("gpus_per_switch", 1, perNode, perSwitch);
    int switches =
        (int)
            s.integer(
                "switches_per_socket", 1, perNode, Math.max(1, perNode / sockets / perSwitch));
    if (perSwitch * switches * sockets < perNode) {
      s.error(
          "gpus_per_switch",
          "times switches_per_socket times sockets is less than the node's GPUs ("
              + perNode
              + ").");
    }
    int perRoot = (int) s.integer("switches_per_root", 1, switches, 1);
    int perBridge = (int) s.integer("switches_per_bridge", 1, switches, perRoot);
    if (perBridge % perRoot != 0 || switches % perBridge != 0) {
      s.error(
          "switches_per_bridge",
          "must be whole groups of switches_per_root, and divide switches_per_socket.");
    }
    GpuReader.BasisKey basis =
        s.choice("basis", GpuReader.BasisKey.class, GpuReader.BasisKey.ASSUMED);
    SystemSpec.Pcie pcie =
        new SystemSpec.Pcie(
            perSwitch,
            perRoot,
            perBridge,
            switches,
            sockets,
            s.choice("p2p_reach", PathKind.class, PathKind.PXB),
            s.quantity("uplink", Dimension.BYTES_PER_SECOND, lane),
            path(s, "host_path", basis, HOST_PATH),
            path(s, "socket_path", basis, SOCKET_PATH));
    s.finish();
    return pcie;
  }

  private static Known path(Section s, String key, GpuReader.BasisKey basis, Known absent) {
    double v = s.quantity(key, Dimension.BYTES_PER_SECOND, Double.NaN);
    return Double.isNaN(v) ? absent : new Known(v, basis.basis());
  }
}
