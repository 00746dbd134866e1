package dev.meshplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.meshplan.plan.Catalog;
import dev.meshplan.study.CatalogList;
import dev.meshplan.view.CatalogPage;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CatalogCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    return Main.run(new PrintWriter(out), new PrintWriter(err, true), args);
  }

  @ParameterizedTest
  @CsvSource({"models, 88", "gpus, 45", "systems, 30", "networks, 9", "offers, 15"})
  void jsonIsAPlainListWithOneElementPerName(String kind, int least) throws IOException {
    assertEquals(0, run("catalog", kind, "--json"), err.toString());
    JsonNode list = new ObjectMapper().readTree(out.toString());
    assertTrue(list.isArray());
    assertTrue(list.size() >= least, kind + " " + list.size());
    Set<String> names = new HashSet<>();
    for (JsonNode one : list) {
      assertTrue(names.add(one.get("name").asText()), one.get("name").asText());
      assertFalse(one.get("id").asText().isEmpty());
    }
  }

  @Test
  void modelsCarryTheirCounts() throws IOException {
    run("catalog", "models", "--json", "--filter", "deepseek-r1");
    JsonNode r1 = new ObjectMapper().readTree(out.toString()).get(1);
    assertEquals("deepseek-r1", r1.get("name").asText());
    assertEquals("deepseek-v3", r1.get("id").asText());
    assertEquals(671026419200.0, r1.get("total_parameters").asDouble(), 2e4);
    assertEquals(36625618432.0, r1.get("active_parameters").asDouble(), 2e4);
  }

  @Test
  void valuesThatNobodyPublishedAreNull() throws IOException {
    run("catalog", "gpus", "--json", "--filter", "a40");
    JsonNode a40 = new ObjectMapper().readTree(out.toString()).get(0);
    assertTrue(a40.get("memory_bandwidth_bytes_per_second").isNull());
    assertEquals("memory_bandwidth", a40.get("unknown").get(0).asText());
  }

  @Test
  void oneEntryIsShownWithUnitsSourcesAndDerivedCounts() {
    assertEquals(0, run("catalog", "model", "deepseek-r1"));
    String text = out.toString();
    assertTrue(text.contains("671,026,404,352"), text);
    assertTrue(text.contains("682,636,472,320"), text);
    assertTrue(text.contains("256 experts"), text);
    assertTrue(text.contains("sources:\n  - "), text);
  }

  @Test
  void everyEntryCanBeShown() {
    Catalog catalog = Catalog.open(null);
    for (CatalogList.Kind kind : CatalogList.Kind.values()) {
      kind.library(catalog)
          .all()
          .forEach(
              (id, entry) -> {
                String page = CatalogPage.of(entry);
                assertTrue(page.startsWith(id + "\n"), page);
                assertTrue(page.contains("sources:\n  - "), page);
                assertFalse(page.contains("NaN"), page);
              });
    }
  }

  @Test
  void aFilterThatMatchesNothingSaysSo() {
    assertEquals(0, run("catalog", "systems", "--filter", "abacus"));
    assertEquals("No systems match.\n", out.toString());
  }

  @Test
  void unknownNamesGetTheNearestOnes() {
    assertEquals(2, run("catalog", "gpus", "h1000"));
    assertTrue(err.toString().contains("h100"), err.toString());
    assertEquals(2, run("catalog", "chips"));
    assertTrue(err.toString().contains("models, gpus, systems, networks, offers"), err.toString());
  }

  @Test
  void checkTellsTheKindOfAFileAndWhatIsWrongWithIt(@TempDir Path dir) throws IOException {
    Path good = Files.writeString(dir.resolve("tiny.yaml"), TINY);
    assertEquals(0, run("catalog", "check", good.toString()), err.toString());
    assertTrue(out.toString().contains("ok, model tiny: 2 layers, "), out.toString());
    Path bad =
        Files.writeString(
            dir.resolve("bad.yaml"),
            """
            id: bad
            name: Bad
            gpu: h10
            gpus_per_node: 8
            domain: {size: 8, kind: switch, link: nvlink4, bandwidth: 900 GB/s}
            sources: [a sheet]
            """);
    assertEquals(2, run("catalog", "check", bad.toString()));
    assertTrue(err.toString().contains("bad.yaml:5: domain.bandwidth = 900 GB/s"), err.toString());
    assertTrue(err.toString().contains("one way is 450 GB/s"), err.toString());
  }

  @Test
  void checkWarnsWhenTheCountMissesThePublishedSize(@TempDir Path dir) throws IOException {
    Path file =
        Files.writeString(
            dir.resolve("tiny.yaml"),
            TINY.replace("sources:", "published: {total: 9e9}\nsources:"));
    assertEquals(0, run("catalog", "check", file.toString()), err.toString());
    assertTrue(
        out.toString().contains("warning: published.total is 9,000,000,000"), out.toString());
  }

  @Test
  void everyFileOfTheCatalogPassesItsOwnCheck() throws IOException {
    List<String> args = new ArrayList<>(List.of("catalog", "check"));
    for (String folder :
        List.of(
            "models",
            "hardware/gpus",
            "hardware/systems",
            "hardware/networks",
            "hardware/offers")) {
      try (var files = Files.list(Path.of(folder))) {
        files.map(Path::toString).filter(f -> f.endsWith(".yaml")).sorted().forEach(args::add);
      }
    }
    assertEquals(0, run(args.toArray(String[]::new)), err.toString());
    assertFalse(out.toString().contains("but in a catalog folder"), out.toString());
    assertFalse(out.toString().contains("correct the shape"), out.toString());
  }

  private static final String TINY =
      """
      id: tiny
      hidden: 64
      vocabulary: 1000
      attention:
        gqa: {heads: 4, kv_heads: 2, head_dim: 16}
      feed_forward:
        dense: {width: 256}
      layers:
        - {repeat: 2, kinds: [gqa + dense]}
      sources: [mine]
      """;
}
