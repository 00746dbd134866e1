package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** Parts of a layer that selective recompute can drop. */
public enum Module implements Keyed {
  CORE_ATTN,
  LAYERNORM,
  MLA_UP_PROJ,
  MLP,
  MOE,
  MOE_ACT,
  SHARED_EXPERTS
}
