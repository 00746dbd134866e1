package dev.meshplan.formats;

import dev.meshplan.config.InputException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The training program that a launch script starts, with its arguments.
 *
 * @param program as the script names it; empty where there are arguments alone
 * @param words its arguments, expanded
 * @param scope variables of the script
 * @param lost flags on lines of their own, which reach no program
 * @param documents here documents, such as a configuration that the script writes
 * @param processes that the launcher starts in all; 0 = not said
 * @param notes what was not understood
 */
record LaunchScript(
    String program,
    List<String> words,
    ShellScope scope,
    List<String> lost,
    List<String> documents,
    long processes,
    List<String> notes) {
  private static final Set<String> SERVERS =
      Set.of("trtllm-serve", "sglang.launch_server", "vllm.entrypoints.openai.api_server");
  private static final List<String> PER_NODE =
      List.of("--nproc_per_node", "--nproc-per-node", "--num_gpus", "--num-gpus");
  private static final List<String> NODES =
      List.of("--nnodes", "--num_nodes", "--num-nodes", "--num_machines");

  /** One command, cut at its program. */
  private record Start(List<String> before, String program, List<String> words) {
    long flags() {
      return words.stream().filter(w -> w.startsWith("--")).count();
    }
  }

  /**
   * Finds the program with the most flags.
   *
   * @param given values of variables that win over the script's own
   * @throws InputException when nothing in the text has flags, or a server is started
   */
  static LaunchScript read(String file, String text, Map<String, String> given) {
    ShellWords shell = ShellWords.read(text, new ShellScope(given));
    ShellScope scope = shell.scope();
    List<Start> starts = new ArrayList<>();
    List<String> lost = new ArrayList<>();
    for (List<String> command : commands(shell)) {
      serving(file, command);
      if (command.get(0).startsWith("--")) {
        lost.addAll(command);
      } else {
        starts.add(start(command));
      }
      // A quoted command, as eval, bash -c and srun take it.
      command.stream()
          .filter(w -> w.matches("(?s).*\\s.*--.*"))
          .flatMap(w -> ShellWords.read(w, scope).commands().stream())
          .forEach(c -> starts.add(start(c)));
    }
    List<String> notes = new ArrayList<>(scope.notes());
    Start best = new Start(List.of(), "", List.of());
    for (Start s : starts) {
      best = s.flags() > best.flags() ? s : best;
    }
    if (best.flags() == 0 || (best.program().isEmpty() && flags(lost) > best.flags())) {
      best = new Start(List.of(), "", lost);
      lost = List.of();
    }
    if (best.flags() == 0) {
      best = new Start(List.of(), "", fromVariables(scope, notes));
    }
    if (best.flags() == 0) {
      throw new InputException(
          file, "", "", "holds no command with flags: give the launch script, or its arguments.");
    }
    long programs =
        starts.stream().filter(s -> !s.program().isEmpty() && s.flags() > 2).distinct().count();
    if (programs > 1) {
      notes.add(programs + " programs are started; the one with the most flags is read");
    }
    return new LaunchScript(
        best.program(),
        best.words(),
        scope,
        List.copyOf(lost),
        shell.documents(),
        number(best.before(), scope, PER_NODE, "NPROC_PER_NODE")
            * Math.max(1, number(best.before(), scope, NODES, "NNODES")),
        List.copyOf(notes));
  }

  /** Commands that start something, those of eval as they then read. */
  private static List<List<String>> commands(ShellWords shell) {
    List<List<String>> all = new ArrayList<>();
    for (List<String> c : shell.commands()) {
      if (c.get(0).equals("eval") && c.size() > 1) {
        String line = String.join(" ", c.subList(1, c.size()));
        all.addAll(ShellWords.read(line, shell.scope()).commands());
      } else if (!Set.of("echo", "printf", "cat", "tee").contains(c.get(0))) {
        all.add(c);
      }
    }
    return all;
  }

  private static long flags(List<String> words) {
    return words.stream().filter(w -> w.startsWith("--")).count();
  }

  private static void serving(String file, List<String> command) {
    boolean vllm = command.size() > 1 && command.get(0).endsWith("vllm");
    if ((vllm && command.get(1).equals("serve")) || command.stream().anyMatch(SERVERS::contains)) {
      throw new InputException(
          file,
          "",
          String.join(" ", command.subList(0, Math.min(3, command.size()))),
          "starts a server. meshplan judges training; whether degrees divide the model is told by"
              + " meshplan estimate with the same tp and pp.");
    }
  }

  /** Cuts a command at the file or module that is run. */
  private static Start start(List<String> command) {
    int at = -1;
    for (int i = 0; i < command.size() && at < 0; i++) {
      String w = command.get(i);
      boolean module =
          i > 0
              && command.get(i - 1).equals("-m")
              && !w.startsWith("torch.distributed")
              && !w.startsWith("accelerate.");
      boolean swift =
          i > 0
              && command.get(i - 1).matches("megatron|swift|llamafactory-cli")
              && w.matches("sft|pt|rlhf|train");
      at = (w.endsWith(".py") && !w.startsWith("--")) || module || swift ? i : -1;
    }
    String program = at < 0 ? "" : command.get(at);
    if (at > 0 && command.get(at - 1).matches("megatron|swift|llamafactory-cli")) {
      program = command.get(at - 1) + " " + program;
    }
    return new Start(
        command.subList(0, Math.max(0, at)), program, command.subList(at + 1, command.size()));
  }

  /** Flags that only variables hold, as files of settings have them. */
  private static List<String> fromVariables(ShellScope scope, List<String> notes) {
    List<String> words = new ArrayList<>();
    List<String> used = new ArrayList<>();
    for (String name : scope.names()) {
      List<String> all = new ArrayList<>();
      scope.get(name).forEach(v -> all.addAll(List.of(v.trim().split("\\s+"))));
      if (!all.isEmpty() && all.get(0).startsWith("--") && !words.containsAll(all)) {
        words.addAll(all);
        used.add(name);
      }
    }
    if (!used.isEmpty()) {
      notes.add("no program is started; the flags are those in " + String.join(", ", used));
    }
    return words;
  }

  private static long number(
      List<String> before, ShellScope scope, List<String> flags, String variable) {
    for (int i = 0; i < before.size(); i++) {
      String w = before.get(i);
      int eq = w.indexOf('=');
      if (flags.contains(eq < 0 ? w : w.substring(0, eq))) {
        String v = eq >= 0 ? w.substring(eq + 1) : i + 1 < before.size() ? before.get(i + 1) : "";
        return v.matches("\\d{1,6}") ? Long.parseLong(v) : 0;
      }
    }
    String v = scope.text(variable);
    return v != null && v.matches("\\d{1,6}") ? Long.parseLong(v) : 0;
  }
}
