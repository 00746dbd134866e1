package dev.meshplan.study;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** The measured runs among the test data. */
final class MeasuredRuns {
  private static final Map<String, Map<String, String>> OPEN =
      rows("runs.csv").stream()
          .collect(java.util.stream.Collectors.toMap(RunRow::id, RunRow::cells));

  private MeasuredRuns() {}

  static Map<String, String> open(String id) {
    return OPEN.get(id);
  }

  static String text(String file) {
    try (InputStream in = MeasuredRuns.class.getResourceAsStream("/measured/" + file)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<RunRow> rows(String file) {
    return RunAccuracy.read(file, text(file));
  }
}
