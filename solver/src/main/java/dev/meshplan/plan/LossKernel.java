package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** How the cross entropy is computed. */
public enum LossKernel implements Keyed {
  /** In place (Transformer Engine, Liger). */
  FUSED,
  /** On an fp32 copy (Megatron native). */
  UNFUSED,
  /** Framework cross entropy on an fp32 copy, not compiled. */
  PLAIN
}
