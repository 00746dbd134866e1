package dev.meshplan.formats;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Variables of a shell script as it is read. A variable that the script does not set may be set
 * where it is run, so it expands to a mark that names it, not to nothing.
 */
final class ShellScope {
  private static final char OPEN = '\uE000';
  private static final char CLOSE = '\uE001';
  private static final Pattern MARK = Pattern.compile(OPEN + "([^" + CLOSE + "]*)" + CLOSE);

  private final Map<String, List<String>> variables = new LinkedHashMap<>();
  private final Set<String> given;
  private final Map<String, List<String>> hanging = new LinkedHashMap<>();
  private final Set<String> notes = new LinkedHashSet<>();

  /**
   * A scope to read in.
   *
   * @param given values of variables that win over what the script sets
   */
  ShellScope(Map<String, String> given) {
    this.given = Set.copyOf(given.keySet());
    given.forEach((k, v) -> variables.put(k, List.of(v)));
  }

  /** Text that stands for a value nobody knows; it holds no space, so it stays one word. */
  static String unknown(String name) {
    return OPEN + name.replaceAll("\\s+", "\u00A0") + CLOSE;
  }

  /** Just after the mark that starts here; -1 when none does. */
  static int markEnd(String text, int at) {
    return text.charAt(at) == OPEN ? Math.max(at, text.indexOf(CLOSE, at)) + 1 : -1;
  }

  static boolean isUnknown(String text) {
    return text.indexOf(OPEN) >= 0;
  }

  /** Whether the text is nothing but unknown values. */
  static boolean onlyUnknown(String text) {
    return isUnknown(text) && MARK.matcher(text).replaceAll("").isBlank();
  }

  /** Names of the unknown values in a text. */
  static List<String> names(String text) {
    return MARK.matcher(text)
        .results()
        .map(m -> m.group(1).replace('\u00A0', ' '))
        .distinct()
        .toList();
  }

  /** The text as the script has it, with {@code $NAME} for what is not known. */
  static String shown(String text) {
    return MARK.matcher(text)
        .replaceAll(
            m ->
                Matcher.quoteReplacement(
                    (m.group(1).startsWith("$") ? "" : "$") + m.group(1).replace('\u00A0', ' ')));
  }

  boolean has(String name) {
    return variables.containsKey(name);
  }

  List<String> get(String name) {
    return variables.getOrDefault(name, List.of());
  }

  /** The first value, or null. */
  String text(String name) {
    List<String> v = get(name);
    return v.isEmpty() ? null : v.get(0);
  }

  void set(String name, List<String> values) {
    if (!given.contains(name)) {
      variables.put(name, List.copyOf(values));
    }
  }

  /** Remembers that a branch which is not taken, for want of others, would set a variable. */
  void hangs(String name, List<String> on) {
    if (!on.isEmpty()) {
      hanging.putIfAbsent(name, on);
    }
  }

  /** The variables that have to be known for this one: others where a branch sets it. */
  List<String> needed(String name) {
    Set<String> all = new LinkedHashSet<>();
    for (String n : hanging.getOrDefault(name, List.of(name))) {
      all.addAll(n.equals(name) || !hanging.containsKey(n) ? List.of(n) : hanging.get(n));
    }
    return List.copyOf(all);
  }

  Set<String> names() {
    return variables.keySet();
  }

  void note(String text) {
    notes.add(text);
  }

  List<String> notes() {
    return List.copyOf(notes);
  }
}
