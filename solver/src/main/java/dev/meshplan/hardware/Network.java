package dev.meshplan.hardware;

import dev.meshplan.config.Section;
import dev.meshplan.units.Basis;
import dev.meshplan.units.Dimension;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A scale-out network.
 *
 * @param id file name without {@code .yaml}
 * @param aliases other names
 * @param name as sold
 * @param kind infiniband, roce, efa, omni-path, ... (the constants of collectives hang on it)
 * @param portBandwidth bytes per second of one port, one way
 * @param portsPerNode ports a node uses when the network says so (cloud shapes); 0 = as the system
 * @param latency seconds of one message between neighbours
 * @param leafRadix ports of one leaf switch to nodes; 0 = unknown
 * @param oversubscription bandwidth down divided by up, at least 1
 * @param railOptimised NIC k of every node hangs on the same leaf
 * @param pxn messages to another rail first go over the scale-up links to the GPU beside its NIC
 *     (NCCL from 2.12 on); without it they cross the spine
 * @param inNetworkReduction switches can reduce (SHARP)
 * @param collectives constants measured on this network that replace those of the kind
 */
public record Network(
    String id,
    List<String> aliases,
    String name,
    String kind,
    double portBandwidth,
    int portsPerNode,
    Known latency,
    int leafRadix,
    double oversubscription,
    boolean railOptimised,
    boolean pxn,
    boolean inNetworkReduction,
    Map<String, Known> collectives,
    List<String> sources,
    String notes) {

  /** Reads a network file; null when {@code s.errors()} got something. */
  public static Network read(Section s) {
    int before = s.errors().size();
    double latency = s.quantity("latency", Dimension.SECONDS, Double.NaN);
    Map<String, Known> collectives = new LinkedHashMap<>();
    Section c = s.section("collectives", false);
    if (c != null) {
      for (String key : c.keys()) {
        collectives.put(key, GpuReader.share(c, key, 1e12));
      }
    }
    Network n =
        new Network(
            s.text("id"),
            s.texts("aliases"),
            s.text("name"),
            s.text("kind"),
            s.quantity("port_bandwidth", Dimension.BYTES_PER_SECOND),
            (int) s.integer("ports_per_node", 1, 1 << 10, 0),
            Double.isNaN(latency) ? Known.UNKNOWN : new Known(latency, Basis.PUBLISHED),
            (int) s.integer("leaf_radix", 1, 1 << 16, 0),
            s.number("oversubscription", 1, 64, 1),
            s.flag("rail_optimised", true),
            s.flag("pxn", true),
            s.flag("in_network_reduction", false),
            collectives,
            GpuReader.sources(s),
            s.text("notes", ""));
    Traps.port(s, n.id(), n.name(), n.portBandwidth());
    s.finish();
    return s.errors().size() > before ? null : n;
  }

  /** The same network with other constants of collectives. */
  public Network withCollectives(Map<String, Known> others) {
    return with(portBandwidth, others);
  }

  /** The same network with other ports, bytes per second one way. */
  public Network withPortBandwidth(double bytesPerSecond) {
    return with(bytesPerSecond, collectives);
  }

  private Network with(double port, Map<String, Known> others) {
    return new Network(
        id,
        aliases,
        name,
        kind,
        port,
        portsPerNode,
        latency,
        leafRadix,
        oversubscription,
        railOptimised,
        pxn,
        inNetworkReduction,
        others,
        sources,
        notes);
  }

  /** Ports of one node: the network's own (cloud shapes), else the system's, at least one. */
  public int ports(SystemSpec system) {
    return portsPerNode > 0 ? portsPerNode : Math.max(1, system.nicsPerNode());
  }

  /** Nodes whose NICs hang on the same leaves; more than any cluster has when nobody said. */
  public int nodesPerLeaf(SystemSpec system) {
    if (leafRadix == 0) {
      return 1 << 30;
    }
    return railOptimised ? leafRadix : Math.max(1, leafRadix / ports(system));
  }

  /** Bytes per second of scale-out that one GPU gets when all GPUs of its node send, one way. */
  public double perGpuBandwidth(SystemSpec system) {
    return portBandwidth * ports(system) / system.gpusPerNode();
  }
}
