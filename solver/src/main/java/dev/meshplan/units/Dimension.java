package dev.meshplan.units;

import java.util.LinkedHashMap;
import java.util.Map;

/** What a quantity measures, with the unit spellings that input may use. Base unit first. */
public enum Dimension {
  /** Base unit: byte. GB is 1e9, GiB is 2^30. */
  BYTES("80 GiB", bytesUnits("")),
  /** Base unit: byte per second, one way. Gb/s (bits) and GB/s (bytes) are both read. */
  BYTES_PER_SECOND("450 GB/s", rateUnits()),
  /** Base unit: second. */
  SECONDS(
      "5 us",
      units(
          "s", 1.0, "ms", 1e-3, "us", 1e-6, "µs", 1e-6, "ns", 1e-9, "min", 60.0, "h", 3600.0, "d",
          86400.0)),
  /** Base unit: FLOP per second (dense). */
  FLOP_PER_SECOND(
      "989 TFLOP/s",
      units("FLOP/s", 1.0, "GFLOP/s", 1e9, "TFLOP/s", 1e12, "PFLOP/s", 1e15, "EFLOP/s", 1e18)),
  /** Base unit: watt. */
  WATTS("700 W", units("W", 1.0, "kW", 1e3, "MW", 1e6)),
  /** Base unit: US dollar. */
  DOLLARS("310000 USD", units("USD", 1.0, "kUSD", 1e3, "MUSD", 1e6)),
  /** Base unit: US dollar per GPU and hour. */
  DOLLARS_PER_GPU_HOUR("2.5 USD/GPU-hour", units("USD/GPU-hour", 1.0, "USD/GPU-h", 1.0)),
  /** Base unit: US dollar per kilowatt-hour. */
  DOLLARS_PER_KILOWATT_HOUR("0.08 USD/kWh", units("USD/kWh", 1.0));

  private final String example;
  private final Map<String, Double> units;

  Dimension(String example, Map<String, Double> units) {
    this.example = example;
    this.units = units;
  }

  /** A right spelling, for messages. */
  public String example() {
    return example;
  }

  /** Unit spelling to factor into the base unit, in the order messages list them. */
  public Map<String, Double> units() {
    return units;
  }

  private static Map<String, Double> units(Object... pairs) {
    Map<String, Double> map = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      map.put((String) pairs[i], (Double) pairs[i + 1]);
    }
    return java.util.Collections.unmodifiableMap(map);
  }

  private static Map<String, Double> bytesUnits(String suffix) {
    Map<String, Double> map = new LinkedHashMap<>();
    String[] decimal = {"B", "kB", "MB", "GB", "TB", "PB"};
    String[] binary = {"", "KiB", "MiB", "GiB", "TiB", "PiB"};
    for (int i = 0; i < decimal.length; i++) {
      map.put(decimal[i] + suffix, Math.pow(1000, i));
    }
    for (int i = 1; i < binary.length; i++) {
      map.put(binary[i] + suffix, Math.pow(1024, i));
    }
    return map;
  }

  private static Map<String, Double> rateUnits() {
    Map<String, Double> map = new LinkedHashMap<>(bytesUnits("/s"));
    map.put("Mb/s", 1e6 / 8);
    map.put("Gb/s", 1e9 / 8);
    map.put("Tb/s", 1e12 / 8);
    map.put("Gbit/s", 1e9 / 8);
    map.put("Gbps", 1e9 / 8);
    return map;
  }
}
