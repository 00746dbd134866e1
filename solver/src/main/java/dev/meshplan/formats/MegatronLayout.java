package dev.meshplan.formats;

import dev.meshplan.plan.Stage;
import java.util.ArrayList;
import java.util.List;

/** Megatron-LM's layout strings: which layers stand on which virtual stage. */
final class MegatronLayout {
  private MegatronLayout() {}

  /** Megatron's layout string: stages apart by bars; E embedding, t layer, m MTP, L loss. */
  static String write(List<Stage> stages) {
    List<String> parts = new ArrayList<>();
    for (Stage s : stages) {
      parts.add(
          (s.embedding() ? "E" : "")
              + times("t", s.layers())
              + times("m", s.mtpLayers())
              + (s.loss() ? "L" : ""));
    }
    StringBuilder out = new StringBuilder();
    int i = 0;
    while (i < parts.size()) {
      int j = i;
      while (j < parts.size() && parts.get(j).equals(parts.get(i)) && !parts.get(i).isEmpty()) {
        j++;
      }
      int n = Math.max(1, j - i);
      boolean last = i + n == parts.size();
      if (n > 2 && !parts.get(i).contains("*")) {
        out.append('(').append(parts.get(i)).append("|)*").append(last ? n - 1 : n);
        out.append(last ? "," + parts.get(i) : ",");
      } else {
        for (int k = 0; k < n; k++) {
          out.append(parts.get(i)).append(last && k == n - 1 ? "" : "|");
        }
      }
      i += n;
    }
    return out.toString();
  }

  private static String times(String symbol, int n) {
    return n <= 0 ? "" : n <= 4 ? symbol.repeat(n) : symbol + "*" + n;
  }
}
