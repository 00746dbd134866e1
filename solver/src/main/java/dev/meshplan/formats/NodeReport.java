package dev.meshplan.formats;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Nodes as schedulers and launchers print them, as a plain list of hosts.
 *
 * @param kind what the text is
 * @param hosts one host list a line; the text itself where it is a plain list
 * @param faults nodes that are left out, and why
 */
record NodeReport(String kind, String hosts, List<String> faults) {
  private static final Pattern NODE =
      Pattern.compile("(?ms)^\\s*NodeName=(\\S+)(.*?)(?=^\\s*NodeName=|\\z)");
  private static final Pattern STATE = Pattern.compile("\\bState=(\\S+)");
  private static final Pattern GPUS =
      Pattern.compile("\\bGres=(?:\\S*,)?gpu(?::[^:,\\s(]+)?:(\\d{1,4})");
  private static final Pattern SLOTS = Pattern.compile("(\\S+)\\s+slots\\s*=\\s*(\\d{1,4}).*");
  private static final Pattern OUT =
      Pattern.compile(
          "(?i).*(down|drain|fail|maint|unk|respond|\\*|boot|power|reserved|planned).*");

  /**
   * Reads a text.
   *
   * @param gpusPerNode that a whole node has; nodes that offer fewer are left out
   */
  static NodeReport of(String text, int gpusPerNode) {
    String plain = text.replace("\r", "");
    List<String> lines = Arrays.stream(plain.split("\n")).filter(l -> !l.isBlank()).toList();
    if (plain.contains("NodeName=")) {
      return nodes(plain, gpusPerNode);
    }
    if (!lines.isEmpty() && lines.get(0).matches(".*\\bSTATE\\b.*\\bNODELIST\\b.*")) {
      return partitions(lines);
    }
    if (!lines.isEmpty() && lines.stream().allMatch(l -> SLOTS.matcher(bare(l)).matches())) {
      return slots(lines, gpusPerNode);
    }
    return new NodeReport("node list", text, List.of());
  }

  private static String bare(String line) {
    return line.replaceFirst("#.*", "").trim();
  }

  private static NodeReport nodes(String text, int gpusPerNode) {
    List<String> hosts = new ArrayList<>();
    List<String> faults = new ArrayList<>();
    Matcher m = NODE.matcher(text);
    while (m.find()) {
      Matcher state = STATE.matcher(m.group(2));
      Matcher gpus = GPUS.matcher(m.group(2));
      int has = gpus.find() ? Integer.parseInt(gpus.group(1)) : 0;
      if (state.find() && OUT.matcher(state.group(1)).matches()) {
        faults.add(m.group(1) + " is " + state.group(1) + ": left out");
      } else if (has != gpusPerNode) {
        faults.add(m.group(1) + " has " + has + " GPUs, not " + gpusPerNode + ": left out");
      } else {
        hosts.add(m.group(1));
      }
    }
    return new NodeReport("scontrol show node", String.join("\n", hosts), faults);
  }

  private static NodeReport partitions(List<String> lines) {
    List<String> head = List.of(lines.get(0).trim().split("\\s+"));
    int state = head.indexOf("STATE");
    int list = head.indexOf("NODELIST");
    List<String> hosts = new ArrayList<>();
    List<String> faults = new ArrayList<>();
    for (String line : lines.subList(1, lines.size())) {
      String[] words = line.trim().split("\\s+");
      if (words.length <= Math.max(state, list)) {
        faults.add("not understood: " + line.trim());
      } else if (OUT.matcher(words[state]).matches()) {
        faults.add(words[list] + " is " + words[state] + ": left out");
      } else {
        hosts.add(words[list]);
      }
    }
    return new NodeReport("sinfo", String.join("\n", hosts), faults);
  }

  private static NodeReport slots(List<String> lines, int gpusPerNode) {
    List<String> hosts = new ArrayList<>();
    List<String> faults = new ArrayList<>();
    for (String line : lines) {
      Matcher m = SLOTS.matcher(bare(line));
      if (m.matches() && Integer.parseInt(m.group(2)) == gpusPerNode) {
        hosts.add(m.group(1));
      } else if (m.matches()) {
        faults.add(
            m.group(1) + " offers " + m.group(2) + " slots, not " + gpusPerNode + ": left out");
      }
    }
    return new NodeReport("hostfile", String.join("\n", hosts), faults);
  }
}
