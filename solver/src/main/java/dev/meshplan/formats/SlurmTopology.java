package dev.meshplan.formats;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputError;
import dev.meshplan.config.Section;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One topology of a Slurm cluster with the checks that slurmctld does at start.
 *
 * @param name of the topology; empty in topology.conf
 * @param type block, tree, flat, ring or torus3d
 * @param isDefault the cluster's default
 * @param groups blocks or leaf switches with their nodes, in file order
 * @param blockSizes in nodes, the base size first; empty = derived by Slurm
 */
record SlurmTopology(
    String name,
    String type,
    boolean isDefault,
    Map<String, List<String>> groups,
    List<Integer> blockSizes) {

  SlurmTopology {
    groups = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(groups));
    blockSizes = List.copyOf(blockSizes);
  }

  /** All nodes, in file order. */
  List<String> nodes() {
    Set<String> all = new LinkedHashSet<>();
    groups.values().forEach(all::addAll);
    return List.copyOf(all);
  }

  /**
   * Says why sizes are no list of block sizes: the first is the base size and each later one is the
   * base times a power of two.
   *
   * @return null when they are right
   */
  static String wrongSizes(List<Integer> sizes) {
    if (sizes.isEmpty()) {
      return null;
    }
    int base = sizes.get(0);
    for (int size : sizes) {
      int times = base > 0 && size % base == 0 ? size / base : 0;
      if (Integer.bitCount(times) != 1 || times > 1 << 15) {
        return "Invalid BlockSizes value: "
            + size
            + " is not the base size "
            + base
            + " times a power of two; slurmctld would stop. Nearest: "
            + base * Math.max(1, Integer.highestOneBit(Math.max(1, size / Math.max(1, base))))
            + ".";
      }
    }
    return null;
  }

  /** Reads {@code topology.conf} or the output of {@code scontrol show topology}. */
  static SlurmTopology lines(String file, String text, Errors errors) {
    Map<String, List<String>> groups = new LinkedHashMap<>();
    Map<String, String> children = new LinkedHashMap<>();
    List<Integer> sizes = new ArrayList<>();
    Set<String> types = new LinkedHashSet<>();
    int number = 0;
    for (String raw : text.replace("\r", "").split("\n")) {
      number++;
      String line = raw.replaceFirst("#.*", "").trim();
      if (line.isEmpty()) {
        continue;
      }
      Map<String, String> pairs = new LinkedHashMap<>();
      for (String word : line.split("\\s+")) {
        int eq = word.indexOf('=');
        if (eq <= 0) {
          errors.add(
              new InputError(file, number, "", word, "is no key=value of a Slurm topology."));
        } else {
          pairs.put(word.substring(0, eq), word.substring(eq + 1));
        }
      }
      String nodes = pairs.get("Nodes");
      if (pairs.containsKey("BlockName")) {
        types.add("block");
        put(groups, pairs.get("BlockName"), nodes, file, number, errors);
      } else if (pairs.containsKey("SwitchName")) {
        types.add("tree");
        if (pairs.containsKey("Switches")) {
          children.put(pairs.get("SwitchName"), pairs.get("Switches"));
        } else {
          put(groups, pairs.get("SwitchName"), nodes, file, number, errors);
        }
      } else if (pairs.containsKey("BlockSizes")) {
        types.add("block");
        sizes.addAll(sizes(pairs.get("BlockSizes"), file, number, errors));
      } else if (!pairs.containsKey("AggregatedBlock") && !pairs.isEmpty()) {
        errors.add(
            new InputError(
                file,
                number,
                pairs.keySet().iterator().next(),
                "",
                "is not known; a line starts with BlockName, BlockSizes or SwitchName."));
      }
    }
    if (types.size() > 1) {
      errors.add(new InputError(file, 0, "", "", "mixes blocks and switches; keep one type."));
    }
    SlurmTopology t =
        new SlurmTopology("", types.contains("tree") ? "tree" : "block", true, groups, sizes);
    check(t, children, file, errors);
    return t;
  }

  private static List<Integer> sizes(String text, String file, int line, Errors errors) {
    List<Integer> sizes = new ArrayList<>();
    for (String s : text.split(",")) {
      if (s.matches("[1-9]\\d{0,6}")) {
        sizes.add(Integer.parseInt(s));
      } else {
        errors.add(new InputError(file, line, "BlockSizes", s, "must be a count of nodes."));
      }
    }
    return sizes;
  }

  private static void put(
      Map<String, List<String>> groups,
      String name,
      String nodes,
      String file,
      int line,
      Errors errors) {
    if (groups.containsKey(name)) {
      errors.add(new InputError(file, line, name, "", "is named twice; slurmctld would stop."));
      return;
    }
    try {
      List<String> list = HostList.expand(nodes == null ? "" : nodes);
      if (list.isEmpty()) {
        errors.add(new InputError(file, line, name, "", "has no nodes."));
      }
      groups.put(name, list);
    } catch (IllegalArgumentException e) {
      errors.add(new InputError(file, line, name, nodes, e.getMessage() + "."));
    }
  }

  /** Reads {@code topology.yaml}: a list of topologies. */
  static List<SlurmTopology> yaml(Section top, String file) {
    List<SlurmTopology> list = new ArrayList<>();
    for (Section s : top.sections("topologies")) {
      String name = s.text("topology");
      boolean isDefault = s.flag("cluster_default", false);
      List<String> types = new ArrayList<>();
      for (String type : List.of("block", "tree", "flat", "ring", "torus3d")) {
        if (s.has(type)) {
          types.add(type);
        }
      }
      s.finish();
      if (types.size() != 1) {
        s.error(
            "topology",
            "must have exactly one of block, tree, flat, ring, torus3d; it has " + types + ".");
        continue;
      }
      list.add(one(s, name, types.get(0), isDefault, file));
    }
    return list;
  }

  private static SlurmTopology one(
      Section s, String name, String type, boolean isDefault, String file) {
    Map<String, List<String>> groups = new LinkedHashMap<>();
    Map<String, String> children = new LinkedHashMap<>();
    List<Integer> sizes = List.of();
    Section body = type.equals("block") || type.equals("tree") ? s.section(type, true) : null;
    if (body != null && type.equals("block")) {
      sizes = body.integers("block_sizes", 1, 1 << 20);
      for (Section b : body.sections("blocks")) {
        put(groups, b.text("block"), b.text("nodes"), file, b.line(), s.errors());
        b.finish();
      }
      body.finish();
    } else if (body != null) {
      for (Section b : body.sections("switches")) {
        if (b.has("children")) {
          children.put(b.text("switch"), b.text("children"));
        } else {
          put(groups, b.text("switch"), b.text("nodes"), file, b.line(), s.errors());
        }
        b.finish();
      }
      body.finish();
    }
    SlurmTopology t = new SlurmTopology(name, type, isDefault, groups, sizes);
    check(t, children, file, s.errors());
    return t;
  }

  private static void check(
      SlurmTopology t, Map<String, String> children, String file, Errors errors) {
    String wrong = wrongSizes(t.blockSizes());
    if (wrong != null) {
      errors.add(new InputError(file, 0, "BlockSizes", t.blockSizes().toString(), wrong));
    }
    Map<String, String> owner = new LinkedHashMap<>();
    t.groups()
        .forEach(
            (group, nodes) -> {
              for (String node : nodes) {
                String before = owner.putIfAbsent(node, group);
                if (before != null) {
                  errors.add(
                      new InputError(
                          file,
                          0,
                          node,
                          "",
                          "is in " + before + " and in " + group + "; keep one."));
                }
              }
            });
    children.forEach(
        (parent, list) -> {
          try {
            for (String child : HostList.expand(list)) {
              if (!t.groups().containsKey(child) && !children.containsKey(child)) {
                errors.add(
                    new InputError(file, 0, parent, child, "is a switch that is not defined."));
              }
            }
          } catch (IllegalArgumentException e) {
            errors.add(new InputError(file, 0, parent, list, e.getMessage() + "."));
          }
        });
  }
}
