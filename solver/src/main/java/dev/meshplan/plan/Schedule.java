package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** Order of forward and backward passes in a pipeline. */
public enum Schedule implements Keyed {
  ONE_F_ONE_B("1f1b"),
  INTERLEAVED("interleaved-1f1b"),
  ZB_1P("zb-1p"),
  ZB_2P("zb-2p"),
  ZBV("zbv"),
  V_HALF("v-half"),
  V_MIN("v-min"),
  GPIPE("gpipe");

  private final String key;

  Schedule(String key) {
    this.key = key;
  }

  @Override
  public String key() {
    return key;
  }

  /** Schedules that put the first and the last virtual stage on rank 0. */
  public boolean shapedLikeV() {
    return this == ZBV || this == V_HALF || this == V_MIN;
  }
}
