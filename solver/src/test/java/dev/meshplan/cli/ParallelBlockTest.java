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

/** A layer whose attention and MLP stand side by side exchanges once where others do twice. */
class ParallelBlockTest {
  private static final Path FALCON = Path.of(System.getProperty("meshplan.root"), "models");

  @TempDir Path folder;

  private JsonNode estimate(String model, boolean sequenceParallel) throws IOException {
    String request =
        "model: "
            + model
            + "\ncluster: {system: hgx-h100, gpus: 64}\ntraining: {global_batch: 64, sequence: 2048,"
            + " precision: bf16, tp_overlap: false, sequence_parallel: "
            + sequenceParallel
            + "}\nfix: {tp: 8, pp: 1, cp: 1, dp: 8, micro_batch: 1, recompute: none}\n";
    String file = Files.writeString(folder.resolve("request.yaml"), request).toString();
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code =
        Main.run(new PrintWriter(out, true), new PrintWriter(err, true), "plan", file, "--json");
    assertEquals(0, code, err.toString());
    return new ObjectMapper().readTree(out.toString()).path("estimate");
  }

  private static double term(JsonNode e, String list, String id, String value) {
    for (JsonNode t : e.path(list)) {
      if (t.path("id").asText().equals(id)) {
        return t.path(value).asDouble();
      }
    }
    throw new AssertionError(id + " is not in " + e.path(list));
  }

  private String serial() throws IOException {
    String text = Files.readString(FALCON.resolve("falcon-40b.yaml"));
    String plain =
        text.replace("id: falcon-40b", "id: serial")
            .replaceAll("aliases: .*\n", "")
            .replace("parallel_block: true\n", "");
    assertTrue(plain.length() < text.length() - 20);
    return Files.writeString(folder.resolve("serial.yaml"), plain).toString();
  }

  @Test
  void tensorTrafficIsHalfAndLessIsKept() throws IOException {
    for (boolean sequenceParallel : new boolean[] {true, false}) {
      JsonNode parallel = estimate("falcon-40b", sequenceParallel);
      JsonNode serial = estimate(serial(), sequenceParallel);
      assertEquals(
          0.5,
          term(parallel, "time_terms", "tensor_traffic", "link_seconds")
              / term(serial, "time_terms", "tensor_traffic", "link_seconds"),
          1e-9);
      assertTrue(
          term(parallel, "memory_terms", "activations", "bytes")
              < term(serial, "memory_terms", "activations", "bytes"));
      assertEquals(
          term(serial, "memory_terms", "weights", "bytes"),
          term(parallel, "memory_terms", "weights", "bytes"));
    }
  }

  @Test
  void megatronCanNotBuildItAndSaysSo() throws IOException {
    String request =
        """
        model: falcon-40b
        cluster: {system: hgx-h100, gpus: 64}
        training: {global_batch: 64, sequence: 2048, precision: bf16}
        """;
    String file = Files.writeString(folder.resolve("request.yaml"), request).toString();
    StringWriter out = new StringWriter();
    String to = folder.resolve("launch").toString();
    Main.run(
        new PrintWriter(out, true),
        new PrintWriter(out, true),
        "export",
        file,
        "--to",
        "megatron",
        "-o",
        to);
    assertTrue(out.toString().contains("attention and MLP side by side"), out.toString());
  }
}
