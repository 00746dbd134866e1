package dev.meshplan.config;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A YAML value with the line it stands on. */
sealed interface YamlNode {
  int line();

  /** A text, number or flag as written; {@code quoted} when in quotes. */
  record Scalar(int line, String text, boolean isNull) implements YamlNode {}

  record Sequence(int line, List<YamlNode> items) implements YamlNode {}

  /** Keys in file order; {@code keyLines} has the line of each key. */
  record Mapping(int line, Map<String, YamlNode> entries, Map<String, Integer> keyLines)
      implements YamlNode {
    /** The same without lines, for what was never in a file. */
    Mapping unlocated() {
      Map<String, YamlNode> bare = new LinkedHashMap<>();
      Map<String, Integer> lines = new LinkedHashMap<>();
      entries.forEach(
          (key, value) -> {
            bare.put(key, value instanceof Mapping m ? m.unlocated() : value);
            lines.put(key, 0);
          });
      return new Mapping(0, bare, lines);
    }

    /** This mapping with the values of another laid over it; what comes from it has line 0. */
    Mapping overlaid(Mapping over) {
      Map<String, YamlNode> merged = new LinkedHashMap<>(entries);
      Map<String, Integer> lines = new LinkedHashMap<>(keyLines);
      over.entries()
          .forEach(
              (key, value) -> {
                YamlNode old = merged.get(key);
                merged.put(
                    key,
                    old instanceof Mapping a && value instanceof Mapping b ? a.overlaid(b) : value);
                lines.put(key, 0);
              });
      return new Mapping(line, merged, lines);
    }
  }
}
