package dev.meshplan.formats;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Which commands of a script run: follows if, case and for. A branch whose condition can't be told
 * is not taken, and a note says so.
 */
final class ShellBlocks {
  static final Set<String> KEYWORDS =
      Set.of("if", "then", "elif", "else", "fi", "do", "done", "{", "}", "exec", "time", "!");

  private static final class Block {
    final boolean around;
    final List<String> subject;
    boolean taken;
    boolean active;

    /** Variables that decide it and are not set. */
    List<String> missing = List.of();

    Block(boolean around, List<String> subject) {
      this.around = around;
      this.subject = subject;
    }
  }

  private final ShellScope scope;
  private final Deque<Block> stack = new ArrayDeque<>();
  private final List<String> alternatives = new ArrayList<>();
  private List<String> condition;

  /** Whether a test joined by and, or lets the next command run. */
  private boolean let = true;

  ShellBlocks(ShellScope scope) {
    this.scope = scope;
  }

  boolean active() {
    return let && (stack.isEmpty() || stack.peek().active);
  }

  /** Variables for want of which the commands here do not run; empty where they do. */
  List<String> missing() {
    return active()
        ? List.of()
        : stack.stream()
            .filter(b -> !b.active && !b.missing.isEmpty())
            .findFirst()
            .map(b -> b.missing)
            .orElse(List.of());
  }

  /** Whether the command runs; its leading keywords are taken off. */
  boolean runs(List<String> words, String separator) {
    if (pattern(words, separator)) {
      return false;
    }
    while (!words.isEmpty() && keyword(words)) {
      // Each turn has taken one keyword.
    }
    if (condition != null) {
      condition.addAll(words);
      if (separator.equals("&&") || separator.equals("||")) {
        condition.add(separator);
      }
      return false;
    }
    boolean runs = !words.isEmpty() && active();
    let = joined(words, separator);
    return runs;
  }

  private boolean joined(List<String> words, String separator) {
    boolean test = !words.isEmpty() && Set.of("[", "[[", "test").contains(words.get(0));
    boolean and = separator.equals("&&");
    if (!test || (!and && !separator.equals("||"))) {
      return true;
    }
    if (!let) {
      return !and;
    }
    Optional<Boolean> holds = ShellCondition.holds(words);
    if (holds.isEmpty()) {
      scope.note("what depends on " + ShellScope.shown(String.join(" ", words)) + " is not taken");
    }
    return holds.isPresent() && holds.get() == and;
  }

  /** A pattern of a case, which ends with a bracket. */
  private boolean pattern(List<String> words, String separator) {
    Block top = stack.peek();
    if (top == null || top.subject == null || words.size() != 1) {
      return false;
    }
    if (separator.equals("|")) {
      alternatives.addAll(words);
      return true;
    }
    if (!separator.equals(")")) {
      return false;
    }
    alternatives.addAll(words);
    String subject = String.join(" ", top.subject);
    top.active =
        top.around
            && !top.taken
            && !ShellScope.isUnknown(subject)
            && alternatives.stream().anyMatch(p -> ShellWords.matches(subject, p));
    top.taken |= top.active;
    alternatives.clear();
    return true;
  }

  private boolean keyword(List<String> words) {
    switch (words.get(0)) {
      case "if" -> {
        stack.push(new Block(active(), null));
        stack.peek().active = false;
        condition = new ArrayList<>();
      }
      case "elif" -> {
        if (stack.isEmpty()) {
          return false;
        }
        stack.peek().active = false;
        condition = new ArrayList<>();
      }
      case "then" -> then();
      case "else" -> {
        if (stack.isEmpty()) {
          return false;
        }
        Block b = stack.peek();
        b.active = b.around && !b.taken;
      }
      case "fi", "esac" -> stack.poll();
      case "case" -> {
        List<String> subject = words.subList(1, Math.min(2, words.size()));
        Block b = new Block(active(), List.copyOf(subject));
        stack.push(b);
        untold(b, subject);
        words.clear();
        return false;
      }
      case "for" -> {
        loop(words);
        words.clear();
        return false;
      }
      case "while", "until" -> {
        words.clear();
        return false;
      }
      case "do", "done", "{", "}", "exec", "time", "!" -> {}
      default -> {
        return false;
      }
    }
    words.remove(0);
    return true;
  }

  private void then() {
    Block b = stack.peek();
    if (b == null || condition == null) {
      return;
    }
    Optional<Boolean> holds = ShellCondition.holds(condition);
    if (holds.isEmpty() && !b.taken) {
      untold(b, condition);
    }
    b.active = b.around && !b.taken && holds.orElse(false);
    b.taken |= b.active;
    condition = null;
  }

  private void untold(Block b, List<String> words) {
    String text = String.join(" ", words);
    if (b.around && ShellScope.isUnknown(text)) {
      b.missing = ShellScope.names(text);
      scope.note("a branch that depends on " + ShellScope.shown(text) + " is not taken");
    }
  }

  private void loop(List<String> words) {
    if (words.size() > 3 && words.get(2).equals("in") && active()) {
      scope.set(words.get(1), List.of(words.get(3)));
      if (words.size() > 4) {
        scope.note(
            "the loop over " + words.get(1) + " is read with its first value, " + words.get(3));
      }
    }
  }
}
