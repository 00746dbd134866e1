package dev.meshplan.formats;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputError;
import dev.meshplan.config.InputException;
import dev.meshplan.config.Section;
import dev.meshplan.config.YamlReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The flags of a Megatron-like program as a script, an args file or an args YAML gives them. A flag
 * that is asked for and whose value hangs on a variable that the file does not set is wrong input:
 * nothing is put in its place.
 */
final class MegatronFlags {
  private final String file;
  private final Map<String, List<String>> values = new LinkedHashMap<>();
  private final Map<String, String> unknown = new TreeMap<>();
  private final List<Finding> findings = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private final List<String> documents = new ArrayList<>();
  private ShellScope scope;
  private String program = "";
  private FlagDialect dialect = FlagDialect.MEGATRON;
  private long processes;

  private MegatronFlags(String file, Map<String, String> given) {
    this.file = file;
    this.scope = new ShellScope(given);
  }

  /**
   * Reads a script, a plain list of arguments, or a YAML with {@code MODEL_ARGS}.
   *
   * @param given values of variables that win over the file's own
   * @throws InputException when it holds no flags
   */
  static MegatronFlags read(String file, String text, Map<String, String> given) {
    MegatronFlags f = new MegatronFlags(file, given);
    if (text.contains("MODEL_ARGS:")) {
      f.yaml(text);
    } else {
      f.script(text, given);
    }
    return f;
  }

  /** Flags that another reader has made, which are not judged. */
  static MegatronFlags of(String file, List<String> words, List<String> notes) {
    MegatronFlags f = new MegatronFlags(file, Map.of());
    f.notes.addAll(notes);
    f.collect(words);
    return f;
  }

  private void yaml(String text) {
    Errors errors = new Errors();
    Section top = YamlReader.parse(file, text, errors);
    errors.throwIfAny();
    Section env = top.section("ENV_VARS", false);
    if (env != null) {
      env.keys().forEach(k -> scope.set(k, ShellWords.words(env.text(k, ""), scope)));
    }
    Section args = top.section("MODEL_ARGS", true);
    errors.throwIfAny();
    List<String> words = new ArrayList<>();
    for (String key : args.keys()) {
      List<String> v = args.has(key) ? args.texts(key) : List.of();
      if (v.equals(List.of("false"))) {
        continue;
      }
      words.add(key);
      if (!v.equals(List.of("true"))) {
        v.forEach(x -> words.addAll(items(x)));
      }
    }
    errors.throwIfAny();
    parse(words);
  }

  /** Words of a YAML value: variables expanded, a list in brackets taken apart. */
  private List<String> items(String text) {
    String t = text.matches("\\[[A-Za-z_, ]+\\]") ? text.replaceAll("[\\[\\],]", " ").trim() : text;
    return t.matches(".*[$`].*")
        ? ShellWords.words(t, scope)
        : List.of(t.split("\\s+(?![^(]*\\))"));
  }

  private void script(String text, Map<String, String> given) {
    LaunchScript script = LaunchScript.read(file, text, given);
    scope = script.scope();
    program = script.program();
    processes = script.processes();
    documents.addAll(script.documents());
    notes.addAll(script.notes());
    parse(script.words());
    List<String> lost = script.lost().stream().filter(w -> w.startsWith("--")).toList();
    if (!lost.isEmpty()) {
      findings.add(
          Finding.unchecked(
              "lost-flags",
              String.join(" ", lost)
                  + " stand on a line of their own and reach no program: the line before ends the"
                  + " command, by a missing backslash or a comment",
              "end every line but the last with a backslash, and move comments out"));
    }
  }

  private void parse(List<String> words) {
    collect(words);
    dialect = FlagDialect.of(program, values);
    if (dialect == FlagDialect.SWIFT) {
      FlagTranslation.swift(values);
    } else {
      new FlagJudge(dialect, program, findings, notes).judge(values);
      if (dialect == FlagDialect.MEGATRON_DEEPSPEED) {
        FlagTranslation.deepSpeed(values);
      }
    }
  }

  private void collect(List<String> words) {
    int i = 0;
    while (i < words.size()) {
      String word = words.get(i++);
      if (!word.startsWith("--")) {
        if (ShellScope.onlyUnknown(word)) {
          unseen(word);
        }
        continue;
      }
      int eq = word.indexOf('=');
      List<String> list = new ArrayList<>();
      if (eq > 0) {
        list.add(word.substring(eq + 1));
      }
      while (i < words.size() && !words.get(i).startsWith("--")) {
        list.add(words.get(i++));
      }
      values.put(eq > 0 ? word.substring(0, eq) : word, list);
    }
  }

  private void unseen(String word) {
    notes.add("what " + ShellScope.shown(word) + " adds to the command is not seen");
  }

  boolean has(String flag) {
    return values.containsKey(flag);
  }

  String text(String flag, String absent) {
    List<String> v = values.get(flag);
    if (v == null || v.isEmpty()) {
      return absent;
    }
    if (ShellScope.isUnknown(v.get(0))) {
      unknown.put(flag, v.get(0));
      return absent;
    }
    return v.get(0);
  }

  List<String> list(String flag) {
    List<String> v = values.getOrDefault(flag, List.of());
    if (v.stream().anyMatch(ShellScope::isUnknown)) {
      unknown.put(flag, String.join(" ", v));
      return List.of();
    }
    return v;
  }

  int integer(String flag, int absent) {
    String s = text(flag, null);
    if (s == null) {
      return absent;
    }
    try {
      return Math.toIntExact(Long.parseLong(s));
    } catch (NumberFormatException | ArithmeticException e) {
      Finding f =
          Finding.illegal(
              "flag-value",
              flag + " = " + s + " is no whole number",
              "error: argument " + flag + ": invalid int value: '" + s + "'",
              "give a number");
      if (!findings.contains(f)) {
        findings.add(f);
      }
      return absent;
    }
  }

  double number(String flag, double absent) {
    try {
      return Double.parseDouble(text(flag, Double.toString(absent)));
    } catch (NumberFormatException e) {
      return absent;
    }
  }

  /**
   * Refuses what was asked for and can't be told.
   *
   * @throws InputException naming every flag and its variables
   */
  void throwIfUnknown() {
    if (unknown.isEmpty()) {
      return;
    }
    List<InputError> errors = new ArrayList<>();
    unknown.forEach(
        (flag, value) -> {
          List<String> names = ShellScope.names(value);
          List<String> others =
              names.stream()
                  .flatMap(n -> scope.needed(n).stream())
                  .filter(n -> !names.contains(n) && plain(n))
                  .distinct()
                  .toList();
          String give = "--set " + String.join("=VALUE --set ", names) + "=VALUE";
          errors.add(
              new InputError(
                  file,
                  0,
                  flag,
                  ShellScope.shown(value),
                  !names.stream().allMatch(MegatronFlags::plain)
                      ? "is not run here: write the value into the file."
                      : others.isEmpty()
                          ? "is not set in the file: give it with " + give + "."
                          : "is set in a branch that is not taken: give "
                              + give
                              + ", or --set "
                              + String.join("=VALUE --set ", others)
                              + "=VALUE."));
        });
    throw new InputException(errors);
  }

  private static boolean plain(String name) {
    return name.matches("[A-Za-z0-9_]+");
  }

  String environment(String name, String absent) {
    String v = scope.text(name);
    return v == null || ShellScope.isUnknown(v) ? absent : v;
  }

  /** What the file calls its model, where it gives no shape; empty = nothing. */
  String modelName() {
    String name = String.join(" ", values.getOrDefault("--model", List.of()));
    return !name.isEmpty() || dialect != FlagDialect.SWIFT
        ? name
        : String.join(" ", values.getOrDefault("--load", List.of()));
  }

  FlagDialect dialect() {
    return dialect;
  }

  /** Configurations that the script writes as here documents. */
  List<String> documents() {
    return documents;
  }

  /** Processes that the launcher starts; 0 = not said. */
  long processes() {
    return processes;
  }

  List<Finding> findings() {
    return findings;
  }

  List<String> notes() {
    return notes;
  }

  /** Every flag with its values as one text. */
  Map<String, String> all() {
    Map<String, String> map = new LinkedHashMap<>();
    values.forEach((k, v) -> map.put(k, ShellScope.shown(String.join(" ", v))));
    return map;
  }
}
