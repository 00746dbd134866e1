package dev.meshplan.hardware;

import dev.meshplan.units.Basis;

/** A number with its basis. NaN when nobody published it. */
public record Known(double value, Basis basis) {
  public static final Known UNKNOWN = new Known(Double.NaN, Basis.ASSUMED);

  public boolean known() {
    return !Double.isNaN(value);
  }
}
