package dev.meshplan.optimize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Proof;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is said of a search that is under way or was cut off is true of the whole one. */
class AnytimeTest {
  private static final long WHOLE = 4_000_000;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{model: llama-3.1-405b, cluster: {system: hgx-h100, gpus: 16384},"
            + " training: {global_batch: 2048, sequence: 8192}, limits: {evaluations: %d}}",
        "{model: deepseek-v3, cluster: {system: gb200-nvl72, gpus: 288}, objective: cost,"
            + " training: {global_batch: 4608, sequence: 4096}, limits: {evaluations: %d}}",
        "{model: llama-3.1-405b, cluster: {system: hgx-h100, gpus: 128}, objective: energy,"
            + " training: {global_batch: 64, sequence: 8192}, limits: {evaluations: %d}}",
        "{model: mixtral-8x22b, training: {global_batch: 256, sequence: 4096}, cluster:"
            + " [{system: hgx-h100, gpus: 64}, {system: hgx-a100-80, gpus: 128}],"
            + " locality: priced, limits: {evaluations: %d}}",
      })
  void aLimitGivesAPlanWithATrueGapOrNoPlanWithATrueBound(String yaml) {
    Proof whole = PlannerTest.plan(yaml.formatted(WHOLE)).proof();
    assertEquals(Proof.Status.OPTIMAL, whole.status());
    double optimum = whole.objectiveValue();
    double bound = 0;
    double value = Double.POSITIVE_INFINITY;
    boolean proven = false;
    for (long limit : new long[] {1, 2, 4, 10, 40, 100, 400, whole.evaluated() + 1}) {
      Answer answer = PlannerTest.plan(yaml.formatted(limit));
      Proof p = answer.proof();
      String at = yaml + limit + p;
      assertTrue(p.boundValue() >= bound && p.boundValue() <= optimum, at);
      bound = p.boundValue();
      if (answer.outcome() == Outcome.UNKNOWN) {
        assertEquals(Proof.Status.UNKNOWN, p.status(), at);
        assertNull(p.objectiveValue(), at);
        assertEquals(Double.POSITIVE_INFINITY, value, at);
        continue;
      }
      assertEquals(Outcome.FOUND, answer.outcome(), at);
      assertTrue(p.objectiveValue() >= optimum && p.objectiveValue() <= value, at);
      value = p.objectiveValue();
      assertEquals((value - bound) / value, p.gap(), 1e-12, at);
      proven = p.status() == Proof.Status.OPTIMAL;
      assertTrue(!proven || bound == value, at);
    }
    assertTrue(proven, yaml);
    assertEquals(optimum, value, yaml);
  }

  @Test
  void progressNeverGoesBackAndNeverTellsABoundAboveTheOptimum() {
    List<double[]> told = new ArrayList<>();
    Answer answer =
        new Planner(
                "test",
                (evaluated, incumbent, bound) -> {
                  if (!Double.isNaN(bound)) {
                    told.add(new double[] {incumbent, bound});
                  }
                })
            .plan(
                SmallCase.request(
                    """
                    model: deepseek-v3
                    cluster: {system: gb200-nvl72, gpus: 2304}
                    training: {global_batch: 15360, sequence: 4096, precision: mxfp8}
                    """));
    double optimum = answer.proof().objectiveValue();
    double bound = 0;
    double incumbent = Double.POSITIVE_INFINITY;
    assertFalse(told.isEmpty());
    for (double[] t : told) {
      assertTrue(t[1] >= bound && t[1] <= optimum, () -> t[1] + " of " + optimum);
      bound = t[1];
      if (!Double.isNaN(t[0])) {
        assertTrue(t[0] <= incumbent && t[0] >= optimum, () -> t[0] + " of " + optimum);
        incumbent = t[0];
      }
    }
  }

  @Test
  void whileReasonsAreLookedForNoBestAndNoBoundAreTold() {
    List<double[]> told = new ArrayList<>();
    Answer answer =
        new Planner(
                "test", (evaluated, incumbent, bound) -> told.add(new double[] {incumbent, bound}))
            .plan(
                SmallCase.request(
                    """
                    model: glm-4.5
                    cluster: {system: gb200-nvl72, gpus: 64}
                    training: {global_batch: 24, sequence: 2048}
                    fix: {dp: 4}
                    limits: {memory_share: 0.5}
                    """));
    assertEquals(Outcome.INFEASIBLE, answer.outcome());
    double[] last = told.get(told.size() - 1);
    assertTrue(Double.isNaN(last[0]) && Double.isNaN(last[1]));
  }
}
