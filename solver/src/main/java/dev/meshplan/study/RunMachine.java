package dev.meshplan.study;

import dev.meshplan.config.Errors;
import dev.meshplan.config.Library;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Pool;
import java.util.List;

/** The hardware of a run from its {@code system}, {@code network_id} and {@code hardware}. */
final class RunMachine {
  private RunMachine() {}

  /**
   * The machine of a run.
   *
   * @throws Unpriced when neither the system nor its GPU is in the catalog
   */
  static Machine of(RunRow row, Catalog catalog) throws Unpriced {
    SystemSpec system = system(row, catalog);
    Gpu gpu = find(catalog.gpus(), system.gpu());
    Network stated = network(row, system, catalog);
    Network network = stated == null ? find(catalog.networks(), "single-node") : stated;
    int gpus = (int) row.number("gpus");
    return new Machine(
        new Pool(
            system.id(), network.id(), gpus, 0, 0, List.of(), List.of(), List.of(), Double.NaN),
        system,
        gpu,
        network);
  }

  /** Bytes per second and GPU of the network that the system usually has. */
  static double usualPort(Machine machine, Catalog catalog) {
    Network usual = find(catalog.networks(), machine.system().network());
    return (usual == null ? machine.network() : usual).perGpuBandwidth(machine.system());
  }

  private static SystemSpec system(RunRow row, Catalog catalog) throws Unpriced {
    SystemSpec system = find(catalog.systems(), row.text("system"));
    if (system != null) {
      return system;
    }
    Gpu gpu = find(catalog.gpus(), row.text("hardware"));
    SystemSpec near = find(catalog.systems(), row.text("hardware"));
    if (near != null) {
      row.assume("system");
      return near;
    }
    int node = (int) row.number("gpus_per_node");
    for (SystemSpec s : catalog.systems().all().values()) {
      if (gpu != null && s.gpu().equals(gpu.id()) && (node <= 0 || s.gpusPerNode() == node)) {
        row.assume("system");
        return s;
      }
    }
    throw new Unpriced("system " + row.text("system") + " is not in the catalog");
  }

  private static Network network(RunRow row, SystemSpec system, Catalog catalog) {
    Network usual = find(catalog.networks(), system.network());
    String id = row.text("network_id");
    if (id.isEmpty()) {
      row.assume("network_id");
      return usual;
    }
    if (id.equals("single-node") && usual != null) {
      return usual;
    }
    Network stated = find(catalog.networks(), id);
    return stated != null ? stated : parsed(row, id, usual);
  }

  private static Network parsed(RunRow row, String id, Network usual) {
    Network read = NetworkName.read(id);
    if (read == null) {
      row.assume("network_id");
      return usual;
    }
    return read;
  }

  private static <T> T find(Library<T> library, String name) {
    String id = name.isEmpty() ? null : library.id(name);
    return id == null ? null : library.get(id, new Errors(), message -> {});
  }
}
