package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** Whose rules a plan must obey. */
public enum Framework implements Keyed {
  MEGATRON,
  DEEPSPEED,
  TORCHTITAN,
  /** Only the rules that every framework shares. */
  ANY
}
