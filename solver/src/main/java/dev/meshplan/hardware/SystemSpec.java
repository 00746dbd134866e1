package dev.meshplan.hardware;

import dev.meshplan.config.Keyed;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A server or rack as sold.
 *
 * @param id file name without {@code .yaml}
 * @param aliases other names
 * @param name as sold
 * @param gpu id of the GPU in it
 * @param gpusPerNode GPUs of one operating-system image
 * @param domain the scale-up fabric
 * @param nicsPerNode scale-out ports of one node; 0 = none known
 * @param network id of the usual network, used (and listed as assumed) when a request names none
 * @param host what drives the GPUs
 * @param power watts beyond the GPUs
 * @param cooling air, liquid ...
 * @param space rack units or racks, as published
 * @param status available, announced ...
 * @param sources where the numbers are published
 * @param notes for people
 */
public record SystemSpec(
    String id,
    List<String> aliases,
    String name,
    String gpu,
    int gpusPerNode,
    Domain domain,
    int nicsPerNode,
    String network,
    Host host,
    NodePower power,
    String cooling,
    String space,
    String status,
    List<String> sources,
    String notes) {

  /** Shape of the scale-up fabric. */
  public enum Fabric implements Keyed {
    /** Every pair at full speed through switches. */
    SWITCH,
    /** Direct links between peers: a pair has its own, a full group all of them. */
    MESH,
    /** Bridged pairs; everything else over PCIe. */
    PAIRS,
    /** PCIe only. */
    PCIE,
    /** Neighbour links in two or three dimensions. */
    TORUS
  }

  /**
   * The scale-up domain.
   *
   * @param size GPUs in it
   * @param kind shape
   * @param link link generation, such as nvlink4 (the constants of collectives hang on it)
   * @param bandwidth bytes per second and GPU, one way, all links together; NaN = not published
   * @param pairBandwidth bytes per second between two GPUs, one way
   * @param blocks sizes of blocks that may be cut from it, ascending; the domain's size is one
   * @param boardGpus GPUs on one board, the smallest part of a block where boards may be split off
   * @param hostBandwidth GPU to host memory, bytes per second one way (PCIe or C2C)
   * @param pcie how the GPUs of a node hang on its CPUs; what matters where NVLink does not reach
   * @param directLinks links of a mesh whose pairs differ, each of {@code pairBandwidth}; empty =
   *     every pair has that bandwidth
   * @param axes lengths of a torus' axes, their product is the size; empty = as square as possible
   * @param collectives constants measured on this system that replace those of the link; empty =
   *     none
   */
  public record Domain(
      int size,
      Fabric kind,
      String link,
      double bandwidth,
      double pairBandwidth,
      List<Integer> blocks,
      int boardGpus,
      double hostBandwidth,
      Pcie pcie,
      List<DirectLink> directLinks,
      List<Integer> axes,
      Map<String, Known> collectives) {}

  /**
   * The PCIe tree of one node.
   *
   * @param gpusPerSwitch GPUs below one switch, sharing its uplink; 1 = every GPU has its root port
   * @param switchesPerRoot switches below one upper switch, sharing its uplink (PXB); 1 = every
   *     switch has its root port
   * @param switchesPerBridge switches of one host bridge of the CPU (PHB)
   * @param switchesPerSocket switches (or root ports) of one CPU socket (NODE)
   * @param sockets CPU sockets
   * @param reach the longest path on which GPUs write to each other directly
   * @param uplinkBandwidth switch to CPU, bytes per second one way
   * @param hostPath bytes per second of a transfer through host memory inside a socket
   * @param socketPath the same from one socket to another
   */
  public record Pcie(
      int gpusPerSwitch,
      int switchesPerRoot,
      int switchesPerBridge,
      int switchesPerSocket,
      int sockets,
      PathKind reach,
      double uplinkBandwidth,
      Known hostPath,
      Known socketPath) {

    /** Whether GPUs that far from each other write directly. */
    boolean direct(PathKind path) {
      return path.ordinal() <= reach.ordinal();
    }
  }

  /** CPU side: kind (x86, grace ...) and memory per node in bytes (NaN unknown). */
  public record Host(String kind, double memoryBytes) {
    public boolean grace() {
      return kind.equals("grace") || kind.equals("vera");
    }
  }

  /**
   * Power beyond the GPUs' own.
   *
   * @param nodeOverhead watts of one node without its GPUs
   * @param rack published watts of a whole rack
   */
  public record NodePower(Known nodeOverhead, Known rack) {}

  /** What nobody published of this system, by the file's keys. */
  public List<String> unknown() {
    List<String> keys = new ArrayList<>();
    if (domain.size() > 1 && Double.isNaN(domain.bandwidth())) {
      keys.add("domain.bandwidth");
    }
    if (network.isEmpty()) {
      keys.add("network");
    }
    if (Double.isNaN(domain.hostBandwidth())) {
      keys.add("domain.host_bandwidth");
    }
    return keys;
  }

  /** The same system with other constants of collectives. */
  public SystemSpec withCollectives(Map<String, Known> collectives) {
    Domain d = domain;
    return new SystemSpec(
        id,
        aliases,
        name,
        gpu,
        gpusPerNode,
        new Domain(
            d.size,
            d.kind,
            d.link,
            d.bandwidth,
            d.pairBandwidth,
            d.blocks,
            d.boardGpus,
            d.hostBandwidth,
            d.pcie,
            d.directLinks,
            d.axes,
            collectives),
        nicsPerNode,
        network,
        host,
        power,
        cooling,
        space,
        status,
        sources,
        notes);
  }

  public int nodesPerDomain() {
    return Math.max(1, domain.size() / gpusPerNode);
  }
}
