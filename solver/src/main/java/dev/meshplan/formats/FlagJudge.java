package dev.meshplan.formats;

import dev.meshplan.config.Names;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What the parser of a program says of its command line: flags it lacks, values too few or many.
 */
final class FlagJudge {
  /** More unknown flags than typing errors explain: another program of that name. */
  private static final int A_FORK = 4;

  private final List<String> empty = new ArrayList<>();
  private final FlagDialect dialect;
  private final String program;
  private final List<Finding> findings;
  private final List<String> notes;

  FlagJudge(FlagDialect dialect, String program, List<Finding> findings, List<String> notes) {
    this.dialect = dialect;
    this.program = program;
    this.findings = findings;
    this.notes = notes;
  }

  /** Judges all flags, and takes off values that a flag does not take. */
  void judge(Map<String, List<String>> values) {
    List<String> older = new ArrayList<>();
    List<String> strange = new ArrayList<>();
    boolean strict = FlagDialect.strict(program) && unknown(values) <= A_FORK;
    for (Map.Entry<String, List<String>> e : values.entrySet()) {
      String flag = e.getKey();
      String takes = dialect.takes(flag);
      if (takes != null) {
        e.setValue(List.copyOf(counted(flag, takes, e.getValue())));
      } else if (dialect == FlagDialect.MEGATRON
          && FlagDialect.MEGATRON_DEEPSPEED.takes(flag) != null) {
        older.add(flag);
      } else if (strict && !near(flag).isEmpty()) {
        add("unknown-flag", flag + " is no flag of " + dialect.label + "." + near(flag), flag);
      } else {
        strange.add(flag);
      }
    }
    if (!empty.isEmpty()) {
      findings.add(
          Finding.illegal(
              "flag-value",
              String.join(", ", empty) + (empty.size() == 1 ? " has" : " have") + " no value",
              "error: argument " + empty.get(0) + ": expected one argument",
              "give it one"));
    }
    if (!older.isEmpty()) {
      add(
          "older-flags",
          String.join(", ", older)
              + (older.size() == 1 ? " is a flag" : " are flags")
              + " of older releases, which "
              + dialect.label
              + " "
              + dialect.version
              + " no longer has",
          String.join(" ", older));
    }
    if (!strange.isEmpty() && strict) {
      add(
          "unknown-flag",
          String.join(", ", strange)
              + (strange.size() == 1 ? " is no flag" : " are no flags")
              + " of "
              + dialect.label
              + " "
              + dialect.version,
          String.join(" ", strange));
    } else if (!strange.isEmpty()) {
      notes.add(
          String.join(", ", strange)
              + ": taken as flags of "
              + (FlagDialect.strict(program)
                  ? "a fork or another version"
                  : program.replaceAll(".*/", "") + " itself")
              + ", not judged");
    }
  }

  private long unknown(Map<String, List<String>> values) {
    return values.keySet().stream()
        .filter(f -> dialect.takes(f) == null && FlagDialect.MEGATRON_DEEPSPEED.takes(f) == null)
        .count();
  }

  private String near(String flag) {
    return Names.hint(flag, dialect.flags());
  }

  private void add(String id, String sentence, String flags) {
    findings.add(
        Finding.illegal(
            id, sentence, "error: unrecognized arguments: " + flags, "take it out or correct it"));
  }

  private List<String> counted(String flag, String takes, List<String> given) {
    List<String> list = new ArrayList<>(given);
    int most = takes.matches("\\d") ? Integer.parseInt(takes) : Integer.MAX_VALUE;
    if (list.size() > most) {
      List<String> beyond = list.subList(most, list.size());
      beyond.stream()
          .filter(ShellScope::onlyUnknown)
          .forEach(
              w -> notes.add("what " + ShellScope.shown(w) + " adds to the command is not seen"));
      String stray =
          String.join(
              " ",
              beyond.stream()
                  .filter(w -> !w.isBlank() && !ShellScope.onlyUnknown(w))
                  .map(ShellScope::shown)
                  .toList());
      if (!stray.isEmpty()) {
        findings.add(
            Finding.illegal(
                "stray-argument",
                stray + " after " + flag + " belongs to no flag",
                "error: unrecognized arguments: " + stray,
                most == 0 ? flag + " alone" : "one value for " + flag));
      }
      beyond.clear();
    }
    if (most == 1 && list.isEmpty()) {
      empty.add(flag);
    }
    return list;
  }
}
