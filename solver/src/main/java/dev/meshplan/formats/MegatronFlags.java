package dev.meshplan.formats;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.config.Names;
import dev.meshplan.config.Section;
import dev.meshplan.config.YamlReader;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Megatron-LM's flags as a script, an args file or an args YAML gives them. */
final class MegatronFlags {
  private static final Map<String, String> KNOWN = known();

  private final Map<String, List<String>> values = new LinkedHashMap<>();
  private final Map<String, String> environment = new LinkedHashMap<>();
  private final List<Finding> findings = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();

  private MegatronFlags() {}

  /**
   * Reads a script, a plain list of arguments, or a YAML with {@code MODEL_ARGS}.
   *
   * @throws InputException when it holds no flags
   */
  static MegatronFlags read(String file, String text, Map<String, String> environment) {
    MegatronFlags f = new MegatronFlags();
    f.environment.putAll(environment);
    if (text.contains("MODEL_ARGS:")) {
      f.yaml(file, text);
    } else {
      f.script(file, text);
    }
    return f;
  }

  private void yaml(String file, String text) {
    Errors errors = new Errors();
    Section top = YamlReader.parse(file, text, errors);
    errors.throwIfAny();
    Section env = top.section("ENV_VARS", false);
    if (env != null) {
      env.keys().forEach(k -> environment.put(k, env.text(k, "")));
    }
    Section args = top.section("MODEL_ARGS", true);
    errors.throwIfAny();
    List<String> words = new ArrayList<>();
    for (String key : args.keys()) {
      List<String> v = args.texts(key);
      if (v.equals(List.of("false"))) {
        continue;
      }
      words.add(key);
      if (!v.equals(List.of("true"))) {
        v.forEach(x -> words.addAll(List.of(x.split("\\s+(?![^(]*\\))"))));
      }
    }
    errors.throwIfAny();
    parse(words);
  }

  private void script(String file, String text) {
    ShellWords shell = ShellWords.read(text, environment);
    List<String> best = List.of();
    for (List<String> command : shell.commands()) {
      int program = -1;
      for (int i = 0; i < command.size(); i++) {
        if (command.get(i).endsWith(".py")) {
          program = i;
          break;
        }
      }
      List<String> words = command.subList(program + 1, command.size());
      if (flags(words) > flags(best)) {
        best = words;
      }
    }
    if (flags(best) == 0) {
      throw new InputException(
          file, "", "", "holds no command with flags: give the launch script, or its arguments.");
    }
    shell.unresolved().forEach(u -> notes.add("not run, so unknown: " + u));
    String connections = shell.variable("CUDA_DEVICE_MAX_CONNECTIONS");
    if (connections != null) {
      environment.put("CUDA_DEVICE_MAX_CONNECTIONS", connections);
    }
    parse(best);
  }

  private static long flags(List<String> words) {
    return words.stream().filter(w -> w.startsWith("--")).count();
  }

  private void parse(List<String> words) {
    int i = 0;
    while (i < words.size()) {
      String word = words.get(i++);
      if (!word.startsWith("--")) {
        continue;
      }
      String flag = word;
      List<String> list = new ArrayList<>();
      int eq = word.indexOf('=');
      if (eq > 0) {
        flag = word.substring(0, eq);
        list.add(word.substring(eq + 1));
      }
      while (i < words.size() && !words.get(i).startsWith("--")) {
        list.add(words.get(i++));
      }
      String takes = KNOWN.get(flag);
      if (takes == null) {
        findings.add(
            Finding.illegal(
                "unknown-flag",
                flag + " is no flag of Megatron-LM." + Names.hint(flag, KNOWN.keySet()),
                "error: unrecognized arguments: " + flag,
                "take it out or correct it"));
      } else if (takes.equals("1") && list.isEmpty()) {
        findings.add(
            Finding.illegal(
                "flag-value",
                flag + " has no value",
                "error: argument " + flag + ": expected one argument",
                "give it one"));
      }
      values.put(flag, List.copyOf(list));
    }
  }

  boolean has(String flag) {
    return values.containsKey(flag);
  }

  String text(String flag, String absent) {
    List<String> v = values.get(flag);
    return v == null || v.isEmpty() ? absent : v.get(0);
  }

  List<String> list(String flag) {
    return values.getOrDefault(flag, List.of());
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

  String environment(String name, String absent) {
    return environment.getOrDefault(name, absent);
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
    values.forEach((k, v) -> map.put(k, String.join(" ", v)));
    return map;
  }

  private static Map<String, String> known() {
    Map<String, String> map = new TreeMap<>();
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(
                MegatronFlags.class.getResourceAsStream("megatron-flags.txt"),
                StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith("--")) {
          String[] parts = line.split(" ");
          map.put(parts[0], parts[1]);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return map;
  }
}
