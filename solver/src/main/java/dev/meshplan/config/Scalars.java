package dev.meshplan.config;

import dev.meshplan.units.Dimension;
import dev.meshplan.units.Quantity;
import java.util.Arrays;
import java.util.List;

/** Conversions of plain values; the exception's message is what the user reads. */
final class Scalars {
  private Scalars() {}

  static long integer(String text, long min, long max) {
    long v;
    try {
      v = Long.parseLong(text.trim().replace("_", "").replace(",", ""));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("must be a whole number.", e);
    }
    if (v < min || v > max) {
      boolean open = max == Integer.MAX_VALUE || max == Long.MAX_VALUE;
      throw new IllegalArgumentException(
          open ? "must be at least " + min + "." : "must be from " + min + " to " + max + ".");
    }
    return v;
  }

  static double number(String text, double min, double max) {
    double v;
    try {
      v = Double.parseDouble(text.trim());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("must be a plain number.", e);
    }
    if (!(v >= min && v <= max)) {
      throw new IllegalArgumentException("must be from " + min + " to " + max + ".");
    }
    return v;
  }

  static double quantity(String text, Dimension dimension) {
    double v;
    try {
      v = Quantity.parse(text, dimension);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(e.getMessage() + ".", e);
    }
    if (v < 0 || Double.isInfinite(v) || Double.isNaN(v)) {
      throw new IllegalArgumentException("must not be negative.");
    }
    return v;
  }

  static <E extends Enum<E> & Keyed> E choice(String text, Class<E> type) {
    for (E e : type.getEnumConstants()) {
      if (e.key().equals(text.trim())) {
        return e;
      }
    }
    List<String> known = Arrays.stream(type.getEnumConstants()).map(Keyed::key).toList();
    throw new IllegalArgumentException(
        "is not known."
            + Names.hint(text, known)
            + " Use one of "
            + String.join(", ", known)
            + ".");
  }
}
