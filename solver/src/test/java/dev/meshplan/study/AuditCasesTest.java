package dev.meshplan.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.meshplan.config.InputException;
import dev.meshplan.formats.DeepSpeedReader;
import dev.meshplan.formats.Finding;
import dev.meshplan.formats.ForeignPlan;
import dev.meshplan.formats.Quoting;
import dev.meshplan.plan.Catalog;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class AuditCasesTest {
  private static final Catalog CATALOG = Catalog.open(null);

  private static JsonNode json(String name) throws IOException {
    try (InputStream in = AuditCasesTest.class.getResourceAsStream("/samples/cases/" + name)) {
      return new ObjectMapper().readTree(in);
    }
  }

  private static String script(JsonNode all, JsonNode c) {
    StringBuilder s = new StringBuilder();
    c.path("env").forEach(e -> s.append("export ").append(e.asText()).append('\n'));
    List<String> words = new ArrayList<>();
    if (c.has("base")) {
      words.addAll(
          Arrays.asList(all.path("bases").path(c.path("base").asText()).asText().split(" ")));
    }
    c.path("drop").forEach(d -> words.remove(d.asText()));
    words.addAll(Arrays.asList(c.path("args").asText().split(" ")));
    s.append("python pretrain_gpt.py");
    words.forEach(w -> s.append(' ').append(Quoting.shell(w)));
    return s.append('\n').toString();
  }

  /** A later flag wins over an earlier one, as in argparse; so it does in the reader. */
  @Test
  void verdictsOnMegatronArgumentsAreThoseOfTheRealCode() throws IOException {
    JsonNode all = json("megatron_cases.json");
    List<String> differences = new ArrayList<>();
    int n = 0;
    for (JsonNode c : all.path("cases")) {
      n++;
      String system = c.path("arch").asInt(9) >= 10 ? "hgx-b200" : "hgx-h100";
      int world = c.path("world_size").asInt();
      AuditInput input =
          AuditInput.read(
              AuditQuestion.of(c.path("name").asText(), script(all, c), system, world, ""),
              CATALOG);
      AuditReport report = Audit.of(input.plan(), input.problem(), false, "test");
      boolean refused = c.path("expect").asText().equals("reject");
      if (refused != report.refused()) {
        differences.add(c.path("name").asText() + ": " + report.findings());
      }
    }
    assertEquals(101, n);
    assertEquals(List.of(), differences);
  }

  @Test
  void verdictsOnDeepSpeedConfigurationsAreThoseOfTheRealCode() throws IOException {
    List<String> differences = new ArrayList<>();
    int n = 0;
    for (JsonNode c : json("ds_cases.json")) {
      n++;
      String text = c.has("raw") ? c.path("raw").asText() : c.path("config").toString();
      boolean refused;
      String why;
      try {
        ForeignPlan p =
            DeepSpeedReader.read(
                c.path("name").asText(),
                text,
                c.path("world_size").asInt(),
                c.path("tp").asInt(1),
                c.path("pp").asInt(1),
                c.path("sp").asInt(1),
                null,
                4096);
        refused = p.findings().stream().anyMatch(Finding::checked);
        why = p.findings().toString();
      } catch (InputException e) {
        refused = true;
        why = e.getMessage();
      }
      if (refused != c.path("expect").asText().equals("reject")) {
        differences.add(c.path("name").asText() + ": " + why);
      }
    }
    assertEquals(26, n);
    assertEquals(List.of(), differences);
  }

  @Test
  void whatMegatronDoesNotCheckIsStillFound() throws IOException {
    JsonNode all = json("megatron_cases.json");
    List<String> found = new ArrayList<>();
    for (JsonNode c : all.path("cases")) {
      String name = c.path("name").asText();
      if (name.contains("NOT caught")) {
        AuditInput input =
            AuditInput.read(
                AuditQuestion.of(
                    name, script(all, c), "hgx-h100", c.path("world_size").asInt(), ""),
                CATALOG);
        AuditReport r = Audit.of(input.plan(), input.problem(), false, "test");
        assertTrue(!r.refused() && r.exitCode() == 7, name + ": " + r.findings());
        r.findings().forEach(f -> found.add(f.id()));
      }
    }
    assertEquals(List.of("sequence-tp", "cp-heads", "mxfp8-hardware", "precision"), found);
  }
}
