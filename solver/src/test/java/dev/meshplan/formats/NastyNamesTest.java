package dev.meshplan.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.model.Model;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * No name of a job, model or system changes what a file does: only comments and quoted strings
 * differ from the file of the same plan under harmless names.
 */
class NastyNamesTest {
  private static final List<String> PIECES =
      List.of(
          " ",
          "'",
          "\"",
          "\n",
          "\r\n",
          "\t",
          "$(touch /tmp/x)",
          "`id`",
          "${HOME}",
          "$((1/0))",
          "\\",
          "\\\n",
          "#",
          ": ",
          "- ",
          "--",
          "-rf",
          "{}",
          "[",
          "]",
          "&",
          "*",
          "!",
          "|",
          "%",
          "@",
          ";",
          "<(x)",
          ">",
          "~",
          "\0",
          "\u001b[2J",
          "\u0085",
          "\u2028",
          "\u202e",
          "名",
          "é",
          "😀",
          "yes",
          "null",
          "0x1",
          "1e3",
          "EOT",
          "---",
          "...",
          "\"\"\"",
          "'''",
          "../..",
          "=",
          ",");

  private static String name(Random random) {
    StringBuilder s = new StringBuilder();
    int n = 1 + random.nextInt(6);
    for (int i = 0; i < n; i++) {
      s.append(PIECES.get(random.nextInt(PIECES.size())));
    }
    return s.toString();
  }

  /** The same plan under other names. */
  private static Job renamed(Job job, String title, String model, String system) {
    Model m = job.model();
    SystemSpec s = job.system();
    Model other =
        new Model(
            model,
            m.aliases(),
            m.family(),
            m.hidden(),
            m.vocabulary(),
            m.tiedEmbeddings(),
            m.positions(),
            m.maxSequence(),
            m.norm(),
            m.normsPerLayer(),
            m.embeddingNorm(),
            m.parallelBlock(),
            m.layers(),
            m.mtpLayers(),
            m.published(),
            m.notes(),
            m.sources());
    SystemSpec where =
        new SystemSpec(
            system,
            s.aliases(),
            s.name(),
            s.gpu(),
            s.gpusPerNode(),
            s.domain(),
            s.nicsPerNode(),
            s.network(),
            s.host(),
            s.power(),
            s.cooling(),
            s.space(),
            s.status(),
            s.sources(),
            s.notes());
    Machine machine = job.machine();
    return new Job(
        job.answer(),
        other,
        List.of(new Machine(machine.pool(), where, machine.gpu(), machine.network())),
        title);
  }

  private static List<Job> jobs() {
    Jobs sharded = Jobs.of("llama-3.1-8b", "hgx-h100", 1, 1, 1, 8, 1, 1);
    sharded.memory = new MemoryPlan(3, 0, 0, Recompute.FULL, 0);
    sharded.cpKind = CpKind.ALL_TO_ALL;
    Jobs tensor = Jobs.of("llama-3.1-8b", "hgx-h100", 2, 1, 2, 2, 1, 1);
    Jobs rack = Jobs.of("deepseek-v3", "gb200-nvl72", 1, 1, 4, 32, 16, 1);
    rack.block = 18;
    return List.of(sharded.build(), tensor.build(), rack.build(), Jobs.deepseekNvl72().build());
  }

  @ParameterizedTest
  @EnumSource(Format.class)
  void onlyCommentsAndStringsDiffer(Format format) throws IOException {
    Random random = new Random(format.ordinal());
    int files = 0;
    for (int i = 0; i < 60; i++) {
      for (Job plain : jobs()) {
        Job nasty = renamed(plain, name(random), name(random), name(random));
        Export expected = Exporters.export(format, renamed(plain, "a", "b", "c"), false);
        Export got = Exporters.export(format, nasty, false);
        assertEquals(expected.ok(), got.ok());
        for (int f = 0; f < got.files().size(); f++) {
          OutputFile file = got.files().get(f);
          assertEquals(expected.files().get(f).name(), file.name());
          same(file.name(), expected.files().get(f).text(), file.text());
          files++;
        }
      }
    }
    assertTrue(files > 0, format.key());
  }

  private static void same(String name, String expected, String got) throws IOException {
    for (char c : new char[] {'\0', '\u001b', '\u0085', '\u2028'}) {
      assertFalse(got.indexOf(c) >= 0, name + " holds a control character");
    }
    if (name.endsWith(".json")) {
      assertEquals(shape(expected, new ObjectMapper()), shape(got, new ObjectMapper()));
    } else if (name.endsWith(".yaml")) {
      ObjectMapper yaml = new ObjectMapper(new YAMLFactory());
      assertEquals(shape(expected, yaml), shape(got, yaml));
    } else {
      assertEquals(code(name, expected), code(name, got), name);
    }
  }

  /** Documents with every name replaced: keys, numbers and structure stay. */
  private static List<String> shape(String text, ObjectMapper mapper) throws IOException {
    List<String> all = new ArrayList<>();
    try (MappingIterator<JsonNode> it = mapper.readerFor(JsonNode.class).readValues(text)) {
      while (it.hasNextValue()) {
        all.add(unnamed("", it.nextValue()));
      }
    }
    return all;
  }

  private static String unnamed(String key, JsonNode n) {
    StringBuilder s = new StringBuilder();
    if (n.isObject()) {
      n.properties().forEach(e -> s.append(e.getKey()).append(unnamed(e.getKey(), e.getValue())));
      return "{" + s + "}";
    }
    if (n.isArray()) {
      n.forEach(x -> s.append(unnamed(key, x)).append(','));
      return "[" + s + "]";
    }
    boolean named =
        List.of(
                "name",
                "model",
                "system",
                "meshplan.dev/name",
                "resourceClaimTemplateName",
                "value")
            .contains(key);
    return n.getNodeType() + (named && n.isTextual() ? "" : n.asText());
  }

  /** Lines that are no comments, without the job's slug and placeholders. */
  private static List<String> code(String name, String text) {
    List<String> lines = new ArrayList<>();
    for (String line : text.split("\n", -1)) {
      assertFalse(line.contains("\r"), name + ": " + line);
      if (line.startsWith("#SBATCH --job-name=")) {
        assertTrue(line.matches("#SBATCH --job-name=[a-z][a-z0-9-]{0,39}"), line);
      } else if (!line.startsWith("#") || line.startsWith("#SBATCH") || line.startsWith("#!")) {
        lines.add(line);
      }
    }
    return lines;
  }
}
