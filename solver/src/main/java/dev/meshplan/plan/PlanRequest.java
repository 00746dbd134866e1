package dev.meshplan.plan;

import java.util.List;
import java.util.Map;

/**
 * What is asked.
 *
 * @param model id or file
 * @param cluster pools of hardware; one is usual
 * @param training the job
 * @param objective what cheapest means
 * @param locality whether TP and EP may leave their domain
 * @param fix pinned axes, such as {@code tp: 8}
 * @param limits of memory and search
 * @param alternatives runners-up to show
 */
public record PlanRequest(
    String model,
    List<Pool> cluster,
    Training training,
    Objective objective,
    Locality locality,
    Map<String, String> fix,
    Limits limits,
    int alternatives) {
  public PlanRequest {
    cluster = List.copyOf(cluster);
    fix = java.util.Collections.unmodifiableMap(new java.util.TreeMap<>(fix));
  }
}
