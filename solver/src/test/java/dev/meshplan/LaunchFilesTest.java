package dev.meshplan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The launch files kept in plans/ are what the shells, parsers and schedulers that read them
 * accept.
 */
class LaunchFilesTest {
  private static final Path PLANS = Path.of(System.getProperty("meshplan.root", "."), "plans");

  private static List<Path> files(String... endings) throws IOException {
    try (Stream<Path> all = Files.walk(PLANS)) {
      List<Path> found =
          all.filter(p -> p.toString().replace('\\', '/').contains("/exports/"))
              .filter(p -> Stream.of(endings).anyMatch(e -> p.toString().endsWith(e)))
              .sorted()
              .toList();
      assertTrue(found.size() >= 10, "cases keep files that end in " + List.of(endings));
      return found;
    }
  }

  /**
   * What a program says of files; empty when it accepts them; null when there is no such program.
   */
  private static String complaints(List<String> command, List<Path> files) throws IOException {
    List<String> line = new ArrayList<>(command);
    files.forEach(f -> line.add(f.toString()));
    Process p;
    try {
      p = new ProcessBuilder(line).redirectErrorStream(true).start();
    } catch (IOException absent) {
      return null;
    }
    String said = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      return p.waitFor() == 0 ? "" : said.isBlank() ? "exit " + p.exitValue() : said;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  private static boolean continuousIntegration() {
    return "true".equals(System.getenv("CI"));
  }

  /** Skips on a machine without the program; on the machine that decides about changes it fails. */
  private static void accepted(String program, String complaints) {
    assumeTrue(
        complaints != null || continuousIntegration(),
        program + " is not installed: the launch scripts are not checked by it here");
    assertEquals("", complaints, program);
  }

  @Test
  void bashParsesEveryScript() throws IOException {
    for (Path script : files(".sh", ".sbatch")) {
      accepted("bash", complaints(List.of("bash", "-n"), List.of(script)));
    }
  }

  @Test
  void shellcheckHasNothingToSayOfAnyScript() throws IOException {
    accepted(
        "shellcheck",
        complaints(List.of("shellcheck", "--shell=bash", "--norc"), files(".sh", ".sbatch")));
  }

  @Test
  void yamlAndJsonParse() throws IOException {
    for (Path file : files(".yaml", ".json")) {
      ObjectMapper mapper =
          file.toString().endsWith(".json")
              ? new ObjectMapper()
              : new ObjectMapper(new YAMLFactory());
      int documents = 0;
      try (MappingIterator<JsonNode> all =
          mapper.readerFor(JsonNode.class).readValues(Files.readString(file))) {
        while (all.hasNextValue()) {
          assertTrue(all.nextValue().isContainerNode(), file.toString());
          documents++;
        }
      }
      assertTrue(documents > 0, file.toString());
    }
  }

  /** Source: slurm.conf of Slurm 25.05, topology/block: other sizes stop slurmctld. */
  @Test
  void blockSizesAreTheBaseTimesPowersOfTwo() throws IOException {
    for (Path file : files("topology.conf", "topology.yaml")) {
      List<Integer> sizes = blockSizes(file);
      if (sizes.isEmpty()) {
        assertTrue(Files.readString(file).contains("flat: true"), file + " is flat or has blocks");
        continue;
      }
      int base = sizes.get(0);
      for (int i = 0; i < sizes.size(); i++) {
        assertEquals(base << i, sizes.get(i), file + ": " + sizes);
      }
      assertTrue(sizes.size() <= 16, file + ": " + sizes);
    }
  }

  private static List<Integer> blockSizes(Path file) throws IOException {
    String text = Files.readString(file);
    List<Integer> sizes = new ArrayList<>();
    if (file.toString().endsWith(".conf")) {
      Matcher m = Pattern.compile("(?m)^BlockSizes=(.*)$").matcher(text);
      assertTrue(m.find(), file.toString());
      Stream.of(m.group(1).split(",")).forEach(n -> sizes.add(Integer.parseInt(n)));
    } else {
      JsonNode topology = new ObjectMapper(new YAMLFactory()).readTree(text).path(0);
      topology.path("block").path("block_sizes").forEach(n -> sizes.add(n.asInt()));
    }
    return sizes;
  }
}
