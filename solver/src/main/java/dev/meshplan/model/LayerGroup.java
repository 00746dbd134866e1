package dev.meshplan.model;

import java.util.List;

/** Consecutive layers: the pattern of kinds, repeated. */
public record LayerGroup(int repeat, List<LayerKind> pattern) {
  public LayerGroup {
    pattern = List.copyOf(pattern);
  }

  public int layers() {
    return repeat * pattern.size();
  }
}
