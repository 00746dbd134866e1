package dev.meshplan.cli;

import dev.meshplan.config.InputException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The text of a file that a command reads whole. */
final class Input {
  private static final int MOST_BYTES = 16 << 20;

  private Input() {}

  static String name(String file) {
    return file.equals("-") ? "standard input" : file;
  }

  /** The file's text, or standard input for {@code -}. */
  static String text(String file) {
    try {
      byte[] bytes =
          file.equals("-")
              ? System.in.readNBytes(MOST_BYTES + 1)
              : Files.size(Path.of(file)) > MOST_BYTES
                  ? new byte[MOST_BYTES + 1]
                  : Files.readAllBytes(Path.of(file));
      if (bytes.length > MOST_BYTES) {
        throw new InputException(
            name(file), "", "", "is larger than 16 MiB; that is no such file.");
      }
      return new String(bytes, StandardCharsets.UTF_8);
    } catch (java.nio.file.NoSuchFileException e) {
      throw new InputException(name(file), "", "", "no such file.");
    } catch (IOException e) {
      throw new InputException(name(file), "", "", "can't be read: " + e.getMessage());
    }
  }
}
