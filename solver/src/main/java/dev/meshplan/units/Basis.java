package dev.meshplan.units;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** Where a number comes from, strongest first. A sum is as weak as its weakest part. */
public enum Basis {
  MEASURED,
  PUBLISHED,
  FITTED,
  FITTED_ON_ONE_SOURCE,
  DERIVED,
  ASSUMED;

  /** The name used in YAML, JSON and reports. */
  @JsonValue
  public String key() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The weaker of two bases. */
  public Basis weakest(Basis other) {
    return ordinal() >= other.ordinal() ? this : other;
  }
}
