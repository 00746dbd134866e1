package dev.meshplan.formats;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Flags of Megatron-LM's relatives under the names that Megatron-LM has for them. */
final class FlagTranslation {
  private FlagTranslation() {}

  /** Megatron-SWIFT: underscores, a value for every switch, and defaults of its own. */
  static void swift(Map<String, List<String>> values) {
    Map<String, List<String>> own = new LinkedHashMap<>(values);
    values.clear();
    own.forEach(
        (k, v) -> {
          String flag = k.replace('_', '-');
          boolean one = v.size() == 1;
          if (one && v.get(0).equalsIgnoreCase("true")) {
            values.put(flag, List.of());
          } else if (!(one && v.get(0).equalsIgnoreCase("false"))) {
            values.put(flag, v);
          }
        });
    Map<String, String> defaults =
        Map.of(
            "--micro-batch-size", "1",
            "--global-batch-size", "16",
            "--recompute-granularity", "selective");
    defaults.forEach((k, v) -> values.putIfAbsent(k, List.of(v)));
    for (String on : List.of("--use-distributed-optimizer", "--cross-entropy-loss-fusion")) {
      if (!own.containsKey(on) && !own.containsKey("--" + on.substring(2).replace('-', '_'))) {
        values.put(on, List.of());
      }
    }
    if (values.containsKey("--max-length")) {
      values.putIfAbsent("--seq-length", values.get("--max-length"));
    }
    if (values.get("--recompute-granularity").equals(List.of("none"))) {
      values.remove("--recompute-granularity");
    }
  }

  /** Megatron-DeepSpeed's names for what Megatron-LM has under others. */
  static void deepSpeed(Map<String, List<String>> values) {
    Map<String, String> names =
        Map.of(
            "--num-key-value-heads", "--num-query-groups",
            "--ds-sequence-parallel-size", "--context-parallel-size",
            "--moe-expert-parallel-size", "--expert-model-parallel-size",
            "--topk", "--moe-router-topk");
    names.forEach(
        (own, other) -> {
          if (values.containsKey(own)) {
            values.put(other, values.get(own));
          }
        });
    if (values.containsKey("--num-key-value-heads")) {
      values.put("--group-query-attention", List.of());
    }
    if (values.containsKey("--use-rotary-position-embeddings")) {
      values.put("--position-embedding-type", List.of("rope"));
    }
    if (List.of("1").equals(values.get("--num-experts"))) {
      values.remove("--num-experts");
      values.remove("--expert-model-parallel-size");
    }
  }
}
