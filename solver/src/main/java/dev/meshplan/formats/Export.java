package dev.meshplan.formats;

import java.util.List;

/**
 * A plan in a foreign format, or the reason why that format can't hold it.
 *
 * @param format which one
 * @param files to write; empty when refused
 * @param notes what the reader of the files should know
 * @param refused why the consumer can't express the plan; empty when it can
 * @param nearest the nearest plan that it can express; empty when it can
 */
public record Export(
    Format format, List<OutputFile> files, List<String> notes, String refused, String nearest) {
  public Export {
    files = List.copyOf(files);
    notes = List.copyOf(notes);
  }

  static Export of(Format format, List<OutputFile> files, List<String> notes) {
    return new Export(format, files, notes, "", "");
  }

  static Export refusal(Format format, Refusal refusal) {
    return new Export(format, List.of(), List.of(), refusal.reason(), refusal.nearest());
  }

  public boolean ok() {
    return refused.isEmpty();
  }
}
