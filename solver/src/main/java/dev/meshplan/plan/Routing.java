package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** How tokens choose experts in the run. */
public enum Routing implements Keyed {
  /** Forced balance. */
  BALANCED,
  /** A real router. */
  NATURAL,
  /** Tokens beyond capacity are dropped. */
  DROP
}
