package dev.meshplan.config;

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
      implements YamlNode {}
}
