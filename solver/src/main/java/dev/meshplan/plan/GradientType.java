package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** Number format of the gradients that are accumulated and reduced. */
public enum GradientType implements Keyed {
  FP32,
  BF16
}
