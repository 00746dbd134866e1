package dev.meshplan.config;

/**
 * One thing wrong with what a user wrote.
 *
 * @param file the file or flag it stands in
 * @param line line in the file, from 1; 0 where there is none (flags)
 * @param key dotted path of the key, or empty
 * @param value what was written, or empty
 * @param message what is wrong and the way out, as a sentence
 */
public record InputError(String file, int line, String key, String value, String message) {
  @Override
  public String toString() {
    StringBuilder s = new StringBuilder(file);
    if (line > 0) {
      s.append(':').append(line);
    }
    s.append(": ");
    if (!key.isEmpty()) {
      s.append(key);
      if (!value.isEmpty()) {
        s.append(" = ").append(value.length() > 80 ? value.substring(0, 77) + "..." : value);
      }
      s.append(": ");
    }
    return s.append(message).toString();
  }
}
