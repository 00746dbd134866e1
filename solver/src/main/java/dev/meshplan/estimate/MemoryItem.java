package dev.meshplan.estimate;

import dev.meshplan.plan.Module;
import java.util.Set;

/**
 * A tensor that one layer keeps for its backward pass.
 *
 * @param name such as {@code fc1_output}
 * @param bytes of one layer, one micro-batch, one GPU
 * @param droppedBy modules whose recompute drops it; empty = only full recompute does
 * @param formula in words
 */
public record MemoryItem(String name, double bytes, Set<Module> droppedBy, String formula) {
  public MemoryItem {
    droppedBy = Set.copyOf(droppedBy);
  }

  boolean dropped(int modules) {
    for (Module m : droppedBy) {
      if ((modules >> m.ordinal() & 1) != 0) {
        return true;
      }
    }
    return false;
  }
}
