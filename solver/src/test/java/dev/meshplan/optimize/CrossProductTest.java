package dev.meshplan.optimize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.config.Section;
import dev.meshplan.config.YamlReader;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Problems;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every model on every system ends in a plan, in reasons, or in what has no cost model yet. */
class CrossProductTest {
  private static final int GPUS = 64;
  private final Catalog catalog = Catalog.open(null);

  @Test
  void aSampleOfTheCatalogEndsAsItShould() {
    sample(40, 7);
  }

  @Test
  @Tag("long")
  void fiveHundredPairsEndAsTheyShould() {
    Map<String, Integer> ends = sample(500, 20261201);
    System.out.println("cross product: " + ends);
    assertTrue(ends.getOrDefault("found", 0) >= 100, ends.toString());
  }

  private Map<String, Integer> sample(int pairs, long seed) {
    Random random = new Random(seed);
    List<String> models = catalog.models().ids();
    List<String> systems = catalog.systems().ids();
    Map<String, Integer> ends = new TreeMap<>();
    List<String> wrong = new ArrayList<>();
    for (int i = 0; i < pairs; i++) {
      String model = models.get(random.nextInt(models.size()));
      String system = systems.get(random.nextInt(systems.size()));
      String end = end(model, system);
      ends.merge(end, 1, Integer::sum);
      if (end.startsWith("wrong")) {
        wrong.add(model + " on " + system + ": " + end);
      }
    }
    assertEquals(List.of(), wrong);
    return ends;
  }

  private String end(String model, String system) {
    String text =
        """
        model: %s
        cluster: {system: %s, gpus: %d}
        training: {global_batch: 128, sequence: 2048}
        limits: {evaluations: 20000}
        """
            .formatted(model, system, GPUS);
    Errors errors = new Errors();
    Section section = YamlReader.parse("request", text, errors);
    try {
      Answer a = new Planner("test", (e, i, b) -> {}).plan(Problems.read(section, catalog));
      if (a.outcome() == Outcome.FOUND && !(a.estimate().stepSeconds() > 0)) {
        return "wrong: " + a.estimate().stepSeconds() + " s";
      }
      if (a.outcome() == Outcome.INFEASIBLE && a.infeasible().core().isEmpty()) {
        return "wrong: no reason";
      }
      return a.outcome().key();
    } catch (NoCostModel e) {
      return "no cost model";
    } catch (InputException e) {
      return "wrong: " + e.getMessage();
    } catch (RuntimeException e) {
      return "wrong: " + e;
    }
  }
}
