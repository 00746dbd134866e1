package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** How context parallelism moves keys and values. */
public enum CpKind implements Keyed {
  P2P,
  ALL_TO_ALL,
  ALL_GATHER
}
