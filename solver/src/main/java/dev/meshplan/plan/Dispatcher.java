package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** How tokens reach their experts. */
public enum Dispatcher implements Keyed {
  /** Plain all-to-all of every copy. */
  NAIVE,
  /** One copy per destination (DeepEP, HybridEP). */
  DEDUPE
}
