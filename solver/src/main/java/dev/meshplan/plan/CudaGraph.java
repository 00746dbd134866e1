package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** How much of an iteration is replayed from CUDA graphs. */
public enum CudaGraph implements Keyed {
  NONE,
  PARTIAL,
  FULL
}
