package dev.meshplan.formats;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Slurm host lists such as {@code gb[001-018,20],login1}: expanded and folded, padding kept. */
public final class HostList {
  private static final int MOST = 200_000;
  private static final Pattern RANGE = Pattern.compile("(\\d+)(?:-(\\d+))?");
  private static final Pattern NUMBERED = Pattern.compile("(.*?)(\\d+)");

  private HostList() {}

  /**
   * All names of a list.
   *
   * @throws IllegalArgumentException with what is wrong
   */
  public static List<String> expand(String text) {
    List<String> out = new ArrayList<>();
    for (String part : split(text)) {
      expand(part, out);
    }
    return out;
  }

  private static void expand(String part, List<String> out) {
    int open = part.indexOf('[');
    if (open < 0) {
      if (part.indexOf(']') >= 0 || !part.matches("[A-Za-z0-9_.-]+")) {
        throw new IllegalArgumentException("'" + part + "' is no host name or host list");
      }
      out.add(part);
      return;
    }
    int close = part.indexOf(']', open);
    if (close < 0) {
      throw new IllegalArgumentException("'" + part + "' has an open bracket");
    }
    String head = part.substring(0, open);
    String tail = part.substring(close + 1);
    for (String item : part.substring(open + 1, close).split(",", -1)) {
      Matcher m = RANGE.matcher(item.trim());
      if (!m.matches() || m.group(1).length() > 9) {
        throw new IllegalArgumentException("'" + item + "' in '" + part + "' is no range");
      }
      String low = m.group(1);
      String high = m.group(2) == null ? low : m.group(2);
      if (high.length() > 9 || Long.parseLong(high) < Long.parseLong(low)) {
        throw new IllegalArgumentException(
            "the range " + item + " in '" + part + "' runs backwards");
      }
      for (long n = Long.parseLong(low); n <= Long.parseLong(high); n++) {
        String number = Long.toString(n);
        String padded = "0".repeat(Math.max(0, low.length() - number.length())) + number;
        expand(head + padded + tail, out);
        if (out.size() > MOST) {
          throw new IllegalArgumentException("'" + part + "' names more than " + MOST + " hosts");
        }
      }
    }
  }

  /** Splits at commas outside brackets. */
  private static List<String> split(String text) {
    List<String> parts = new ArrayList<>();
    int depth = 0;
    StringBuilder part = new StringBuilder();
    for (int i = 0; i <= text.length(); i++) {
      char c = i < text.length() ? text.charAt(i) : ',';
      if (c == ',' && depth == 0) {
        if (!part.toString().isBlank()) {
          parts.add(part.toString().trim());
        }
        part.setLength(0);
      } else {
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        part.append(c);
      }
    }
    if (depth != 0) {
      throw new IllegalArgumentException("'" + text + "' has an open bracket");
    }
    return parts;
  }

  /** The names as a list with ranges, in the order given. */
  public static String fold(List<String> names) {
    List<String> parts = new ArrayList<>();
    int i = 0;
    while (i < names.size()) {
      Matcher m = NUMBERED.matcher(names.get(i));
      if (!m.matches() || m.group(2).length() > 9) {
        parts.add(names.get(i++));
        continue;
      }
      String head = m.group(1);
      int width = m.group(2).length();
      long first = Long.parseLong(m.group(2));
      long last = first;
      int j = i + 1;
      while (j < names.size() && names.get(j).equals(head + padded(last + 1, width))) {
        last++;
        j++;
      }
      parts.add(
          last == first
              ? names.get(i)
              : head + "[" + padded(first, width) + "-" + padded(last, width) + "]");
      i = j;
    }
    return String.join(",", parts);
  }

  /** A number with leading zeros. */
  static String padded(long number, int width) {
    String s = Long.toString(number);
    return "0".repeat(Math.max(0, width - s.length())) + s;
  }
}
