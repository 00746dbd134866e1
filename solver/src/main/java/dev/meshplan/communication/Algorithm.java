package dev.meshplan.communication;

import dev.meshplan.config.Keyed;

/** How a collective is carried out: NCCL's names where it has one. */
public enum Algorithm implements Keyed {
  RING_LL("LL ring"),
  RING_LL128("LL128 ring"),
  RING_SIMPLE("Simple ring"),
  TREE_LL("LL tree"),
  TREE_SIMPLE("Simple tree"),
  NVLS("NVLS"),
  NVLS_TREE("NVLS tree"),
  SHARP("SHARP (CollNet)"),
  PAT("PAT"),
  HIERARCHICAL("hierarchical"),
  PAIRWISE("pairwise"),
  PAIRWISE_PXN("pairwise over rails (PXN)"),
  PIPELINE("pipelined chain"),
  DIRECT("send and receive"),
  SYMMETRIC("symmetric memory"),
  CUSTOM("one-shot or two-shot kernel");

  private final String title;

  Algorithm(String title) {
    this.title = title;
  }

  /** Name for people. */
  public String title() {
    return title;
  }

  /** Whether the library takes it by itself, on registered buffers or on any. */
  boolean competes(boolean registered) {
    return condition().isEmpty() || (registered && this == SYMMETRIC);
  }

  /**
   * Why the library doesn't take it by itself; empty = it competes.
   *
   * @return a condition in words
   */
  public String condition() {
    return switch (this) {
      case SHARP -> "only with reduction in the network switched on";
      case HIERARCHICAL -> "only where the framework splits the collective itself";
      case SYMMETRIC -> "only on buffers registered as symmetric memory (NCCL from 2.27 on)";
      case CUSTOM -> "only in inference libraries";
      default -> "";
    };
  }
}
