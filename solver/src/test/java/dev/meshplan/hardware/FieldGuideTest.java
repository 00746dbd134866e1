package dev.meshplan.hardware;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.communication.LinkParameter;
import dev.meshplan.communication.NetworkParameter;
import dev.meshplan.config.Section;
import dev.meshplan.model.ModelReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The field guides name every key that the readers read, and no other. */
class FieldGuideTest {
  private static final Path MAIN = Path.of("solver/src/main/java/dev/meshplan");
  private static final Pattern KEY =
      Pattern.compile(
          "(?:\\.(?:text|integer|number|quantity|flag|choice|choices|texts|integers|section|sections"
              + "|has|isSection|parsed|count)\\(\\s*|(?:share|watts|basis|path)\\(\\s*\\w+,\\s*)"
              + "\"([a-z0-9_]+)\"");
  private static final Pattern NAMED = Pattern.compile("`([a-z0-9_]+)`");
  private static final Pattern FIRST_COLUMN = Pattern.compile("(?m)^\\|([^|]*)\\|");
  private static final Pattern EXAMPLE = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL);

  private static Set<String> readKeys(String... sources) throws IOException {
    Set<String> keys = new TreeSet<>();
    for (String source : sources) {
      Matcher m = KEY.matcher(Files.readString(MAIN.resolve(source)));
      while (m.find()) {
        keys.add(m.group(1));
      }
    }
    return keys;
  }

  private static Set<String> matches(Pattern pattern, String text) {
    Set<String> found = new TreeSet<>();
    Matcher m = pattern.matcher(text);
    while (m.find()) {
      found.add(m.group(1));
    }
    return found;
  }

  private static void compare(Path guide, Set<String> keys) throws IOException {
    String text = Files.readString(guide);
    Set<String> missing = new TreeSet<>(keys);
    missing.removeAll(matches(NAMED, text));
    assertEquals(Set.of(), missing, "keys that " + guide + " does not name");
    Set<String> invented = new TreeSet<>();
    for (String cell : matches(FIRST_COLUMN, text)) {
      invented.addAll(matches(NAMED, cell));
    }
    invented.removeAll(keys);
    assertEquals(Set.of(), invented, "keys of " + guide + " that no reader reads");
  }

  @Test
  void theModelGuideNamesEveryKey() throws IOException {
    Set<String> keys = readKeys("model/ModelReader.java");
    assertTrue(keys.size() > 40, keys.toString());
    compare(Path.of("models/README.md"), keys);
  }

  @Test
  void theHardwareGuideNamesEveryKey() throws IOException {
    Set<String> keys =
        readKeys(
            "hardware/GpuReader.java",
            "hardware/SystemReader.java",
            "hardware/Network.java",
            "hardware/Offer.java");
    assertTrue(keys.size() > 60, keys.toString());
    for (Precision p : Precision.values()) {
      keys.add(p.key());
    }
    for (LinkParameter p : LinkParameter.values()) {
      keys.add(p.key());
    }
    for (NetworkParameter p : NetworkParameter.values()) {
      keys.add(p.key());
    }
    compare(Path.of("hardware/README.md"), keys);
  }

  @Test
  void theGuidesNameEveryChoice() throws IOException {
    String guide = Files.readString(Path.of("hardware/README.md"));
    for (Gpu.Architecture a : Gpu.Architecture.values()) {
      assertTrue(guide.contains("`" + a.key() + "`"), a.key());
    }
    for (SystemSpec.Fabric f : SystemSpec.Fabric.values()) {
      assertTrue(guide.contains("`" + f.key() + "`"), f.key());
    }
    for (Link l : Link.values()) {
      boolean range = l.key().matches("nvlink[2-5]|pcie[45]");
      assertTrue(range || guide.contains("`" + l.key() + "`"), l.key());
    }
  }

  @Test
  void theWorkedExamplesCanBeReadAsTheyStand() throws IOException {
    List<Function<Section, ?>> readers =
        List.of(GpuReader::read, SystemReader::read, Network::read, Offer::read);
    List<String> examples = examples(Path.of("hardware/README.md"));
    assertEquals(readers.size(), examples.size());
    for (int i = 0; i < examples.size(); i++) {
      assertEquals(List.of(), Read.errors(readers.get(i), examples.get(i)), examples.get(i));
    }
    List<String> models = examples(Path.of("models/README.md"));
    assertEquals(1, models.size());
    assertEquals(List.of(), Read.errors(ModelReader::read, models.get(0)));
  }

  @Test
  void theModelExampleCountsWhatItSays() throws IOException {
    var model = Read.good(ModelReader::read, examples(Path.of("models/README.md")).get(0));
    double total = dev.meshplan.model.Parameters.total(model);
    assertEquals(1, total / model.published().total(), 0.01, "total " + total);
    double active = dev.meshplan.model.Parameters.active(model, model.published().convention());
    assertEquals(1, active / model.published().active(), 0.01, "active " + active);
  }

  private static List<String> examples(Path guide) throws IOException {
    List<String> found = new ArrayList<>();
    Matcher m = EXAMPLE.matcher(Files.readString(guide));
    while (m.find()) {
      found.add(m.group(1));
    }
    return found;
  }
}
