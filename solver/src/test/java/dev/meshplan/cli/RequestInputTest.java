package dev.meshplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a user may get wrong in a request, and what the command line says then. */
class RequestInputTest {
  private static final String GOOD =
      """
      model: llama-3.1-8b
      cluster: {system: hgx-h100, gpus: 8}
      training: {global_batch: 128, sequence: 8192}
      """;

  @TempDir private Path folder;

  private record Result(int code, String out, String err) {}

  private static Result run(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code = Main.run(new PrintWriter(out), new PrintWriter(err), args);
    return new Result(code, out.toString(), err.toString());
  }

  private Result plan(String text) throws IOException {
    Path file = folder.resolve("request.yaml");
    Files.writeString(file, text);
    return run("plan", file.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gpus: 8}       | gpus: 8, gpu: 3}  | :2: cluster[0].gpu: is not a key here. Nearest: gpus.",
        "gpus: 8}       | gpus: -8}         | :2: cluster[0].gpus = -8: must be from 1",
        "gpus: 8}       | gpus: eight}      | :2: cluster[0].gpus = eight: must be a whole number.",
        "hgx-h100       | hgx-h10           | is no system of the catalog. Nearest: hgx-h100",
        "llama-3.1-8b   | llama-3.1-9b      | is no model of the catalog. Nearest: llama-3.1-8b",
        "sequence: 8192 | sequence: 8k      | :3: training.sequence = 8k: must be a whole number.",
        "sequence: 8192 | precision: fp12   | training.precision = fp12: is not known. Nearest: fp16",
        "sequence: 8192 | precision: bf16   | :3: training.sequence: is missing.",
        "gpus: 8}       | gpus: 8, price: 2} | has no unit; write it like 2.5 USD/GPU-hour",
        "gpus: 8}       | gpus: 8, price: 2 W} | which does not belong here",
        "gpus: 8}       | gpus: 8, gpus: 9} | is given twice",
        "gpus: 8}       | gpus: *x}         | uses an anchor or alias",
        "gpus: 8}       | gpus: 8, blocks: [7]} | is no block of hgx-h100",
        "gpus: 8}       | gpus: 8           | is not valid YAML",
      })
  void everyKindOfMistakeIsLocatedAndSaid(String from, String to, String message)
      throws IOException {
    Result r = plan(GOOD.replace(from, to));
    assertEquals(Main.INPUT, r.code(), r.err());
    assertTrue(r.err().contains(message), r.err());
    assertEquals("", r.out());
    assertFalse(r.err().contains("\tat "), r.err());
  }

  @Test
  void allMistakesOfAFileComeTogether() throws IOException {
    Result r =
        plan(
            """
            model: llama-3.1-7b
            cluster: {system: hgx-h10, gpus: 0}
            training: {global_batch: -1, sequence: x}
            locality: loose
            foo: 1
            """);
    for (String part :
        List.of(":1: model", "system", "gpus", "global_batch", "sequence", "locality", "foo")) {
      assertTrue(r.err().contains(part), part + " in " + r.err());
    }
  }

  @Test
  void aHugeFileIsRefused() throws IOException {
    Result r = plan(GOOD + "# " + "x".repeat(5 << 20) + "\n");
    assertEquals(Main.INPUT, r.code());
    assertTrue(r.err().contains("is larger than"), r.err());
  }

  @Test
  void aMissingFileAndAnEmptyOneAreSaid() throws IOException {
    assertTrue(run("plan", folder.resolve("none.yaml").toString()).err().contains("no such file"));
    assertTrue(plan("").err().contains("is empty"));
  }

  @Test
  void flagsAreCheckedLikeAFile() {
    Result r =
        run(
            "plan",
            "--model",
            "llama-3.1-8b",
            "--system",
            "hgx-h100",
            "--gpus",
            "x",
            "--global-batch",
            "8",
            "--sequence",
            "4096");
    assertEquals(Main.INPUT, r.code());
    assertTrue(r.err().contains("command line: cluster[0].gpus = x"), r.err());
  }

  @Test
  void anUnknownCommandGetsTheNearestOne() {
    Result r = run("pln");
    assertEquals(Main.INPUT, r.code());
    assertTrue(r.err().contains("plan"), r.err());
  }

  @Test
  void flagsLieOverAFile() throws IOException {
    Path file = folder.resolve("request.yaml");
    Files.writeString(file, GOOD);
    Result r = run("plan", file.toString(), "--gpus", "16", "--json");
    assertEquals(Main.OK, r.code(), r.err());
    assertTrue(r.out().contains("\"gpus\" : 16"), r.out().substring(0, 400));
  }

  @Test
  void noPlanIsExitThreeWithReasons() {
    Result r =
        run(
            "plan",
            "--model",
            "llama-3.1-70b",
            "--system",
            "hgx-h100",
            "--gpus",
            "8",
            "--global-batch",
            "8",
            "--sequence",
            "8192",
            "--fix",
            "tp=3");
    assertEquals(Main.NO_PLAN, r.code(), r.err());
    assertTrue(r.out().contains("heads"), r.out());
    assertEquals("", r.err());
  }

  @Test
  void aLimitOnTheCommandLineEndsInWhatIsKnownAndItsOwnExitCode() {
    String[] request = {
      "plan",
      "--model",
      "llama-3.1-405b",
      "--system",
      "hgx-h100",
      "--global-batch",
      "64",
      "--sequence",
      "8192",
      "--evaluations",
      "1",
      "--gpus",
      "128"
    };
    Result unknown = run(request);
    assertEquals(Main.LIMIT, unknown.code());
    assertTrue(unknown.out().contains("it is not known whether one exists"), unknown.out());
    request[request.length - 1] = "16384";
    Result feasible = run(request);
    assertEquals(Main.LIMIT, feasible.code());
    assertTrue(feasible.out().contains("Not proven: the limit"), feasible.out());
  }
}
