package dev.meshplan.config;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** An enum whose constants have a name in YAML and JSON: the constant's name in lower case. */
public interface Keyed {
  /** Supplied by the enum. */
  String name();

  /** The name in YAML, JSON, flags and reports. */
  @JsonValue
  default String key() {
    return name().toLowerCase(Locale.ROOT);
  }
}
