package dev.meshplan.formats;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Test files. */
final class Samples {
  private Samples() {}

  static String text(String path) {
    try (InputStream in = Samples.class.getResourceAsStream("/samples/" + path)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
