package dev.meshplan;

import dev.meshplan.formats.Export;
import dev.meshplan.formats.Exporters;
import dev.meshplan.formats.Format;
import dev.meshplan.formats.Job;
import dev.meshplan.formats.OutputFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The launch files of a case of plans/: {@code exports/FORMAT/FILE} for every format that can
 * express the plan, and {@code exports/notes.txt} with what each format says or why it refuses.
 * Rank maps of thousands of lines are kept as their number of lines and digest.
 */
final class GoldenExports {
  private static final int LONGEST_KEPT = 16 << 10;
  private static final String NOTES = "notes.txt";

  private GoldenExports() {}

  /** Path below {@code exports/} to text. */
  static SortedMap<String, String> of(Job job) {
    SortedMap<String, String> files = new TreeMap<>();
    StringBuilder notes = new StringBuilder();
    for (Format format : Format.values()) {
      Export e = Exporters.export(format, job, false);
      if (!e.ok()) {
        notes.append(format.key()).append(" refuses: ").append(e.refused()).append('\n');
        notes.append("  nearest: ").append(e.nearest()).append('\n');
        continue;
      }
      notes.append(format.key()).append('\n');
      e.notes().forEach(n -> notes.append("  ").append(n).append('\n'));
      for (OutputFile f : e.files()) {
        if (f.text().length() <= LONGEST_KEPT) {
          files.put(format.key() + "/" + f.name(), f.text());
        } else {
          notes.append("  not kept here: ").append(f.name()).append(", ");
          notes.append(f.text().lines().count()).append(" lines, SHA-256 ");
          notes.append(digest(f.text())).append('\n');
        }
      }
    }
    files.put(NOTES, notes.toString());
    return files;
  }

  private static String digest(String text) {
    try {
      byte[] sum =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(sum, 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  /** What a folder holds, by path below it. */
  static SortedMap<String, String> read(Path folder) throws IOException {
    SortedMap<String, String> files = new TreeMap<>();
    for (Path p : paths(folder)) {
      files.put(folder.relativize(p).toString().replace('\\', '/'), Files.readString(p));
    }
    return files;
  }

  /** Makes a folder hold these files and no others. */
  static void write(Path folder, Map<String, String> files) throws IOException {
    for (Path p : paths(folder)) {
      Files.delete(p);
    }
    for (Map.Entry<String, String> f : files.entrySet()) {
      Path to = folder.resolve(f.getKey());
      Files.createDirectories(to.getParent());
      Files.writeString(to, f.getValue());
    }
  }

  private static List<Path> paths(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile).sorted().toList();
    }
  }
}
