package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** Whether TP and EP groups may leave their scale-up domain. */
public enum Locality implements Keyed {
  /** They may not (a choice, not a law). */
  STRICT,
  /** They may, at the price of the link they cross. */
  PRICED
}
