package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** How a planning request ended. */
public enum Outcome implements Keyed {
  FOUND,
  INFEASIBLE,
  UNKNOWN
}
