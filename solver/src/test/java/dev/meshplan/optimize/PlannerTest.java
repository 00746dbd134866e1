package dev.meshplan.optimize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Text;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Proof;
import dev.meshplan.plan.Tally;
import org.junit.jupiter.api.Test;

class PlannerTest {
  private static final String LARGE_DENSE =
      """
      model: llama-3.1-405b
      cluster: {system: hgx-h100, gpus: 16384}
      training: {global_batch: 2048, sequence: 8192}
      """;
  private static final String LARGE_MOE =
      """
      model: deepseek-v3
      cluster: {system: gb200-nvl72, gpus: 2304}
      training: {global_batch: 15360, sequence: 4096, precision: mxfp8}
      """;

  static Answer plan(String yaml) {
    return plan(SmallCase.request(yaml));
  }

  static Answer plan(Problem problem) {
    return new Planner("test", (evaluated, incumbent, bound) -> {}).plan(problem);
  }

  @Test
  void largeClustersAreProvenWithinTheirEvaluationBudgets() {
    for (String yaml : new String[] {LARGE_DENSE, LARGE_MOE}) {
      Answer answer = plan(yaml);
      assertEquals(Proof.Status.OPTIMAL, answer.proof().status());
      assertTrue(answer.proof().evaluated() <= 250_000, () -> "" + answer.proof().evaluated());
      assertEquals(
          answer.proof().candidates(), answer.tally().stream().mapToLong(Tally::candidates).sum());
    }
  }

  @Test
  void theSameRequestGivesTheSameAnswerTwice() {
    String yaml =
        """
        model: mixtral-8x22b
        cluster: {system: hgx-h100, gpus: 64}
        training: {global_batch: 256, sequence: 4096}
        """;
    assertEquals(Text.json(plan(yaml)), Text.json(plan(yaml)));
  }

  @Test
  void theConstraintModelOfTheRulesConfirmsAnAnswer() {
    Problem problem =
        SmallCase.request(
            """
            model: llama-3.1-70b
            cluster: {system: hgx-h100, gpus: 64}
            training: {global_batch: 128, sequence: 8192}
            """);
    Answer answer = new Planner("test", (evaluated, incumbent, bound) -> {}, true).plan(problem);
    assertTrue(
        answer.notes().stream().anyMatch(n -> n.startsWith("Verified: ")),
        () -> answer.notes().toString());
  }

  @Test
  void anEvaluationLimitGivesAPlanWithAGapOrNone() {
    Answer few =
        plan(
            """
            model: llama-3.1-405b
            cluster: {system: hgx-h100, gpus: 1024}
            training: {global_batch: 512, sequence: 8192}
            limits: {evaluations: 300}
            """);
    assertEquals(Outcome.FOUND, few.outcome());
    assertEquals(Proof.Status.FEASIBLE, few.proof().status());
    assertTrue(few.proof().gap() > 0 && few.proof().boundValue() < few.proof().objectiveValue());
    Answer one =
        plan(
            """
            model: llama-3.1-405b
            cluster: {system: hgx-h100, gpus: 1024}
            training: {global_batch: 512, sequence: 8192}
            fix: {micro_batch: 8, recompute: none}
            limits: {evaluations: 2}
            """);
    assertEquals(Outcome.UNKNOWN, one.outcome());
    assertEquals(Proof.Status.UNKNOWN, one.proof().status());
    assertNotNull(one.proof().boundValue());
  }
}
