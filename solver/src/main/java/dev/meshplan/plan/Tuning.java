package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** What is trained. */
public enum Tuning implements Keyed {
  FULL,
  /** Full parameters on packed documents. */
  SFT,
  /** Adapters only, over frozen 16-bit weights. */
  LORA,
  /** Adapters only, over frozen weights of 4 bits. */
  QLORA;

  /** Whether the model's own weights are frozen: no gradients and no optimizer states of them. */
  public boolean adapters() {
    return this == LORA || this == QLORA;
  }
}
