package dev.meshplan.estimate;

import dev.meshplan.config.Keyed;

/** Whether a device reading fits. Set on measured runs: failures were reported from 93%. */
public enum MemoryVerdict implements Keyed {
  FITS,
  /** May run, but retries and failures are known there. */
  TIGHT,
  OUT_OF_MEMORY;

  static final double SAFE_SHARE = 0.92;
  static final double LARGEST_SHARE = 1.02;

  /**
   * The verdict on one GPU.
   *
   * @param deviceBytes reading C of its rank
   * @param usableBytes what a process can use
   */
  public static MemoryVerdict of(double deviceBytes, double usableBytes) {
    double share = deviceBytes / usableBytes;
    return share <= SAFE_SHARE ? FITS : share <= LARGEST_SHARE ? TIGHT : OUT_OF_MEMORY;
  }
}
