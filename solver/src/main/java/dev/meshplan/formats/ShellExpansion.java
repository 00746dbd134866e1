package dev.meshplan.formats;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What starts with a dollar sign or a backquote: variables, defaults, arithmetic, substitutions.
 */
final class ShellExpansion {
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!]");
  private static final Pattern BRACES =
      Pattern.compile("(?s)([A-Za-z_][A-Za-z0-9_]*|[0-9@*]+)(\\[[^\\]]*\\])?(:?[-=?+])?(.*)");
  private static final Pattern EXPR = Pattern.compile("(?s)expr\\s+(.*)");
  private static final Pattern BC = Pattern.compile("(?s)echo\\s+(.*?)\\|\\s*bc(?:\\s+-l)?");
  private static final Pattern ECHO = Pattern.compile("(?s)echo\\s+([^|]*)");

  private final String text;
  private final ShellScope scope;

  /** Just after what was expanded last. */
  int end;

  ShellExpansion(String text, ShellScope scope) {
    this.text = text;
    this.scope = scope;
  }

  /** The values of what starts here. */
  List<String> at(int start) {
    if (text.charAt(start) == '`') {
      int close = text.indexOf('`', start + 1);
      close = close < 0 ? text.length() : close;
      end = Math.min(text.length(), close + 1);
      return List.of(substitution(text.substring(start + 1, close)));
    }
    int at = start + 1;
    if (at >= text.length()) {
      end = at;
      return List.of("$");
    }
    char c = text.charAt(at);
    if (text.startsWith("((", at)) {
      int close = balanced(at, '(', ')');
      end = close;
      return List.of(ShellArithmetic.value(inner(at + 2, close - 2), scope));
    }
    if (c == '(') {
      end = balanced(at, '(', ')');
      return List.of(substitution(inner(at + 1, end - 1)));
    }
    if (c == '[') {
      end = balanced(at, '[', ']');
      return List.of(ShellArithmetic.value(inner(at + 1, end - 1), scope));
    }
    if (c == '{') {
      end = balanced(at, '{', '}');
      return braces(inner(at + 1, end - 1));
    }
    Matcher m = NAME.matcher(text).region(at, text.length());
    if (m.lookingAt()) {
      end = m.end();
      return variable(m.group());
    }
    end = at;
    return List.of("$");
  }

  private String inner(int from, int to) {
    return text.substring(from, Math.max(from, Math.min(to, text.length())));
  }

  /** Just after the bracket that closes the one here. */
  private int balanced(int at, char open, char close) {
    int depth = 0;
    for (int i = at; i < text.length(); i++) {
      depth += text.charAt(i) == open ? 1 : text.charAt(i) == close ? -1 : 0;
      if (depth == 0) {
        return i + 1;
      }
    }
    return text.length() + 1;
  }

  private List<String> variable(String name) {
    return scope.has(name) ? scope.get(name) : List.of(ShellScope.unknown(name));
  }

  /**
   * Nothing is run; integer arithmetic by {@code expr} and {@code bc}, and echo, are understood.
   */
  private String substitution(String command) {
    String c = command.trim();
    Matcher expr = EXPR.matcher(c);
    Matcher bc = BC.matcher(c);
    Matcher echo = ECHO.matcher(c);
    String value = "";
    if (expr.matches()) {
      value = ShellArithmetic.value(expr.group(1), scope);
    } else if (bc.matches()) {
      value = ShellArithmetic.value(bc.group(1), scope);
    } else if (echo.matches()) {
      value = String.join(" ", ShellWords.words(echo.group(1), scope));
    }
    if (!value.isEmpty() && !ShellScope.isUnknown(value)) {
      return value;
    }
    return ShellScope.unknown("$(" + c.replaceAll("\\s+", " ") + ")");
  }

  private List<String> braces(String inner) {
    Matcher m = BRACES.matcher(inner);
    if (!m.matches()) {
      return List.of(ShellScope.unknown("${" + inner + "}"));
    }
    String name = m.group(1);
    List<String> value = scope.get(name);
    boolean set = scope.has(name) && !String.join("", value).isEmpty();
    if (m.group(3) != null) {
      if (m.group(3).endsWith("+")) {
        return set ? ShellWords.words(m.group(4), scope) : List.of("");
      }
      if (!m.group(3).endsWith("?")) {
        return set ? value : List.of(String.join(" ", ShellWords.words(m.group(4), scope)));
      }
    } else if (!m.group(4).isEmpty()) {
      return List.of(set ? cut(value, m.group(4), inner) : ShellScope.unknown(name));
    }
    String index = m.group(2) == null ? "" : m.group(2).replaceAll("[\\[\\]]", "");
    if (index.matches("\\d{1,6}") && scope.has(name)) {
      int i = Integer.parseInt(index);
      return List.of(i < value.size() ? value.get(i) : "");
    }
    if (!index.isEmpty() && !index.equals("@") && !index.equals("*")) {
      return List.of(ShellScope.unknown("${" + inner + "}"));
    }
    return variable(name);
  }

  /** Plain suffix and prefix removal and replacement; anything else stays unknown. */
  private static String cut(List<String> value, String how, String inner) {
    String v = String.join(" ", value);
    Matcher suffix = Pattern.compile("%%?([A-Za-z0-9_.]+)").matcher(how);
    Matcher prefix = Pattern.compile("##?([A-Za-z0-9_.]+)").matcher(how);
    Matcher replace = Pattern.compile("//?([A-Za-z0-9_.,-]+)/([A-Za-z0-9_., -]*)").matcher(how);
    if (suffix.matches()) {
      String s = suffix.group(1);
      return v.endsWith(s) ? v.substring(0, v.length() - s.length()) : v;
    }
    if (prefix.matches()) {
      return v.startsWith(prefix.group(1)) ? v.substring(prefix.group(1).length()) : v;
    }
    if (replace.matches()) {
      return v.replace(replace.group(1), replace.group(2));
    }
    return ShellScope.unknown("${" + inner + "}");
  }
}
