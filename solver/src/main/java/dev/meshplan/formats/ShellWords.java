package dev.meshplan.formats;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the commands of a shell script as far as launch scripts need it: quotes, comments, line
 * continuation, variables, arrays, defaults, integer arithmetic, here documents, and the branches
 * whose conditions can be told. Nothing is run.
 */
final class ShellWords {
  private static final Pattern ASSIGN = Pattern.compile("(?s)([A-Za-z_][A-Za-z0-9_]*)(\\+?)=(.*)");
  private static final Pattern NAME = Pattern.compile("([A-Za-z_][A-Za-z0-9_]*)(\\+?)=");
  private static final Pattern HEREDOC =
      Pattern.compile("<<-?[ \t]*(['\"\\\\]?)([A-Za-z_]\\w*)['\"]?");
  private static final Pattern REDIRECT =
      Pattern.compile("(?:\\d|&)?(?:>>|>\\||>&|<&|<<<|>|<)[ \t]*");
  private static final Set<String> BEFORE_ASSIGNMENT =
      Set.of("export", "local", "declare", "readonly", "typeset", "env", "-x", "-a", "-g", "-i");

  private final String text;
  private final ShellScope scope;
  private final ShellExpansion expansion;
  private final ShellBlocks blocks;
  private final List<List<String>> commands = new ArrayList<>();
  private final List<String> documents = new ArrayList<>();
  private final List<Matcher> awaited = new ArrayList<>();
  private int at;
  private String separator = "";

  private ShellWords(String text, ShellScope scope) {
    this.text = text.replace("\r", "");
    this.scope = scope;
    this.expansion = new ShellExpansion(this.text, scope);
    this.blocks = new ShellBlocks(scope);
  }

  /** All commands of a script, expanded; the environment wins over defaults in the script. */
  static ShellWords read(String text, Map<String, String> environment) {
    return read(text, new ShellScope(environment));
  }

  /** All commands of a script, in the scope of another. */
  static ShellWords read(String text, ShellScope scope) {
    ShellWords w = new ShellWords(text, scope);
    while (w.at < w.text.length()) {
      List<String> words = w.command();
      if (w.blocks.runs(words, w.separator)) {
        w.commands.add(words);
      }
    }
    return w;
  }

  /** The words of one piece of text, expanded as arguments are. */
  static List<String> words(String text, ShellScope scope) {
    ShellWords w = new ShellWords(text, scope);
    List<String> all = new ArrayList<>();
    while (w.at < w.text.length()) {
      if (Character.isWhitespace(w.text.charAt(w.at))) {
        w.at++;
      } else {
        all.addAll(w.word());
      }
    }
    return all;
  }

  /** Whether a value is matched by a pattern with stars. */
  static boolean matches(String value, String pattern) {
    return value.matches("\\Q" + pattern.replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q") + "\\E");
  }

  List<List<String>> commands() {
    return commands;
  }

  /** Here documents, expanded, in order. */
  List<String> documents() {
    return documents;
  }

  ShellScope scope() {
    return scope;
  }

  private List<String> command() {
    List<String> words = new ArrayList<>();
    boolean assigning = true;
    separator = "\n";
    while (at < text.length()) {
      char c = text.charAt(at);
      Matcher redirect = REDIRECT.matcher(text).region(at, text.length());
      if (text.startsWith("\\\n", at)) {
        at += 2;
      } else if (c == '\n') {
        at++;
        hereDocuments();
        return words;
      } else if (Character.isWhitespace(c)) {
        at++;
      } else if (c == '#') {
        int end = text.indexOf('\n', at);
        at = end < 0 ? text.length() : end;
      } else if (text.startsWith("<<", at) && !text.startsWith("<<<", at)) {
        hereDocumentStart();
      } else if (redirect.lookingAt()) {
        at = redirect.end();
        if (at < text.length() && !Character.isWhitespace(text.charAt(at))) {
          word();
        }
      } else if (";&|()".indexOf(c) >= 0) {
        boolean twice = at + 1 < text.length() && text.charAt(at + 1) == c && c != '(' && c != ')';
        separator = text.substring(at, at + (twice ? 2 : 1));
        at += separator.length();
        return words;
      } else if (!(assigning && array())) {
        List<String> word = word();
        Matcher m = word.isEmpty() ? null : ASSIGN.matcher(word.get(0));
        if (assigning && m != null && m.matches()) {
          scope.hangs(m.group(1), blocks.missing());
          if (blocks.active()) {
            word.set(0, m.group(3));
            String before = m.group(2).isEmpty() ? "" : String.join(" ", scope.get(m.group(1)));
            scope.set(m.group(1), List.of(before + String.join(" ", word)));
          }
        } else {
          boolean first = words.isEmpty();
          assigning &= word.size() == 1 && BEFORE_ASSIGNMENT.contains(word.get(0));
          words.addAll(word);
          boolean subject = words.size() == 3 && words.get(0).equals("case");
          boolean keyword = first && word.size() == 1 && ShellBlocks.KEYWORDS.contains(word.get(0));
          if (subject || keyword) {
            separator = "";
            return words;
          }
        }
      }
    }
    return words;
  }

  private void hereDocumentStart() {
    Matcher m = HEREDOC.matcher(text).region(at, text.length());
    if (m.lookingAt()) {
      at = m.end();
      awaited.add(m);
    } else {
      at += 2;
    }
  }

  /** Takes the documents that the line just ended has announced. */
  private void hereDocuments() {
    for (Matcher m : awaited) {
      StringBuilder body = new StringBuilder();
      while (at < text.length()) {
        int end = text.indexOf('\n', at);
        end = end < 0 ? text.length() : end;
        String line = text.substring(at, end);
        at = Math.min(text.length(), end + 1);
        if (line.trim().equals(m.group(2))) {
          break;
        }
        body.append(line).append('\n');
      }
      documents.add(m.group(1).isEmpty() ? expanded(body.toString()) : body.toString());
    }
    awaited.clear();
  }

  private String expanded(String body) {
    ShellWords w = new ShellWords(body.replace("\"", "\\\"") + "\"", scope);
    StringBuilder now = new StringBuilder();
    w.doubleQuoted(now, new ArrayList<>());
    return now.toString();
  }

  /** Reads {@code NAME=( ... )} if that is what stands here. */
  private boolean array() {
    Matcher m = NAME.matcher(text).region(at, text.length());
    if (!m.lookingAt() || m.end() >= text.length() || text.charAt(m.end()) != '(') {
      return false;
    }
    at = m.end() + 1;
    List<String> list = new ArrayList<>(m.group(2).isEmpty() ? List.of() : scope.get(m.group(1)));
    while (at < text.length() && text.charAt(at) != ')') {
      char c = text.charAt(at);
      if (text.startsWith("\\\n", at)) {
        at += 2;
      } else if (Character.isWhitespace(c)) {
        at++;
      } else if (c == '#') {
        int end = text.indexOf('\n', at);
        at = end < 0 ? text.length() : end;
      } else {
        list.addAll(word());
      }
    }
    at++;
    if (blocks.active()) {
      scope.set(m.group(1), list);
    }
    return true;
  }

  /** One word; unquoted values split into several. */
  private List<String> word() {
    List<String> done = new ArrayList<>();
    StringBuilder now = new StringBuilder();
    boolean quoted = false;
    int start = at;
    while (at < text.length()) {
      char c = text.charAt(at);
      if (Character.isWhitespace(c) || (";&|()<>".indexOf(c) >= 0 && at > start)) {
        break;
      }
      int mark = ShellScope.markEnd(text, at);
      if (mark > 0) {
        now.append(text, at, mark);
        at = mark;
      } else if (c == '\'') {
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
        if (text.charAt(at + 1) == '\n') {
          break;
        }
        now.append(text.charAt(at + 1));
        at += 2;
      } else if (c == '$' || c == '`') {
        List<String> values = expansion.at(at);
        at = Math.min(text.length(), expansion.end);
        List<String> parts = new ArrayList<>();
        values.forEach(v -> parts.addAll(List.of(v.trim().split("\\s+"))));
        append(now, done, parts);
      } else {
        now.append(c);
        at++;
      }
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
        char escaped = text.charAt(at + 1);
        if ("$`\"\\\n".indexOf(escaped) < 0) {
          now.append(c);
        }
        if (escaped != '\n') {
          now.append(escaped);
        }
        at += 2;
      } else if (c == '$' || c == '`') {
        int from = at;
        List<String> values = expansion.at(at);
        at = Math.min(text.length(), expansion.end);
        boolean each = text.substring(from, at).endsWith("[@]}") || text.startsWith("$@", from);
        append(now, done, each ? values : List.of(String.join(" ", values)));
      } else {
        now.append(c);
        at++;
      }
    }
    at++;
  }

  private static void append(StringBuilder now, List<String> done, List<String> parts) {
    for (int i = 0; i < parts.size(); i++) {
      if (i > 0) {
        done.add(now.toString());
        now.setLength(0);
      }
      now.append(parts.get(i));
    }
  }
}
