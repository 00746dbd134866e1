package dev.meshplan.formats;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputError;
import dev.meshplan.config.InputException;
import dev.meshplan.config.Section;
import dev.meshplan.config.Text;
import dev.meshplan.config.YamlReader;
import dev.meshplan.hardware.SystemSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Importer of what a scheduler knows of a cluster: Slurm's topology.conf, topology.yaml and {@code
 * scontrol show topology}, or a plain list of nodes.
 */
public final class InventoryImport {
  private InventoryImport() {}

  /**
   * The domains of the cluster with their nodes, and the cluster section of a request.
   *
   * @param file names it in messages
   * @param system what each node is
   * @throws InputException with everything that Slurm would refuse
   */
  public static Imported read(String file, String text, SystemSpec system) {
    Errors errors = new Errors();
    List<String> understood = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    List<String> faults = new ArrayList<>();
    String kind;
    SlurmTopology topology;
    if (text.stripLeading().startsWith("- ")
        || text.stripLeading().startsWith("---")
        || text.contains("- topology:")) {
      kind = "Slurm topology.yaml";
      topology = fromYaml(file, text, errors, understood);
    } else if (text.contains("BlockName=") || text.contains("SwitchName=")) {
      boolean shown = text.contains("BlockIndex=") || text.contains("Level=");
      kind = shown ? "scontrol show topology" : "Slurm topology.conf";
      topology = SlurmTopology.lines(file, text, errors);
    } else {
      NodeReport report = NodeReport.of(text, system.gpusPerNode());
      kind = report.kind();
      faults.addAll(report.faults());
      List<String> hosts = hosts(file, report.hosts(), report.faults());
      topology = new SlurmTopology("", "list", true, Map.of("all", hosts), List.of());
    }
    errors.throwIfAny();
    if (topology == null) {
      throw new InputException(file, "", "", "holds no block or tree topology.");
    }
    int nodesPerDomain = system.nodesPerDomain();
    Map<String, List<String>> domains = new LinkedHashMap<>();
    understood.add(
        topology.type()
            + " of "
            + topology.groups().size()
            + " groups, "
            + topology.nodes().size()
            + " nodes");
    topology
        .groups()
        .forEach((g, n) -> understood.add(g + ": " + n.size() + " nodes, " + HostList.fold(n)));
    if (nodesPerDomain == 1) {
      topology.nodes().forEach(n -> domains.put(n, List.of(n)));
    } else if (topology.type().equals("block")) {
      domains.putAll(topology.groups());
      sizes(topology, system, faults, missing);
    } else {
      missing.add(
          "a "
              + topology.type()
              + " does not say which nodes share one scale-up domain of "
              + system.domain().size()
              + " GPUs ("
              + nodesPerDomain
              + " nodes): give a block topology");
    }
    return new Imported(
        kind,
        understood,
        List.of(),
        missing,
        faults,
        domains.isEmpty() || !missing.isEmpty() ? "" : yaml(domains, system));
  }

  private static void sizes(
      SlurmTopology topology, SystemSpec system, List<String> faults, List<String> missing) {
    int whole = system.nodesPerDomain();
    int base = topology.blockSizes().isEmpty() ? 0 : topology.blockSizes().get(0);
    topology
        .groups()
        .forEach(
            (name, nodes) -> {
              if (nodes.size() > whole) {
                missing.add(
                    name
                        + " has "
                        + nodes.size()
                        + " nodes, more than the "
                        + whole
                        + " of one domain of "
                        + system.id()
                        + ": which of them share a domain is not said");
              } else if (nodes.size() < whole) {
                faults.add(
                    name + " has " + nodes.size() + " of " + whole + " nodes: the rest is out");
              }
              if (base > nodes.size()) {
                faults.add(
                    name
                        + " has fewer nodes than the base block size "
                        + base
                        + "; Slurm wants every block to have at least that many");
              }
            });
  }

  private static String yaml(Map<String, List<String>> domains, SystemSpec system) {
    List<Object> list = new ArrayList<>();
    List<Integer> healthy = new ArrayList<>();
    domains.forEach(
        (name, nodes) -> {
          Map<String, Object> d = new LinkedHashMap<>();
          d.put("name", name);
          d.put("nodes", HostList.fold(nodes));
          int gpus = Math.min(system.domain().size(), nodes.size() * system.gpusPerNode());
          int here = system.nodesPerDomain() == 1 ? system.gpusPerNode() : gpus;
          d.put("gpus", here);
          list.add(d);
          healthy.add(gpus);
        });
    Map<String, Object> cluster = new LinkedHashMap<>();
    cluster.put("system", system.id());
    boolean perNode = system.domain().size() <= system.gpusPerNode();
    int each = Math.max(1, system.gpusPerNode() / system.domain().size());
    cluster.put("domains", domains.size() * (perNode ? each : 1));
    if (!perNode && healthy.stream().anyMatch(h -> h != system.domain().size())) {
      cluster.put("healthy", healthy);
    }
    Map<String, Object> inventory = new LinkedHashMap<>();
    inventory.put("system", system.id());
    inventory.put("domains", list);
    StringBuilder s = new StringBuilder();
    s.append("# for a request:\n");
    for (String line : Text.yaml(Map.of("cluster", cluster)).split("\n")) {
      s.append("#   ").append(line).append('\n');
    }
    return s.append(Text.yaml(inventory)).toString();
  }

  private static List<String> hosts(String file, String text, List<String> faults) {
    List<String> hosts = new ArrayList<>();
    int number = 0;
    for (String line : text.replace("\r", "").split("\n")) {
      number++;
      String words = line.replaceFirst("#.*", "").trim();
      if (words.isEmpty()) {
        continue;
      }
      if (words.contains(" ")) {
        throw new InputException(
            List.of(
                new InputError(
                    file,
                    number,
                    "",
                    words,
                    "is no node list: one host list such as gb[001-018] a line, scontrol show node or"
                        + " topology, sinfo, or a hostfile with slots.")));
      }
      try {
        for (String host : HostList.expand(words)) {
          if (hosts.contains(host)) {
            throw new IllegalArgumentException(host + " is named twice");
          }
          hosts.add(host);
        }
      } catch (IllegalArgumentException e) {
        throw new InputException(
            List.of(new InputError(file, number, "", words, e.getMessage() + ".")));
      }
    }
    if (hosts.isEmpty()) {
      throw new InputException(
          file, "", "", "names no usable nodes" + (faults.isEmpty() ? "." : ": " + faults + "."));
    }
    return hosts;
  }

  private static SlurmTopology fromYaml(
      String file, String text, Errors errors, List<String> understood) {
    Errors found = new Errors();
    String body = text.replaceFirst("(?m)^---\\s*$", "");
    Section top = YamlReader.parse(file, "topologies:\n" + body, found);
    List<SlurmTopology> list = top == null ? List.of() : SlurmTopology.yaml(top, file);
    for (InputError e : found.list()) {
      errors.add(
          new InputError(
              e.file(),
              Math.max(0, e.line() - 1),
              e.key().replaceFirst("^topologies", ""),
              e.value(),
              e.message()));
    }
    if (list.stream().filter(SlurmTopology::isDefault).count() > 1) {
      errors.add(new InputError(file, 0, "cluster_default", "", "is set on more than one."));
    }
    SlurmTopology chosen = null;
    for (SlurmTopology t : list) {
      understood.add("topology " + t.name() + ": " + t.type() + (t.isDefault() ? ", default" : ""));
      boolean better =
          t.type().equals("block") && (chosen == null || !chosen.type().equals("block"));
      if (better || (chosen == null && t.type().equals("tree"))) {
        chosen = t;
      }
    }
    return chosen;
  }
}
