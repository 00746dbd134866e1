package dev.meshplan.optimize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.InputException;
import dev.meshplan.config.Text;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Infeasible;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Proof;
import dev.meshplan.plan.Tally;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests put together at random end in a plan, in true reasons, or in what they lack. */
class RandomRequestsTest {
  private static final List<String> FIXES =
      List.of(
          "tp: 8",
          "tp: 3",
          "pp: 4",
          "ep: 8",
          "cp: 2",
          "vpp: 2",
          "dp: 4",
          "micro_batch: 2",
          "recompute: none",
          "recompute: full",
          "sharding: 1",
          "sharding: 3",
          "gpus_used: 24");

  private static final List<String> USUAL =
      List.of("hgx-h100", "hgx-a100-80", "hgx-b200", "gb200-nvl72", "hgx-h200", "l40s-pcie-8");

  @Test
  void sixtyRandomRequestsEndAndTheirPlansPassTheCheck() {
    run(60, 1, 5_000);
  }

  @Test
  @Tag("long")
  void aThousandRandomRequestsEndAndTheirPlansPassTheCheck() {
    System.out.println("random requests: " + run(1000, 2, 200_000));
  }

  private static Map<String, Integer> run(int requests, long seed, long evaluations) {
    Random random = new Random(seed);
    Map<String, Integer> ends = new TreeMap<>();
    for (int i = 0; i < requests; i++) {
      String yaml = yaml(random, evaluations);
      String end;
      try {
        end = end(yaml);
      } catch (NoCostModel known) {
        end = "no cost model";
      } catch (InputException known) {
        end = "refused";
      } catch (RuntimeException bug) {
        throw new AssertionError(yaml, bug);
      }
      ends.merge(end, 1, Integer::sum);
    }
    int plans = ends.getOrDefault("optimal", 0) + ends.getOrDefault("feasible", 0);
    assertTrue(plans > requests / 5, ends::toString);
    assertTrue(ends.getOrDefault("infeasible", 0) > requests / 10, ends::toString);
    return ends;
  }

  private static String end(String yaml) {
    Problem problem = SmallCase.request(yaml);
    Answer answer = PlannerTest.plan(problem);
    Proof proof = answer.proof();
    assertEquals(
        proof.candidates(), answer.tally().stream().mapToLong(Tally::candidates).sum(), yaml);
    String json = Text.json(answer);
    assertFalse(json.contains("Infinity") || json.contains("NaN"), yaml);
    if (answer.outcome() == Outcome.FOUND) {
      assertEquals(List.of(), PlanCheck.violations(problem, answer), yaml);
      assertTrue(proof.boundValue() <= proof.objectiveValue(), yaml);
    }
    if (answer.outcome() == Outcome.INFEASIBLE) {
      Infeasible why = answer.infeasible();
      assertFalse(why.core().isEmpty(), yaml);
      assertNotNull(why.nearest(), yaml);
      assertFalse(why.nearest().misses().isEmpty(), yaml);
      if (why.cure() != null) {
        Answer cured = PlannerTest.plan(SmallCase.request(cured(yaml, why.cure())));
        assertEquals(Outcome.FOUND, cured.outcome(), () -> yaml + why.cure());
      }
    }
    return proof.status().key();
  }

  /** The request with its cure written into it. */
  private static String cured(String yaml, Infeasible.Cure cure) {
    String key = cure.key().substring(cure.key().indexOf('.') + 1);
    String free = yaml.replaceFirst(", evaluations: \\d+|evaluations: \\d+, ", "");
    String cured =
        switch (cure.key()) {
          case "locality" -> free.replace("locality: strict", "locality: priced");
          case "cluster.gpus" ->
              free.replaceFirst("(healthy: \\[[^]]*\\]|gpus: \\d+)", "gpus: " + cure.value());
          default -> free.replaceFirst("\\b" + key + ": [^,}\\n]+", key + ": " + cure.value());
        };
    assertFalse(cured.equals(free), yaml + cure);
    return cured;
  }

  private static String yaml(Random random, long evaluations) {
    List<String> models = SmallCase.CATALOG.models().ids();
    List<String> systems = SmallCase.CATALOG.systems().ids();
    boolean usual = random.nextInt(3) > 0;
    String system =
        usual
            ? USUAL.get(random.nextInt(USUAL.size()))
            : systems.get(random.nextInt(systems.size()));
    String gpus = "gpus: " + ((1 + random.nextInt(3)) << random.nextInt(10));
    if (usual && random.nextInt(8) == 0) {
      gpus = "healthy: [8, 7, 8, 6]";
    } else if (system.startsWith("gb200") && random.nextInt(4) == 0) {
      gpus += random.nextBoolean() ? ", spares_per_domain: 8" : ", blocks: [36]";
    }
    return """
        model: %s
        cluster: {system: %s, %s}
        training: {global_batch: %d, sequence: %d, precision: %s, framework: %s}
        objective: %s
        locality: %s
        fix: {%s}
        limits: {evaluations: %d, memory_share: %s}
        """
        .formatted(
            models.get(random.nextInt(models.size())),
            system,
            gpus,
            ((1 + random.nextInt(3)) << random.nextInt(11)) - (random.nextInt(9) == 0 ? 1 : 0),
            (512 << random.nextInt(5)) + (random.nextInt(9) == 0 ? 1 : 0),
            List.of("bf16", "bf16", "fp16", "fp8").get(random.nextInt(4)),
            List.of("megatron", "deepspeed", "torchtitan", "any").get(random.nextInt(4)),
            List.of("time", "cost", "energy").get(random.nextInt(3)),
            random.nextBoolean() ? "strict" : "priced",
            pins(random),
            evaluations,
            random.nextInt(4) == 0 ? "0.5" : "0.92");
  }

  /** None in half of the requests, else up to three on different axes. */
  private static String pins(Random random) {
    List<String> all = new ArrayList<>(FIXES);
    Collections.shuffle(all, random);
    Map<String, String> pins = new TreeMap<>();
    for (String fix : all.subList(0, Math.max(0, random.nextInt(7) - 3))) {
      pins.put(fix.substring(0, fix.indexOf(':')), fix);
    }
    return String.join(", ", pins.values());
  }
}
