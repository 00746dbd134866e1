package dev.meshplan.optimize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.config.YamlReader;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Problems;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Found plans pass a check that is written without the rules, the search and the estimators. */
class FoundPlansTest {
  private static final Catalog CATALOG = Catalog.open(null);

  private static Problem problem(String yaml) {
    Errors errors = new Errors();
    return Problems.read(YamlReader.parse("request.yaml", yaml, errors), CATALOG);
  }

  private static Answer answer(Problem problem) {
    return new Planner("test", (evaluated, incumbent, bound) -> {}).plan(problem);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{model: llama-3.1-70b, cluster: {system: hgx-h100, gpus: 64},"
            + " training: {global_batch: 256, sequence: 8192}}",
        "{model: mixtral-8x22b, cluster: {system: hgx-h100, gpus: 128},"
            + " training: {global_batch: 256, sequence: 4096}}",
        "{model: llama-3.1-70b, cluster: {system: hgx-a100-80, gpus: 64},"
            + " training: {global_batch: 128, sequence: 4096, framework: deepspeed}}",
        "{model: llama-3.1-8b, cluster: {system: hgx-h100, gpus: 16},"
            + " training: {global_batch: 64, sequence: 8192, framework: torchtitan}}",
        "{model: llama-3.1-70b, cluster: {system: hgx-h100, gpus: 64}, fix: {pp: 4},"
            + " training: {global_batch: 256, sequence: 8192}}",
      })
  void aFoundPlanPassesTheIndependentCheck(String yaml) {
    Problem problem = problem(yaml);
    Answer answer = answer(problem);
    assertEquals(Outcome.FOUND, answer.outcome());
    assertEquals(List.of(), PlanCheck.violations(problem, answer));
  }

  @ParameterizedTest
  @Tag("long")
  @ValueSource(
      strings = {
        "{model: llama-3.1-8b, cluster: {system: hgx-h100, gpus: 64},"
            + " training: {global_batch: 128, sequence: 8192}}",
        "{model: llama-3.1-405b, cluster: {system: hgx-h100, gpus: 512},"
            + " training: {global_batch: 256, sequence: 8192, precision: fp8}}",
        "{model: deepseek-v3, cluster: {system: gb200-nvl72, gpus: 256},"
            + " training: {global_batch: 2048, sequence: 4096, precision: mxfp8}}",
      })
  void aLargePlanPassesTheIndependentCheck(String yaml) {
    aFoundPlanPassesTheIndependentCheck(yaml);
  }

  @Test
  void theCheckFindsWhatIsWrong() {
    Problem problem =
        problem(
            "{model: llama-3.1-8b, cluster: {system: hgx-h100, gpus: 8},"
                + " training: {global_batch: 64, sequence: 4096}}");
    Problem other =
        problem(
            "{model: llama-3.1-8b, cluster: {system: hgx-h100, gpus: 8},"
                + " training: {global_batch: 65, sequence: 8192}}");
    assertTrue(!PlanCheck.violations(other, answer(problem)).isEmpty());
  }

  @Test
  @Tag("long")
  void plansOfRandomRequestsPassTheIndependentCheck() {
    Random r = new Random(20);
    String[] models = {
      "llama-3.1-8b",
      "llama-3.1-70b",
      "mixtral-8x7b",
      "qwen3-30b-a3b",
      "deepseek-v2-lite",
      "gpt3-13b",
      "qwen2.5-32b",
      "deepseek-v3"
    };
    String[] systems = {"hgx-h100", "hgx-a100-80", "hgx-b200", "gb200-nvl72", "hgx-h200"};
    String[] frameworks = {"megatron", "deepspeed", "torchtitan", "any"};
    int found = 0;
    for (int i = 0; i < 200; i++) {
      int gpus = 8 << r.nextInt(6);
      String yaml =
          "{model: %s, cluster: {system: %s, gpus: %d}, objective: %s, locality: %s,"
                  .formatted(
                      models[r.nextInt(models.length)],
                      systems[r.nextInt(systems.length)],
                      gpus,
                      r.nextBoolean() ? "time" : "cost",
                      r.nextInt(4) == 0 ? "priced" : "strict")
              + " training: {global_batch: %d, sequence: %d, framework: %s}}"
                  .formatted(
                      gpus * (1 + r.nextInt(8)),
                      2048 << r.nextInt(4),
                      frameworks[r.nextInt(frameworks.length)]);
      Problem problem;
      try {
        problem = problem(yaml);
      } catch (InputException e) {
        continue;
      }
      Answer answer = answer(problem);
      if (answer.outcome() == Outcome.FOUND) {
        found++;
        assertEquals(List.of(), PlanCheck.violations(problem, answer), yaml);
      }
    }
    assertTrue(found > 50, "plans found: " + found);
  }
}
