package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** What "cheapest" means. */
public enum Objective implements Keyed {
  /** Seconds of one step. */
  TIME,
  /** Money per token: the hourly price of every GPU of every touched domain. */
  COST,
  /** Joules per token: used GPUs at load, touched idle ones at idle power. */
  ENERGY
}
