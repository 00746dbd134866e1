package dev.meshplan.plan;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The ways to shard states that are searched, by the name used in requests. */
public final class ShardingOptions {
  /** All names: levels 0 to 3, level 3 within a domain (HSDP), level 3 with hpZ. */
  public static final List<String> NAMES = List.of("0", "1", "2", "3", "hsdp", "hpz");

  private ShardingOptions() {}

  /**
   * How states are sharded.
   *
   * @param level 0 to 3
   * @param shardGroup ranks of a shard group; 0 = all
   * @param secondaryGroup ranks of an hpZ group; 0 = none
   */
  public record Option(int level, int shardGroup, int secondaryGroup) {
    /** This option with recompute and no offload, as a memory plan. */
    public MemoryPlan with(Recompute recompute) {
      return new MemoryPlan(level, shardGroup, secondaryGroup, recompute, 0);
    }
  }

  /**
   * Name to option.
   *
   * @param framework decides which are searched unless pinned
   * @param nodeGpus GPUs of one node: the size of hpZ and HSDP groups
   * @param pinned a pinned name, or null
   */
  public static Map<String, Option> of(Framework framework, int nodeGpus, String pinned) {
    List<String> searched =
        switch (framework) {
          case MEGATRON -> List.of("1", "3");
          case DEEPSPEED -> List.of("0", "1", "2", "3", "hpz");
          case TORCHTITAN -> List.of("3", "hsdp");
          case ANY -> List.of("0", "1", "2", "3", "hsdp");
        };
    Map<String, Option> map = new LinkedHashMap<>();
    for (String name : pinned == null ? searched : List.of(pinned)) {
      map.put(
          name,
          switch (name) {
            case "hsdp" -> new Option(3, nodeGpus, 0);
            case "hpz" -> new Option(3, 0, nodeGpus);
            default -> new Option(Integer.parseInt(name), 0, 0);
          });
    }
    return map;
  }
}
