package dev.meshplan.optimize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Infeasible;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Problem;
import dev.meshplan.rules.Rule;
import dev.meshplan.view.PlanText;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is said where there is no plan: how near one is, and what is not known. */
class NoPlanTest {
  private static final String REQUEST =
      """
      model: %s
      cluster: {system: %s, %s}
      training: {global_batch: %d, sequence: %d}
      fix: {%s}
      """;

  private static Infeasible why(String yaml) {
    Answer a = PlannerTest.plan(yaml);
    assertEquals(Outcome.INFEASIBLE, a.outcome(), yaml);
    return a.infeasible();
  }

  private static List<String> missed(Infeasible why) {
    return why.nearest().misses().stream().map(Infeasible.Miss::rule).toList();
  }

  /** One kind of request a row: what the nearest plan breaks, and by how much. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          llama-3.1-405b | hgx-h100 | gpus: 8 | 64 | 8192 | | memory | 730 GiB too much
          llama-3.1-405b | hgx-h100 | gpus: 8 | 64 | 8192 | gpus_used: 8 | memory | 730 GiB too much
          llama-3.1-70b | hgx-h100 | gpus: 64 | 128 | 8192 | tp: 16 | tp-inside-block | 8 GPUs beyond the block
          deepseek-v3 | hgx-h100 | gpus: 1024 | 8192 | 4096 | ep: 64 | ep-inside-block | 56 GPUs beyond the block
          llama-3.1-8b | hgx-h100 | gpus: 8 | 64 | 8192 | 'tp: 8, pp: 4' | gpus-available | 24 GPUs too many
          llama-3.1-8b | hgx-h100 | 'healthy: [7, 7]' | 64 | 8192 | 'tp: 4, dp: 3, pp: 1, cp: 1' | pinned-dp |
          llama-3.1-70b | hgx-h100 | gpus: 64 | 100 | 8192 | dp: 8 | pinned-dp |
          llama-3.1-70b | hgx-h100 | gpus: 64 | 128 | 8192 | tp: 7 | pinned-tp |
          gemma-3-12b | l40s-pcie-8 | gpus: 2 | 192 | 8192 | tp: 3 | 'pinned-tp, memory' | , 57.8 GiB too much
          llama-3.1-70b | hgx-h100 | gpus: 64 | 128 | 8191 | 'tp: 7, cp: 2' | 'pinned-tp, pinned-cp' | ,
          """)
  void theNearestPlanBreaksTheFewestAndSoftestRulesAndSaysByHowMuch(
      String model,
      String system,
      String gpus,
      int batch,
      int sequence,
      String fix,
      String rules,
      String excess) {
    String yaml = REQUEST.formatted(model, system, gpus, batch, sequence, fix == null ? "" : fix);
    Problem problem = SmallCase.request(yaml);
    Infeasible why = why(yaml);
    assertEquals(List.of(rules.split(", ")), missed(why), yaml);
    String by =
        String.join(", ", why.nearest().misses().stream().map(Infeasible.Miss::excess).toList());
    assertEquals(excess == null ? "" : excess, by.strip(), yaml);
    // No plan breaks only some of them.
    Trials trials = new Trials(problem, Long.MAX_VALUE, (e, i, b) -> {});
    for (String kept : missed(why)) {
      Set<Rule> rest = new LinkedHashSet<>(Trials.rules(problem));
      rest.removeIf(r -> missed(why).contains(r.id()) && !r.id().equals(kept));
      assertFalse(trials.any(rest).unproven(), yaml + kept);
    }
  }

  @Test
  void aDiagnosisThatRunsOutOfEvaluationsSaysSo() {
    String yaml =
        """
        model: glm-4.5
        cluster: {system: gb200-nvl72, gpus: 64}
        training: {global_batch: 24, sequence: 2048}
        fix: {dp: 4}
        limits: {memory_share: 0.5, evaluations: 3000}
        """;
    Answer answer = PlannerTest.plan(yaml);
    assertEquals(Outcome.INFEASIBLE, answer.outcome());
    assertFalse(answer.infeasible().minimal());
    assertTrue(PlanText.of(answer).contains("was not proven"), PlanText.of(answer));
    // What is named leaves nothing all the same: it is part of what the whole search went through.
    assertFalse(answer.infeasible().core().isEmpty());
  }

  @Test
  void moreGpusAreOfferedOnAsManyDomainsAsTheirGroupsTake() {
    // TP 5 leaves three of eight GPUs idle, so 43 domains are named, not 215 / 8.
    String yaml =
        """
        model: megatron-1t
        cluster: {system: hgx-b200, gpus: %s}
        training: {global_batch: 8, sequence: 1025, precision: fp16}
        objective: energy
        limits: {memory_share: 0.5}
        """;
    Infeasible.Cure cure = why(yaml.formatted("64")).cure();
    assertEquals("cluster.gpus", cure.key());
    assertTrue(cure.change().contains("43 domains"), cure.change());
    assertEquals(Outcome.FOUND, PlannerTest.plan(yaml.formatted(cure.value())).outcome());
  }

  @Test
  void aPinIsCuredByAValueThatARequestMayWrite() {
    for (String fix : List.of("sharding: 3, pp: 2", "recompute: none, micro_batch: 16, pp: 2")) {
      Infeasible why =
          why(REQUEST.formatted("llama-3.1-70b", "hgx-h100", "gpus: 64", 64, 8192, fix));
      String key = why.cure().key().substring("fix.".length());
      String cured = fix.replaceFirst(key + ": \\w+", key + ": " + why.cure().value());
      String yaml = REQUEST.formatted("llama-3.1-70b", "hgx-h100", "gpus: 64", 64, 8192, cured);
      assertEquals(Outcome.FOUND, PlannerTest.plan(yaml).outcome(), yaml);
    }
  }
}
