package dev.meshplan.hardware;

import dev.meshplan.config.Keyed;

/** Number format of the GEMMs. {@code bytes}: of one GEMM input element. */
public enum Precision implements Keyed {
  BF16(2),
  FP16(2),
  FP8(1),
  MXFP8(1),
  NVFP4(0.6);

  private final double bytes;

  Precision(double bytes) {
    this.bytes = bytes;
  }

  public double bytes() {
    return bytes;
  }

  public boolean sixteenBit() {
    return this == BF16 || this == FP16;
  }
}
