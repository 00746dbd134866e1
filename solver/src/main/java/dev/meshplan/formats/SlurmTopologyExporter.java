package dev.meshplan.formats;

import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.plan.Machine;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes the pool that a plan stands on as Slurm's topology.yaml and topology.conf. Slurm counts
 * nodes: a rack of 72 GPUs in trays of 4 is a block of 18 nodes.
 */
final class SlurmTopologyExporter {
  private SlurmTopologyExporter() {}

  static Export export(Job job) {
    Machine m = job.machine();
    int perDomain = m.system().nodesPerDomain();
    int width = Math.max(3, Integer.toString(domains(m) * perDomain).length());
    List<String> notes = new ArrayList<>();
    notes.add("node names are placeholders: replace node" + HostList.padded(1, width) + " and on");
    if (job.machines().size() > 1) {
      notes.add(
          "only the pool of the plan ("
              + m.system().id()
              + ") is written; other pools are topologies of their own partitions");
    }
    List<String[]> groups = new ArrayList<>();
    int least = Integer.MAX_VALUE;
    for (int d = 0; d < domains(m); d++) {
      int here = healthyNodes(m, d);
      if (here < perDomain) {
        notes.add("block " + (d + 1) + " has " + here + " of " + perDomain + " nodes");
      }
      least = Math.min(least, here);
      List<String> names = new ArrayList<>();
      for (int n = 0; n < here; n++) {
        names.add("node" + HostList.padded((long) d * perDomain + n + 1, width));
      }
      if (!names.isEmpty()) {
        groups.add(new String[] {"rack" + (d + 1), HostList.fold(names)});
      }
    }
    if (perDomain == 1) {
      notes.set(0, "a scale-up domain is one node here, so no block topology is needed");
      String flat = "- topology: flat\n  cluster_default: true\n  flat: true\n";
      return Export.of(
          Format.SLURM_TOPOLOGY,
          List.of(
              new OutputFile("topology.yaml", job.comment(Format.SLURM_TOPOLOGY, notes) + flat)),
          notes);
    }
    List<Integer> sizes = sizes(least >= perDomain ? perDomain : base(perDomain), groups.size());
    if (least < perDomain) {
      notes.add(
          "the base block is "
              + sizes.get(0)
              + " nodes, because the smallest rack has "
              + least
              + " of "
              + perDomain
              + ": segments of 16, 8, 4 and 2 nodes fit"
              + (least < sizes.get(0) ? "; Slurm will not use racks below the base" : ""));
    }
    String head = job.comment(Format.SLURM_TOPOLOGY, notes);
    return Export.of(
        Format.SLURM_TOPOLOGY,
        List.of(
            new OutputFile("topology.yaml", head + yaml(groups, sizes)),
            new OutputFile("topology.conf", head + conf(groups, sizes))),
        notes);
  }

  private static int domains(Machine m) {
    return Math.max(1, m.pool().domains());
  }

  /** Whole nodes of a domain that are healthy; faults are packed into as few as possible. */
  private static int healthyNodes(Machine m, int domain) {
    SystemSpec s = m.system();
    List<Integer> healthy = m.pool().healthy();
    int gpus = domain < healthy.size() ? healthy.get(domain) : s.domain().size();
    return s.nodesPerDomain() == 1 ? 1 : gpus / s.gpusPerNode();
  }

  /** The largest power of two below a whole rack: 16 of 18 nodes. */
  private static int base(int whole) {
    return Integer.highestOneBit(Math.max(1, whole));
  }

  /** Base size times 1, 2, 4 ... up to all blocks together. */
  static List<Integer> sizes(int base, int blocks) {
    List<Integer> sizes = new ArrayList<>();
    for (int k = 1; k <= Math.max(1, blocks) && sizes.size() <= 15; k *= 2) {
      sizes.add(base * k);
    }
    return sizes;
  }

  private static String yaml(List<String[]> groups, List<Integer> sizes) {
    StringBuilder s = new StringBuilder();
    s.append("- topology: scale-up\n  cluster_default: true\n  block:\n    block_sizes:\n");
    sizes.forEach(n -> s.append("      - ").append(n).append('\n'));
    s.append("    blocks:\n");
    for (String[] g : groups) {
      s.append("      - block: ").append(g[0]).append('\n');
      s.append("        nodes: ").append(Quoting.json(g[1])).append('\n');
    }
    return s.toString();
  }

  private static String conf(List<String[]> groups, List<Integer> sizes) {
    StringBuilder s = new StringBuilder("# slurm.conf: TopologyPlugin=topology/block\n");
    for (String[] g : groups) {
      s.append("BlockName=").append(g[0]).append(" Nodes=").append(g[1]).append('\n');
    }
    s.append("BlockSizes=")
        .append(String.join(",", sizes.stream().map(String::valueOf).toList()))
        .append('\n');
    return s.toString();
  }
}
