package dev.meshplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommunicateCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
  }

  @Test
  void oneCollectiveIsPricedAsJson() throws IOException {
    int code =
        run(
            "communicate",
            "all_reduce",
            "--bytes",
            "1GiB",
            "--system",
            "hgx-h100",
            "--gpus",
            "16",
            "--json");
    assertEquals(0, code, err.toString());
    JsonNode json = new ObjectMapper().readTree(out.toString());
    assertEquals("NVLS tree", json.get("algorithm").asText());
    assertEquals(4.48e-3, json.get("seconds").asDouble(), 0.3e-3);
    assertTrue(json.get("others").size() >= 4);
  }

  @Test
  void anExpertExchangeIsPricedByEveryWayCheapestFirst() throws IOException {
    String[] asked = {
      "communicate",
      "moe_dispatch",
      "--tokens",
      "4096",
      "--hidden",
      "7168",
      "--top-k",
      "8",
      "--fp8",
      "--system",
      "hgx-h100",
      "--gpus",
      "32",
      "--json"
    };
    assertEquals(0, run(asked), err.toString());
    JsonNode json = new ObjectMapper().readTree(out.toString());
    assertEquals(4, json.size());
    double before = 0;
    for (JsonNode line : json) {
      assertTrue(line.get("seconds").asDouble() >= before);
      before = line.get("seconds").asDouble();
    }
    double worst = json.get(3).get("seconds").asDouble();
    assertTrue(worst > 1.5 * json.get(0).get("seconds").asDouble(), "copies per expert cost");
    assertEquals(2, run("communicate", "moe_combine", "--system", "hgx-h100", "--gpus", "8"));
    assertTrue(err.toString().contains("--hidden"), err.toString());
  }

  @Test
  void registeredBuffersTakeTheSymmetricKernel() throws IOException {
    String[] asked = {
      "communicate",
      "all_reduce",
      "--bytes",
      "1MiB",
      "--system",
      "hgx-h100",
      "--gpus",
      "8",
      "--json",
      "--registered"
    };
    assertEquals(0, run(asked), err.toString());
    JsonNode json = new ObjectMapper().readTree(out.toString());
    assertEquals("symmetric memory", json.get("algorithm").asText());
    assertEquals(12.2e-6, json.get("seconds").asDouble(), 2.5e-6);
  }

  @Test
  void aTableOverSizesAndACurveAreWritten(@TempDir Path folder) throws IOException {
    Path svg = folder.resolve("curve.svg");
    int code =
        run(
            "communicate",
            "all-gather",
            "--system",
            "gb200-nvl72",
            "--gpus",
            "8",
            "--all-sizes",
            "--plot",
            svg.toString());
    assertEquals(0, code, err.toString());
    assertEquals(26, out.toString().lines().count());
    String picture = Files.readString(svg);
    assertTrue(picture.startsWith("<svg") && picture.contains("LL ring"));
  }

  @Test
  void theSeedProfileOf70BillionIsPrinted() {
    int code =
        run(
            "communicate",
            "--model",
            "llama-3.1-70b",
            "--tp",
            "8",
            "--tokens",
            "1,64,2000",
            "--system",
            "hgx-h100",
            "--profile",
            "seed");
    assertEquals(0, code, err.toString());
    String text = out.toString();
    for (String printed :
        new String[] {"1.29 ms", "1.93 ms", "21.7 ms", "5.19 ms", "delay", "both"}) {
      assertTrue(text.contains(printed), printed + " in\n" + text);
    }
  }

  @Test
  void givenCardsCrossSocketsWhereTheyStand() {
    assertEquals(
        0,
        run(
            "communicate",
            "all_reduce",
            "--bytes",
            "1GiB",
            "--system",
            "a40-pcie-8",
            "--ranks",
            "0,1,6,7"));
    assertTrue(out.toString().contains("1.44 GB/s"), out.toString());
  }

  @Test
  void wrongNamesGetTheNearestAndMissingModelsExitWithThree() {
    assertEquals(2, run("communicate", "all_reduc", "--system", "hgx-h100", "--gpus", "8"));
    assertTrue(err.toString().contains("Nearest: all_reduce"));
    assertEquals(
        2,
        run("communicate", "all_reduce", "--bytes", "1GB", "--system", "hgx-h10", "--gpus", "8"));
    assertTrue(err.toString().contains("hgx-h100"));
    assertEquals(
        3,
        run(
            "communicate",
            "all_reduce",
            "--bytes",
            "1GB",
            "--system",
            "hgx-h100",
            "--network",
            "single-node",
            "--gpus",
            "16"));
    assertTrue(err.toString().contains("no network between domains"));
  }

  @Test
  void numbersThatMakeNoGroupAreRefused() {
    assertEquals(
        2,
        run(
            "communicate",
            "all_reduce",
            "--ranks",
            "0,0",
            "--system",
            "hgx-h100",
            "--bytes",
            "1GB"));
    assertTrue(err.toString().contains("--ranks: must be different GPU numbers"));
    assertEquals(
        2,
        run("communicate", "all_reduce", "--gpus", "8", "--system", "hgx-h100", "--bytes", "0B"));
    assertTrue(err.toString().contains("--bytes: must be more than nothing"));
  }
}
