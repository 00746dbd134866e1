package dev.meshplan.formats;

import dev.meshplan.config.InputError;
import dev.meshplan.config.InputException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The keys of a torchtitan configuration as it is written. */
final class TorchTitanKeys {
  private static final Pattern SECTION = Pattern.compile("^\\[([A-Za-z0-9_.]+)\\]$");
  private static final Pattern KEY = Pattern.compile("^([A-Za-z0-9_]+)\\s*=\\s*(.*)$");

  private TorchTitanKeys() {}

  /** Keys of command-line overrides. */
  static Map<String, String> overrides(String text) {
    Map<String, String> keys = new LinkedHashMap<>();
    for (List<String> command : ShellWords.read(text, Map.of()).commands()) {
      for (int i = 0; i < command.size(); i++) {
        String w = command.get(i);
        if (w.startsWith("--") && w.contains(".")) {
          int eq = w.indexOf('=');
          boolean next = eq < 0 && i + 1 < command.size() && !command.get(i + 1).startsWith("--");
          keys.put(
              eq < 0 ? w.substring(2) : w.substring(2, eq),
              eq >= 0 ? w.substring(eq + 1) : next ? command.get(i + 1) : "true");
        }
      }
    }
    return keys;
  }

  /** Keys of a TOML, with the section in front. */
  static Map<String, String> toml(String file, String text) {
    Map<String, String> keys = new LinkedHashMap<>();
    String section = "";
    String[] lines = text.replace("\r", "").split("\n");
    for (int i = 0; i < lines.length; i++) {
      int number = i + 1;
      String line = bare(lines[i]);
      while (open(line) && i + 1 < lines.length) {
        line += " " + bare(lines[++i]);
      }
      if (line.isEmpty()) {
        continue;
      }
      Matcher s = SECTION.matcher(line);
      Matcher k = KEY.matcher(line);
      if (s.matches()) {
        section = s.group(1) + ".";
      } else if (k.matches()) {
        keys.put(section + k.group(1), k.group(2).replaceAll("^[\"']|[\"']$", ""));
      } else {
        throw new InputException(
            List.of(
                new InputError(file, number, "", line, "is no line of TOML that is understood.")));
      }
    }
    return keys;
  }

  /** The line without a comment, which quotes hide. */
  private static String bare(String line) {
    char quote = 0;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (quote == 0 && c == '#') {
        return line.substring(0, i).trim();
      }
      if (c == '"' || c == '\'') {
        quote = quote == 0 ? c : quote == c ? 0 : quote;
      }
    }
    return line.trim();
  }

  /** Whether a list goes on in the next line. */
  private static boolean open(String line) {
    String value = line.substring(line.indexOf('=') + 1).replaceAll("\"[^\"]*\"|'[^']*'", "");
    return line.indexOf('=') > 0
        && value.chars().filter(c -> c == '[').count()
            > value.chars().filter(c -> c == ']').count();
  }
}
