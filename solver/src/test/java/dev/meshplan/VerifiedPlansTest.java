package dev.meshplan;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Errors;
import dev.meshplan.config.Section;
import dev.meshplan.config.YamlReader;
import dev.meshplan.optimize.Planner;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.Problems;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The constraint model, compiled from the rules, proves the degrees of the cases again. */
class VerifiedPlansTest {
  private static final Path PLANS = Path.of(System.getProperty("meshplan.root", "."), "plans");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "llama-3.1-8b-hgx-h100",
        "llama-3.1-70b-64-h100",
        "llama-3.1-405b-1024-h100",
        "llama-3.1-405b-16384-h100",
        "gpt3-175b-1024-a100",
        "llama-3.1-70b-deepspeed-zero-3",
        "llama-3.1-70b-deepspeed-zero-1-pipeline",
        "three-winners-time",
        "three-winners-cost",
        "three-winners-energy",
        "mixtral-8x22b-128-h100",
        "ep-64-on-faulty-racks",
      })
  void theConstraintModelAgrees(String name) {
    Errors errors = new Errors();
    Section section = YamlReader.read(PLANS.resolve(name).resolve("request.yaml"), errors);
    errors.throwIfAny();
    Answer answer =
        new Planner("test", (e, i, b) -> {}, true).plan(Problems.read(section, Catalog.open(null)));
    assertTrue(
        answer.notes().stream().anyMatch(n -> n.startsWith("Verified: ")),
        () -> name + ": " + answer.notes());
  }
}
