package dev.meshplan.plan;

import dev.meshplan.config.Keyed;
import java.util.List;

/**
 * What is computed again in the backward pass.
 *
 * @param granularity none, selected modules, or whole layers
 * @param modules for {@code SELECTIVE}
 * @param share for {@code FULL}: share of the layers of each stage, in (0, 1]
 */
public record Recompute(Granularity granularity, List<Module> modules, double share) {
  /** Nothing is recomputed. */
  public static final Recompute NONE = new Recompute(Granularity.NONE, List.of(), 0);

  /** Every layer is recomputed from its input. */
  public static final Recompute FULL = new Recompute(Granularity.FULL, List.of(), 1);

  /** How much. */
  public enum Granularity implements Keyed {
    NONE,
    SELECTIVE,
    FULL
  }

  public Recompute {
    modules = List.copyOf(modules);
  }

  public static Recompute selective(Module... modules) {
    return new Recompute(Granularity.SELECTIVE, List.of(modules), 0);
  }

  public boolean full() {
    return granularity == Granularity.FULL;
  }

  public boolean drops(Module module) {
    return modules.contains(module);
  }

  public String text() {
    return switch (granularity) {
      case NONE -> "no recompute";
      case SELECTIVE ->
          "recompute of " + String.join(", ", modules.stream().map(Module::key).toList());
      case FULL ->
          share >= 1
              ? "full recompute"
              : "full recompute of " + Math.round(share * 100) + "% of each stage's layers";
    };
  }
}
