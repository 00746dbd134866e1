package dev.meshplan.units;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reading and writing of numbers with units. */
public final class Quantity {
  public static final double GIB = 1024.0 * 1024 * 1024;
  public static final double MIB = 1024.0 * 1024;
  public static final double GIGA = 1e9;
  public static final double TERA = 1e12;
  public static final double MICRO = 1e-6;

  private static final Pattern SPELLED =
      Pattern.compile("\\s*([+-]?[0-9][0-9_]*(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\\s*(\\S.*?)?\\s*");

  private Quantity() {}

  /**
   * Reads a spelled quantity such as {@code "80 GiB"}.
   *
   * @return the value in the dimension's base unit
   * @throws IllegalArgumentException with a message that shows the right spellings
   */
  public static double parse(String text, Dimension dimension) {
    Matcher m = SPELLED.matcher(text);
    if (!m.matches()) {
      throw new IllegalArgumentException(
          "is not a number with a unit; write it like " + dimension.example());
    }
    String unit = m.group(2);
    if (unit == null) {
      throw new IllegalArgumentException(
          "has no unit; write it like "
              + dimension.example()
              + " (units: "
              + String.join(", ", dimension.units().keySet())
              + ")");
    }
    Double factor = dimension.units().get(unit);
    if (factor == null) {
      throw new IllegalArgumentException(
          "has the unit '"
              + unit
              + "', which does not belong here; use one of "
              + String.join(", ", dimension.units().keySet())
              + ", like "
              + dimension.example());
    }
    return Double.parseDouble(m.group(1).replace("_", "")) * factor;
  }

  /** Bytes as GiB (or MiB, KiB, B when small), three or four significant digits. */
  public static String bytes(double bytes) {
    double a = Math.abs(bytes);
    if (a >= 1024 * GIB * 10) {
      return digits(bytes / GIB / 1024) + " TiB";
    }
    if (a >= GIB / 10) {
      return digits(bytes / GIB) + " GiB";
    }
    if (a >= MIB / 10) {
      return digits(bytes / MIB) + " MiB";
    }
    return a >= 1024 ? digits(bytes / 1024) + " KiB" : digits(bytes) + " B";
  }

  /** Seconds as s, ms or us. */
  public static String seconds(double seconds) {
    double a = Math.abs(seconds);
    if (a == 0) {
      return "0 s";
    }
    if (a >= 1) {
      return digits(seconds) + " s";
    }
    return a >= 1e-3 ? digits(seconds * 1e3) + " ms" : digits(seconds * 1e6) + " us";
  }

  /** One-way bandwidth as GB/s. */
  public static String bandwidth(double bytesPerSecond) {
    return digits(bytesPerSecond / GIGA) + " GB/s";
  }

  /** A dense rate as TFLOP/s. */
  public static String flops(double flopPerSecond) {
    return digits(flopPerSecond / TERA) + " TFLOP/s";
  }

  /** A count with thousands separators. */
  public static String count(double value) {
    return String.format(Locale.ROOT, "%,.0f", value);
  }

  /** A whole count with thousands separators. */
  public static String count(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  /** A share as a percentage with one digit. */
  public static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f%%", share * 100);
  }

  /** Three significant digits, four from 1,000 on, without an exponent. */
  public static String digits(double value) {
    double a = Math.abs(value);
    if (a == 0) {
      return "0";
    }
    String format = a >= 100 ? "%,.0f" : a >= 10 ? "%.1f" : a >= 1 ? "%.2f" : "%.3g";
    String text = String.format(Locale.ROOT, format, value);
    return a < 1e-4 ? String.format(Locale.ROOT, "%.2e", value) : text;
  }
}
