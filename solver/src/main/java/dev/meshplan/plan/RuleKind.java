package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** What a violated rule means. */
public enum RuleKind implements Keyed {
  /** The framework would refuse. */
  ILLEGAL,
  /** Memory or GPUs do not suffice. */
  DOES_NOT_FIT,
  /** Forbidden by the request (locality, pins), not by the framework. */
  KEPT_APART
}
