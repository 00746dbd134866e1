package dev.meshplan.plan;

import dev.meshplan.config.Section;
import dev.meshplan.config.YamlReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A cluster as it stands: what {@code meshplan import inventory} writes of a scheduler's topology.
 *
 * @param system id of the system
 * @param healthy healthy GPUs of each scale-up domain
 */
record Inventory(String system, List<Integer> healthy) {

  /** The inventory that a cluster section names, or null after adding errors. */
  static Inventory read(Section cluster) {
    for (String key : List.of("system", "domains", "healthy")) {
      if (cluster.has(key)) {
        cluster.error(key, "stands in the inventory: leave it out beside inventory.");
      }
    }
    int before = cluster.errors().size();
    Section s = YamlReader.read(Path.of(cluster.text("inventory")), cluster.errors());
    if (s == null) {
      return null;
    }
    if (!s.has("system") || !s.has("domains")) {
      cluster.error(
          "inventory",
          "is no inventory: meshplan import inventory FILE --system ID -o inventory.yaml makes one.");
      return null;
    }
    List<Integer> healthy = new ArrayList<>();
    for (Section domain : s.sections("domains")) {
      domain.text("name", "");
      domain.text("nodes", "");
      healthy.add((int) domain.integer("gpus", 0, 1 << 20));
      domain.finish();
    }
    Inventory inventory = new Inventory(s.text("system"), healthy);
    s.finish();
    return cluster.errors().size() > before ? null : inventory;
  }
}
