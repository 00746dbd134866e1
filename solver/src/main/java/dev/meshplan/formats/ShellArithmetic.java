package dev.meshplan.formats;

import java.util.function.UnaryOperator;

/** Integer arithmetic of {@code $(( ))}. */
final class ShellArithmetic {
  private final String text;
  private final UnaryOperator<String> variables;
  private int at;

  private ShellArithmetic(String text, UnaryOperator<String> variables) {
    this.text = text.replaceAll("[\\s$\\{\\}]", "");
    this.variables = variables;
  }

  /** The value as text; empty when it can't be told. */
  static String value(String text, UnaryOperator<String> variables) {
    try {
      ShellArithmetic a = new ShellArithmetic(text, variables);
      long v = a.sum();
      return a.at == a.text.length() ? Long.toString(v) : "";
    } catch (NumberFormatException | ArithmeticException | StringIndexOutOfBoundsException e) {
      return "";
    }
  }

  private long sum() {
    long v = product();
    while (at < text.length() && (text.charAt(at) == '+' || text.charAt(at) == '-')) {
      v = text.charAt(at++) == '+' ? v + product() : v - product();
    }
    return v;
  }

  private long product() {
    long v = atom();
    while (at < text.length() && "*/%".indexOf(text.charAt(at)) >= 0) {
      char op = text.charAt(at++);
      long other = atom();
      v = op == '*' ? v * other : op == '/' ? v / other : v % other;
    }
    return v;
  }

  private long atom() {
    if (text.charAt(at) == '(') {
      at++;
      long v = sum();
      at++;
      return v;
    }
    int start = at;
    while (at < text.length()
        && (Character.isLetterOrDigit(text.charAt(at)) || text.charAt(at) == '_')) {
      at++;
    }
    String word = text.substring(start, at);
    if (!word.isEmpty() && !Character.isDigit(word.charAt(0))) {
      String value = variables.apply(word);
      word = value == null ? "" : value.trim();
    }
    return Long.parseLong(word);
  }
}
