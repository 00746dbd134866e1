package dev.meshplan.formats;

import dev.meshplan.hardware.SystemSpec;
import java.util.List;

/** Whether the kernels of the asked dispatcher exist for the group and the machine. */
public final class MegatronDispatcherChecks {
  private MegatronDispatcherChecks() {}

  /** What DeepEP's normal kernels lack; they fail when the first tokens are sent. */
  public static List<Finding> of(ForeignPlan f, SystemSpec system) {
    boolean flex = "flex".equals(f.flags().get("--moe-token-dispatcher-type"));
    String backend = f.flags().getOrDefault("--moe-flex-dispatcher-backend", "deepep");
    if (!flex || !backend.equals("deepep")) {
      return List.of();
    }
    int group = f.dims().ep() * f.dims().etp();
    boolean rack = system.nodesPerDomain() > 1;
    String instead =
        rack ? "--moe-flex-dispatcher-backend hybridep" : "--moe-token-dispatcher-type alltoall";
    if (group > system.gpusPerNode() && system.gpusPerNode() != 8) {
      return List.of(
          Finding.unchecked(
              "deepep-nodes",
              "DeepEP's normal kernels assume 8 NVLink peers a node; an expert group of "
                  + group
                  + " spans nodes of "
                  + system.gpusPerNode(),
              instead));
    }
    if (group > 1 && !MegatronExperts.DEEPEP_SIZES.contains(group)) {
      return List.of(
          Finding.unchecked(
              "deepep-size",
              "DeepEP's normal kernels are built for expert groups of "
                  + MegatronExperts.DEEPEP_SIZES.stream().sorted().map(String::valueOf).toList()
                  + ", not of "
                  + group,
              instead));
    }
    return List.of();
  }
}
