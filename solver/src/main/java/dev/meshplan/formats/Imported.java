package dev.meshplan.formats;

import java.util.List;

/**
 * What an importer made of a foreign file.
 *
 * @param kind what the file is, such as {@code nvidia-smi topo -m}
 * @param understood facts read from it, as sentences
 * @param assumed what it does not say and was filled in, with the reason
 * @param missing what it leaves out and the result needs; then the result is partial
 * @param faults what is broken in the machine or the file
 * @param yaml the result for the catalog or a request; empty when the file does not carry enough
 */
public record Imported(
    String kind,
    List<String> understood,
    List<String> assumed,
    List<String> missing,
    List<String> faults,
    String yaml) {
  public Imported {
    understood = List.copyOf(understood);
    assumed = List.copyOf(assumed);
    missing = List.copyOf(missing);
    faults = List.copyOf(faults);
  }

  /** Whether the file leaves out something that the result needs. */
  public boolean partial() {
    return !missing.isEmpty();
  }

  /** Comment lines that say all of it, then the YAML. */
  public String text() {
    StringBuilder s = new StringBuilder();
    lines(s, "read", List.of(kind + (partial() ? " (partial)" : "")));
    lines(s, "understood", understood);
    lines(s, "assumed", assumed);
    lines(s, "missing", missing);
    lines(s, "faulty", faults);
    return s.append(yaml).toString();
  }

  private static void lines(StringBuilder s, String word, List<String> list) {
    for (String line : list) {
      s.append("# ").append(word).append(": ").append(Quoting.comment(line)).append('\n');
    }
  }
}
