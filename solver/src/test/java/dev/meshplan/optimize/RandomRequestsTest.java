package dev.meshplan.optimize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.InputException;
import dev.meshplan.config.Text;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Tally;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RandomRequestsTest {
  private static final List<String> FIXES =
      List.of("tp: 8", "pp: 4", "ep: 8", "cp: 2", "vpp: 2", "dp: 4", "micro_batch: 2", "tp: 3");

  private static final List<String> USUAL =
      List.of("hgx-h100", "hgx-a100-80", "hgx-b200", "gb200-nvl72", "hgx-h200", "l40s-pcie-8");

  @Test
  void sixtyRandomRequestsEndAndTheirPlansPassTheCheck() {
    run(60, 1, 5_000);
  }

  @Test
  @Tag("long")
  void aThousandRandomRequestsEndAndTheirPlansPassTheCheck() {
    run(1000, 2, 200_000);
  }

  private static void run(int requests, long seed, long evaluations) {
    Random random = new Random(seed);
    Map<Outcome, Integer> outcomes = new EnumMap<>(Outcome.class);
    int unpriced = 0;
    for (int i = 0; i < requests; i++) {
      String yaml = yaml(random, evaluations);
      try {
        Problem problem = SmallCase.request(yaml);
        Answer answer = PlannerTest.plan(problem);
        outcomes.merge(answer.outcome(), 1, Integer::sum);
        long sum = answer.tally().stream().mapToLong(Tally::candidates).sum();
        assertEquals(answer.proof().candidates(), sum, yaml);
        assertFalse(Text.json(answer).contains("Infinity"), yaml);
        if (answer.outcome() == Outcome.FOUND) {
          assertEquals(List.of(), PlanCheck.violations(problem, answer), yaml);
        }
        if (answer.outcome() == Outcome.INFEASIBLE) {
          assertFalse(answer.infeasible().core().isEmpty(), yaml);
        }
      } catch (NoCostModel | InputException known) {
        unpriced++;
      } catch (RuntimeException bug) {
        throw new AssertionError(yaml, bug);
      }
    }
    String text = outcomes + ", refused " + unpriced;
    assertTrue(outcomes.getOrDefault(Outcome.FOUND, 0) > requests / 5, text);
  }

  private static String yaml(Random random, long evaluations) {
    List<String> models = SmallCase.CATALOG.models().ids();
    List<String> systems = SmallCase.CATALOG.systems().ids();
    String fix = "";
    if (random.nextInt(3) == 0) {
      fix = FIXES.get(random.nextInt(FIXES.size()));
    }
    return """
        model: %s
        cluster: {system: %s, gpus: %d}
        training: {global_batch: %d, sequence: %d, precision: %s, framework: %s}
        objective: %s
        locality: %s
        fix: {%s}
        limits: {evaluations: %d, memory_share: %s}
        """
        .formatted(
            models.get(random.nextInt(models.size())),
            random.nextInt(3) > 0
                ? USUAL.get(random.nextInt(USUAL.size()))
                : systems.get(random.nextInt(systems.size())),
            (1 + random.nextInt(3)) << random.nextInt(10),
            (1 + random.nextInt(3)) << random.nextInt(11),
            512 << random.nextInt(5),
            List.of("bf16", "bf16", "fp16", "fp8").get(random.nextInt(4)),
            List.of("megatron", "deepspeed", "torchtitan", "any").get(random.nextInt(4)),
            List.of("time", "cost", "energy").get(random.nextInt(3)),
            random.nextBoolean() ? "strict" : "priced",
            fix,
            evaluations,
            random.nextInt(4) == 0 ? "0.5" : "0.92");
  }
}
