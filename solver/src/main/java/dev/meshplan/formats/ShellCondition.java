package dev.meshplan.formats;

import java.util.List;
import java.util.Optional;

/** Conditions of {@code if}: tests of strings and whole numbers, joined by and, or, not. */
final class ShellCondition {
  private final List<String> words;
  private int at;

  private ShellCondition(List<String> words) {
    this.words = words;
  }

  /** Whether it holds; empty when that depends on what the script does not say. */
  static Optional<Boolean> holds(List<String> words) {
    ShellCondition c = new ShellCondition(words);
    try {
      Optional<Boolean> v = c.or();
      return c.at == words.size() ? v : Optional.empty();
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      return Optional.empty();
    }
  }

  private boolean next(String... any) {
    if (at < words.size() && List.of(any).contains(words.get(at))) {
      at++;
      return true;
    }
    return false;
  }

  private Optional<Boolean> or() {
    Optional<Boolean> v = and();
    while (next("||", "-o")) {
      Optional<Boolean> other = and();
      v =
          v.equals(Optional.of(true)) || other.equals(Optional.of(true))
              ? Optional.of(true)
              : v.isEmpty() || other.isEmpty() ? Optional.empty() : Optional.of(false);
    }
    return v;
  }

  private Optional<Boolean> and() {
    Optional<Boolean> v = one();
    while (next("&&", "-a")) {
      Optional<Boolean> other = one();
      v =
          v.equals(Optional.of(false)) || other.equals(Optional.of(false))
              ? Optional.of(false)
              : v.isEmpty() || other.isEmpty() ? Optional.empty() : Optional.of(true);
    }
    return v;
  }

  private Optional<Boolean> one() {
    if (next("!")) {
      return one().map(b -> !b);
    }
    if (next("[", "[[", "test", "(")) {
      Optional<Boolean> v = or();
      next("]", "]]", ")");
      return v;
    }
    String a = words.get(at++);
    if (a.equals("true") || a.equals(":")) {
      return Optional.of(true);
    }
    if (a.equals("false")) {
      return Optional.of(false);
    }
    if (a.equals("-z") || a.equals("-n")) {
      boolean closing = at >= words.size() || words.get(at).startsWith("]");
      String b = closing ? "" : words.get(at++);
      // A variable that the script never sets counts as empty here, as in a bare shell.
      boolean empty = b.isEmpty() || ShellScope.onlyUnknown(b);
      return Optional.of(a.equals("-z") == empty);
    }
    if (a.matches("-[a-zA-Z]")) {
      at++;
      return Optional.empty();
    }
    if (at >= words.size() || words.get(at).matches("\\]\\]?|&&|\\|\\||-[oa]")) {
      return ShellScope.isUnknown(a) ? Optional.empty() : Optional.of(!a.isEmpty());
    }
    String op = words.get(at++);
    String b = at < words.size() && !words.get(at).matches("\\]\\]?") ? words.get(at++) : "";
    if (ShellScope.isUnknown(a) || ShellScope.isUnknown(b)) {
      return Optional.empty();
    }
    return switch (op) {
      case "=", "==" -> Optional.of(ShellWords.matches(a, b));
      case "!=" -> Optional.of(!ShellWords.matches(a, b));
      case "-eq" -> Optional.of(number(a) == number(b));
      case "-ne" -> Optional.of(number(a) != number(b));
      case "-gt", ">" -> Optional.of(number(a) > number(b));
      case "-ge" -> Optional.of(number(a) >= number(b));
      case "-lt", "<" -> Optional.of(number(a) < number(b));
      case "-le" -> Optional.of(number(a) <= number(b));
      default -> Optional.empty();
    };
  }

  private static long number(String text) {
    return Long.parseLong(text.trim());
  }
}
