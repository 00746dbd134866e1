package dev.meshplan.formats;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the words of shell commands as far as launch scripts need it: quotes, comments, line
 * continuation, variables, arrays, defaults and integer arithmetic. Nothing is run.
 */
final class ShellWords {
  private static final Pattern ASSIGN = Pattern.compile("(?s)([A-Za-z_][A-Za-z0-9_]*)(\\+?)=(.*)");

  private final String text;
  private int at;
  private final Map<String, List<String>> variables = new LinkedHashMap<>();
  private final List<List<String>> commands = new ArrayList<>();
  private final List<String> unresolved = new ArrayList<>();

  private ShellWords(String text, Map<String, String> environment) {
    this.text = text.replace("\r", "").replace("\\\n", " ");
    environment.forEach((k, v) -> variables.put(k, List.of(v)));
  }

  /** All commands of a script, expanded. */
  static ShellWords read(String text, Map<String, String> environment) {
    ShellWords w = new ShellWords(text, environment);
    while (w.at < w.text.length()) {
      w.command();
    }
    return w;
  }

  List<List<String>> commands() {
    return commands;
  }

  /** What could not be resolved, such as command substitutions. */
  List<String> unresolved() {
    return unresolved;
  }

  /** The last value of a variable, or null. */
  String variable(String name) {
    List<String> v = variables.get(name);
    return v == null || v.isEmpty() ? null : v.get(0);
  }

  private void command() {
    List<String> words = new ArrayList<>();
    boolean assigning = true;
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == '\n' || c == ';' || c == '&' || c == '|' || c == ')' || c == '(') {
        at++;
        break;
      }
      if (Character.isWhitespace(c)) {
        at++;
      } else if (c == '#') {
        while (at < text.length() && text.charAt(at) != '\n') {
          at++;
        }
      } else if (c == '<' || c == '>') {
        at++;
      } else {
        Matcher array = Pattern.compile("([A-Za-z_][A-Za-z0-9_]*)(\\+?)=\\(").matcher(text);
        if (assigning && array.find(at) && array.start() == at) {
          at = array.end();
          List<String> list = array();
          List<String> before = variables.getOrDefault(array.group(1), List.of());
          List<String> all = new ArrayList<>(array.group(2).isEmpty() ? List.of() : before);
          all.addAll(list);
          variables.put(array.group(1), all);
          continue;
        }
        List<String> word = word();
        Matcher m = word.size() == 1 ? ASSIGN.matcher(word.get(0)) : null;
        if (assigning && m != null && m.matches() && !word.get(0).startsWith("-")) {
          String before = m.group(2).isEmpty() ? "" : String.join(" ", get(m.group(1)));
          variables.put(m.group(1), List.of(before + m.group(3)));
        } else {
          boolean keyword =
              word.size() == 1
                  && List.of("export", "then", "do", "else", "local", "declare", "readonly", "exec")
                      .contains(word.get(0));
          assigning &= keyword;
          words.addAll(word);
        }
      }
    }
    if (!words.isEmpty()) {
      commands.add(words);
    }
  }

  private List<String> array() {
    List<String> list = new ArrayList<>();
    while (at < text.length() && text.charAt(at) != ')') {
      char c = text.charAt(at);
      if (Character.isWhitespace(c)) {
        at++;
      } else if (c == '#') {
        while (at < text.length() && text.charAt(at) != '\n') {
          at++;
        }
      } else {
        list.addAll(word());
      }
    }
    at++;
    return list;
  }

  /** One word; unquoted lists split into several. */
  private List<String> word() {
    List<String> done = new ArrayList<>();
    StringBuilder now = new StringBuilder();
    boolean quoted = false;
    int start = at;
    while (at < text.length()) {
      char c = text.charAt(at);
      if (Character.isWhitespace(c)
          || c == ';'
          || c == '&'
          || c == '|'
          || c == ')'
          || c == '<'
          || c == '>'
          || c == '(') {
        break;
      }
      if (c == '\'') {
        int end = text.indexOf('\'', at + 1);
        end = end < 0 ? text.length() : end;
        now.append(text, at + 1, end);
        at = end + 1;
        quoted = true;
      } else if (c == '"') {
        at++;
        quoted = true;
        doubleQuoted(now, done);
      } else if (c == '\\' && at + 1 < text.length()) {
        now.append(text.charAt(at + 1));
        at += 2;
      } else if (c == '$') {
        append(now, done, expansion(), false);
      } else {
        now.append(c);
        at++;
      }
    }
    if (at == start) {
      at++;
    }
    if (now.length() > 0 || (quoted && done.isEmpty())) {
      done.add(now.toString());
    }
    return done;
  }

  private void doubleQuoted(StringBuilder now, List<String> done) {
    while (at < text.length() && text.charAt(at) != '"') {
      char c = text.charAt(at);
      if (c == '\\' && at + 1 < text.length()) {
        now.append(text.charAt(at + 1));
        at += 2;
      } else if (c == '$') {
        boolean whole = text.startsWith("[@]}", Math.max(0, text.indexOf('}', at) - 3));
        append(now, done, expansion(), !whole);
      } else {
        now.append(c);
        at++;
      }
    }
    at++;
  }

  private static void append(
      StringBuilder now, List<String> done, List<String> values, boolean together) {
    List<String> parts = values;
    if (together) {
      parts = List.of(String.join(" ", values));
    } else if (values.size() == 1) {
      parts = List.of(values.get(0).trim().split("\\s+"));
    }
    for (int i = 0; i < parts.size(); i++) {
      if (i > 0) {
        done.add(now.toString());
        now.setLength(0);
      }
      now.append(parts.get(i));
    }
  }

  private List<String> get(String name) {
    return variables.getOrDefault(name, List.of());
  }

  /** The value of what starts with a dollar sign here. */
  private List<String> expansion() {
    int start = at++;
    if (at >= text.length()) {
      return List.of("$");
    }
    if (text.startsWith("((", at)) {
      int end = text.indexOf("))", at);
      end = end < 0 ? text.length() : end;
      String inner = text.substring(at + 2, Math.max(at + 2, end));
      at = Math.min(text.length(), end + 2);
      return List.of(ShellArithmetic.value(inner, this::variable));
    }
    if (text.charAt(at) == '(') {
      int depth = 0;
      do {
        depth += text.charAt(at) == '(' ? 1 : text.charAt(at) == ')' ? -1 : 0;
        at++;
      } while (at < text.length() && depth > 0);
      unresolved.add(text.substring(start, Math.min(at, start + 60)));
      return List.of("");
    }
    if (text.charAt(at) == '{') {
      int end = text.indexOf('}', at);
      end = end < 0 ? text.length() - 1 : end;
      String inner = text.substring(at + 1, end);
      at = end + 1;
      return braces(inner);
    }
    Matcher m = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?]").matcher(text);
    if (m.find(at) && m.start() == at) {
      at = m.end();
      return variables.containsKey(m.group()) ? get(m.group()) : List.of("");
    }
    return List.of("$");
  }

  private List<String> braces(String inner) {
    Matcher m =
        Pattern.compile("(?s)([A-Za-z_][A-Za-z0-9_]*)(\\[[@*]\\])?(:?[-=?+])?(.*)").matcher(inner);
    if (!m.matches()) {
      return List.of("");
    }
    List<String> value = get(m.group(1));
    boolean set = variables.containsKey(m.group(1)) && !String.join("", value).isEmpty();
    if (m.group(3) == null || m.group(3).endsWith("?")) {
      return value.isEmpty() && m.group(2) == null ? List.of("") : value;
    }
    if (m.group(3).endsWith("+")) {
      return set ? List.of(m.group(4)) : List.of("");
    }
    return set ? value : List.of(m.group(4));
  }
}
