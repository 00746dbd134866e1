package dev.meshplan;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.meshplan.config.Errors;
import dev.meshplan.config.Section;
import dev.meshplan.config.Text;
import dev.meshplan.config.YamlReader;
import dev.meshplan.formats.Job;
import dev.meshplan.optimize.Planner;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Problems;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every case of plans/ is planned again and exported, and must come out byte for byte. After a
 * change that is meant to move predictions: {@code mvn test -Dtest=GoldenPlansTest
 * -Dmeshplan.golden=write}, then read the difference and list what moved in CHANGELOG.md.
 */
class GoldenPlansTest {
  private static final Path PLANS = Path.of(System.getProperty("meshplan.root", "."), "plans");

  static List<String> cases() throws IOException {
    try (Stream<Path> list = Files.list(PLANS)) {
      return list.filter(Files::isDirectory).map(p -> p.getFileName().toString()).sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void everyCaseIsPlannedAgainByteForByte(String name) throws IOException {
    Path folder = PLANS.resolve(name);
    Errors errors = new Errors();
    Section section =
        YamlReader.parse(
            "plans/" + name + "/request.yaml",
            Files.readString(folder.resolve("request.yaml")),
            errors);
    errors.throwIfAny();
    Problem problem = Problems.read(section, Catalog.open(null));
    Answer answer =
        new Planner(System.getProperty("meshplan.version", "0.1.0"), (e, i, b) -> {}).plan(problem);
    String text = Text.yaml(answer);
    SortedMap<String, String> exports =
        answer.plan() == null
            ? new TreeMap<>()
            : GoldenExports.of(Job.of(answer, problem, problem.model().id()));
    Path golden = folder.resolve("answer.yaml");
    if ("write".equals(System.getProperty("meshplan.golden"))) {
      Files.writeString(golden, text);
      GoldenExports.write(folder.resolve("exports"), exports);
    }
    assertEquals(Files.readString(golden), text);
    Answer again = Text.read("answer.yaml", text, Answer.class);
    assertEquals(text, Text.yaml(again), "an answer that is read back is the same answer");
    SortedMap<String, String> kept = GoldenExports.read(folder.resolve("exports"));
    assertEquals(exports.keySet(), kept.keySet());
    exports.forEach((file, written) -> assertEquals(written, kept.get(file), file));
  }
}
