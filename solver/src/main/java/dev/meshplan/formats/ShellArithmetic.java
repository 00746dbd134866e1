package dev.meshplan.formats;

import java.util.LinkedHashSet;
import java.util.Set;

/** Integer arithmetic of {@code $(( ))} and {@code expr}. */
final class ShellArithmetic {
  private final String text;
  private final ShellScope scope;
  private final Set<String> unknown = new LinkedHashSet<>();
  private int at;

  private ShellArithmetic(String text, ShellScope scope) {
    this.text = text.replaceAll("[\\s\\\\\"']", "");
    this.scope = scope;
  }

  /** The value as text; the mark of an unknown value when it can't be told. */
  static String value(String text, ShellScope scope) {
    ShellArithmetic a = new ShellArithmetic(text, scope);
    try {
      long v = a.comparison();
      if (a.at == a.text.length() && a.unknown.isEmpty()) {
        return Long.toString(v);
      }
    } catch (NumberFormatException | ArithmeticException | StringIndexOutOfBoundsException e) {
      // Not an expression that is understood: falls through to the mark.
    }
    return ShellScope.unknown(
        a.unknown.isEmpty() ? "$((" + text.trim() + "))" : String.join(", ", a.unknown));
  }

  private boolean next(String op) {
    if (!text.startsWith(op, at)) {
      return false;
    }
    at += op.length();
    return true;
  }

  private long comparison() {
    long v = sum();
    while (true) {
      if (next("==")) {
        v = v == sum() ? 1 : 0;
      } else if (next("!=")) {
        v = v != sum() ? 1 : 0;
      } else if (next(">=")) {
        v = v >= sum() ? 1 : 0;
      } else if (next("<=")) {
        v = v <= sum() ? 1 : 0;
      } else if (next(">")) {
        v = v > sum() ? 1 : 0;
      } else if (next("<")) {
        v = v < sum() ? 1 : 0;
      } else if (next("?")) {
        long yes = comparison();
        long no = next(":") ? comparison() : 0;
        v = v != 0 ? yes : no;
      } else {
        return v;
      }
    }
  }

  private long sum() {
    long v = product();
    while (at < text.length() && (text.charAt(at) == '+' || text.charAt(at) == '-')) {
      v = text.charAt(at++) == '+' ? Math.addExact(v, product()) : Math.subtractExact(v, product());
    }
    return v;
  }

  private long product() {
    long v = atom();
    while (at < text.length() && "*/%".indexOf(text.charAt(at)) >= 0) {
      char op = text.charAt(at++);
      long other = atom();
      boolean unset = other == 0 && !unknown.isEmpty();
      v = op == '*' ? Math.multiplyExact(v, other) : unset ? v : op == '/' ? v / other : v % other;
    }
    return v;
  }

  private long atom() {
    if (text.charAt(at) == '(') {
      at++;
      long v = comparison();
      at++;
      return v;
    }
    if (text.charAt(at) == '-') {
      at++;
      return -atom();
    }
    boolean dollar = next("$");
    boolean braces = dollar && next("{");
    int start = at;
    while (at < text.length()
        && (Character.isLetterOrDigit(text.charAt(at)) || text.charAt(at) == '_')) {
      at++;
    }
    String word = text.substring(start, at);
    if (braces && !next("}")) {
      throw new NumberFormatException("only plain variables are understood");
    }
    return word.isEmpty() || (!dollar && Character.isDigit(word.charAt(0)))
        ? Long.parseLong(word)
        : variable(word);
  }

  private long variable(String name) {
    String value = scope.text(name);
    if (value == null || value.isBlank() || ShellScope.isUnknown(value)) {
      unknown.addAll(
          value == null || value.isBlank() ? Set.of(name) : Set.copyOf(ShellScope.names(value)));
      return 0;
    }
    return Long.parseLong(value.trim());
  }
}
