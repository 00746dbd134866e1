package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** What is trained. */
public enum Tuning implements Keyed {
  FULL,
  /** Full parameters on packed documents. */
  SFT,
  /** Adapters only. */
  LORA
}
