package dev.meshplan.study;

import dev.meshplan.config.Text;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A hardware file with measured constants written into it. */
public final class CalibratedFile {
  private static final MathContext DIGITS = new MathContext(4);

  private CalibratedFile() {}

  /**
   * The system's file with the fitted constants under {@code domain.collectives}.
   *
   * @param text the file as it stands
   * @param logs names of the logs, for its sources
   */
  public static String system(
      String file, String text, List<Calibration.Moved> constants, List<String> logs) {
    Map<String, Object> root = map(Text.read(file, text, LinkedHashMap.class));
    Map<String, Object> domain = map(root.get("domain"));
    put(domain, constants);
    root.put("domain", domain);
    return finished(root, logs);
  }

  /** The network's file with the fitted constants under {@code collectives}. */
  public static String network(
      String file, String text, List<Calibration.Moved> constants, List<String> logs) {
    Map<String, Object> root = map(Text.read(file, text, LinkedHashMap.class));
    put(root, constants);
    return finished(root, logs);
  }

  /**
   * The GPU's file with the constant that a measured step moved.
   *
   * @param source what was measured, for its sources
   */
  public static String gpu(String file, String text, StepCalibration.Result r, String source) {
    Map<String, Object> root = map(Text.read(file, text, LinkedHashMap.class));
    Map<String, Object> efficiency = map(root.get("efficiency"));
    Map<String, Object> one = new LinkedHashMap<>();
    one.put("value", new BigDecimal(r.after()).round(DIGITS));
    one.put("basis", "measured");
    if (r.key().startsWith("gemm.")) {
      Map<String, Object> gemm = map(efficiency.get("gemm"));
      gemm.put(r.key().substring("gemm.".length()), one);
      efficiency.put("gemm", gemm);
    } else {
      efficiency.put(r.key(), one);
    }
    root.put("efficiency", efficiency);
    return finished(root, List.of(source));
  }

  private static void put(Map<String, Object> section, List<Calibration.Moved> constants) {
    Map<String, Object> all = map(section.get("collectives"));
    for (Calibration.Moved m : constants) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("value", new BigDecimal(m.after()).round(DIGITS));
      one.put("basis", "measured");
      all.put(m.key(), one);
    }
    if (!all.isEmpty()) {
      section.put("collectives", all);
    }
  }

  private static String finished(Map<String, Object> root, List<String> logs) {
    List<Object> sources = new ArrayList<>();
    if (root.get("sources") instanceof List<?> given) {
      sources.addAll(given);
    }
    for (String log : logs) {
      sources.add("own measurement: " + log);
    }
    root.put("sources", sources);
    return Text.yaml(root);
  }

  private static Map<String, Object> map(Object value) {
    Map<String, Object> copy = new LinkedHashMap<>();
    if (value instanceof Map<?, ?> m) {
      m.forEach((k, v) -> copy.put(String.valueOf(k), v));
    }
    return copy;
  }
}
