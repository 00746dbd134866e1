package dev.meshplan.formats;

import dev.meshplan.hardware.PathKind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The PCIe tree of a reported node, as the keys of a system's {@code domain.pcie}. */
final class PcieTree {
  private PcieTree() {}

  /**
   * Switches, upper switches and host bridges where all are alike; else every group that switches
   * join is written as one switch.
   *
   * @param largest GPUs of the largest group that PCIe switches join
   */
  static Map<String, Object> of(NodeTopology t, int largest) {
    List<List<String>> sockets = t.groups(p -> p.kind().compareTo(PathKind.NODE) <= 0);
    List<List<String>> near = t.groups(p -> p.kind().compareTo(PathKind.PXB) <= 0);
    int perSwitch = even(t, PathKind.PIX);
    int perRoot = even(t, PathKind.PXB);
    int perBridge = even(t, PathKind.PHB);
    boolean alike = perSwitch > 0 && perRoot > 0;
    int gpus = alike ? perSwitch : largest;
    int roots = 1;
    for (List<String> s : sockets) {
      roots = Math.max(roots, (int) near.stream().filter(g -> s.contains(g.get(0))).count());
    }
    Map<String, Object> p = new LinkedHashMap<>();
    p.put("sockets", sockets.size());
    p.put("gpus_per_switch", gpus);
    if (alike && perRoot > perSwitch) {
      p.put("switches_per_root", perRoot / perSwitch);
    }
    if (alike && perBridge > perRoot) {
      p.put("switches_per_bridge", perBridge / perSwitch);
    }
    p.put("switches_per_socket", alike ? roots * perRoot / perSwitch : roots);
    return p;
  }

  /** GPUs of every group that paths up to a kind join; 0 where groups differ. */
  private static int even(NodeTopology t, PathKind worst) {
    List<List<String>> groups = t.groups(p -> p.kind().compareTo(worst) <= 0);
    int size = groups.get(0).size();
    return groups.stream().allMatch(g -> g.size() == size) ? size : 0;
  }
}
