package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** A degree of freedom of a plan. */
public enum Axis implements Keyed {
  TP,
  CP,
  PP,
  DP,
  EP,
  ETP,
  VPP,
  MICRO_BATCH,
  SHARDING,
  RECOMPUTE,
  BLOCK_GPUS,
  CP_INSIDE,
  GPUS_USED
}
