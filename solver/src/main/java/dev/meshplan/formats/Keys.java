package dev.meshplan.formats;

import dev.meshplan.config.Section;
import java.util.List;

/** Reading of one fact that different files call by different names. */
final class Keys {
  private static final int MOST = 1 << 24;

  private Keys() {}

  /** The first of the names that is present and not null; null when none is. */
  static String present(Section s, String... names) {
    for (String name : names) {
      if (s.has(name)) {
        return name;
      }
    }
    return null;
  }

  /** A positive count under one of the names; an error at the first name when all are absent. */
  static int positive(Section s, String... names) {
    String name = present(s, names);
    if (name == null) {
      s.error(
          names[0],
          "is missing"
              + (names.length > 1
                  ? " (also known as "
                      + String.join(", ", List.of(names).subList(1, names.length))
                      + ")"
                  : "")
              + "; the shape can't be told without it.");
      return 1;
    }
    return (int) s.integer(name, 1, MOST);
  }

  /** A count under one of the names, or {@code absent}. */
  static int optional(Section s, int absent, String... names) {
    String name = present(s, names);
    return name == null ? absent : (int) s.integer(name, 0, 1L << 30);
  }
}
