package dev.meshplan.formats;

import java.util.regex.Pattern;

/** Quoting of names and values for each format that is written, so that none can break out. */
public final class Quoting {
  private static final Pattern PLAIN_SHELL = Pattern.compile("[A-Za-z0-9_./:=@%+-]+");
  private static final Pattern INERT = Pattern.compile("[A-Za-z0-9_./:=@%+,|*()'\\[\\] -]+");

  private Quoting() {}

  /**
   * One word of a POSIX shell: as it stands when harmless, in double quotes around single ones when
   * nothing inside them would be expanded, else in single quotes.
   */
  public static String shell(String value) {
    if (PLAIN_SHELL.matcher(value).matches()) {
      return value;
    }
    if (value.indexOf('\'') >= 0 && INERT.matcher(value).matches()) {
      return '"' + value + '"';
    }
    return "'" + value.replace("\0", "").replace("'", "'\\''") + "'";
  }

  /**
   * Text for a comment line: control characters, and those that turn the direction of reading,
   * become spaces, so that the line neither ends early nor looks like another.
   */
  public static String comment(String value) {
    StringBuilder s = new StringBuilder();
    value
        .codePoints()
        .forEach(
            c -> {
              boolean breaks =
                  Character.isISOControl(c)
                      || c == 0x2028
                      || c == 0x2029
                      || Character.getType(c) == Character.FORMAT
                      || Character.getType(c) == Character.SURROGATE;
              s.appendCodePoint(breaks ? ' ' : c);
            });
    return s.toString();
  }

  /** A double-quoted YAML or JSON string (JSON strings are YAML). */
  public static String json(String value) {
    StringBuilder s = new StringBuilder("\"");
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '"', '\\' -> s.append('\\').append(c);
        case '\n' -> s.append("\\n");
        case '\r' -> s.append("\\r");
        case '\t' -> s.append("\\t");
        default -> {
          if (c < 0x20 || c == 0x7f || c == 0x85 || c == 0x2028 || c == 0x2029) {
            s.append(String.format("\\u%04x", (int) c));
          } else {
            s.append(c);
          }
        }
      }
    }
    return s.append('"').toString();
  }

  /** One CSV field (RFC 4180). */
  public static String csv(String value) {
    if (value.matches("[A-Za-z0-9_.:/-]*")) {
      return value;
    }
    return '"' + value.replace("\"", "\"\"") + '"';
  }

  /**
   * A name that DNS labels, Slurm job names and file names accept: lower case letters, digits and
   * dashes, at most 40 characters.
   */
  public static String slug(String name) {
    String s =
        name.toLowerCase(java.util.Locale.ROOT)
            .replaceAll("[^a-z0-9]+", "-")
            .replaceAll("^-+|-+$", "");
    if (s.length() > 40) {
      s = s.substring(0, 40).replaceAll("-+$", "");
    }
    return s.isEmpty() || !Character.isLetter(s.charAt(0))
        ? "job" + (s.isEmpty() ? "" : "-" + s)
        : s;
  }
}
