package dev.meshplan.optimize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Infeasible;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Plan;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.RuleKind;
import dev.meshplan.plan.Tally;
import dev.meshplan.rules.Rule;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the constraint model and the diagnosis decide. */
class DecisionsTest {
  private static final String INFEASIBLE_405B =
      """
      model: llama-3.1-405b
      cluster: {system: hgx-h100, gpus: 8}
      training: {global_batch: 64, sequence: 8192}
      """;
  private static final String TP_16 =
      """
      model: llama-3.1-70b
      cluster: {system: hgx-h100, gpus: 64}
      training: {global_batch: 128, sequence: 8192}
      fix: {tp: 16}
      """;
  private static final String TP_7 =
      """
      model: llama-3.1-70b
      cluster: {system: hgx-h100, gpus: 64}
      training: {global_batch: 128, sequence: 8192}
      fix: {tp: 7}
      """;
  private static final String BATCH_100 =
      """
      model: llama-3.1-70b
      cluster: {system: hgx-h100, gpus: 64}
      training: {global_batch: 100, sequence: 8192}
      fix: {dp: 8}
      """;

  @Test
  void racksThatCannotCarryTheCheapestColumnMakeTheConstraintModelChooseAnother() {
    String yaml =
        """
        model: deepseek-v3
        cluster: {system: gb200-nvl72, %s}
        training: {global_batch: 3840, sequence: 4096, precision: mxfp8}
        fix: {ep: 64%s}
        """;
    Answer whole = PlannerTest.plan(yaml.formatted("gpus: 288", ""));
    assertEquals(256, whole.plan().placement().gpusUsed());
    Answer faulty = PlannerTest.plan(yaml.formatted("healthy: [70, 66, 64, 60]", ""));
    assertEquals(192, faulty.plan().placement().gpusUsed());
    assertEquals(3, faulty.plan().placement().domainsUsed());
    assertTrue(faulty.proof().objectiveValue() > whole.proof().objectiveValue());
    assertTrue(
        faulty.tally().stream()
                .filter(t -> t.id().equals("blocks-available"))
                .mapToLong(Tally::candidates)
                .sum()
            > 0);
    Answer pinned =
        PlannerTest.plan(yaml.formatted("healthy: [70, 66, 64, 60]", ", gpus_used: 256"));
    assertEquals(Outcome.INFEASIBLE, pinned.outcome());
    assertTrue(
        ids(pinned.infeasible()).contains("blocks-available"), ids(pinned.infeasible())::toString);
  }

  @Test
  void theCheapestPoolOfSeveralIsTaken() {
    String yaml =
        """
        model: llama-3.1-70b
        cluster:
          - {system: hgx-a100-80, gpus: 64}
          - {system: hgx-h100, gpus: %d}
        training: {global_batch: 128, sequence: 8192}
        """;
    assertEquals("hgx-h100", system(PlannerTest.plan(yaml.formatted(64)).plan()));
    assertEquals("hgx-a100-80", system(PlannerTest.plan(yaml.formatted(8)).plan()));
  }

  private static String system(Plan plan) {
    return plan.placement().pools().get(0).system();
  }

  @Test
  void allPartsOfACutThatCarryTheGroupsWork() {
    String yaml =
        """
        model: deepseek-v3
        cluster: {system: gb200-nvl72, gpus: 288, %s}
        training: {global_batch: 4096, sequence: 4096, precision: mxfp8}
        fix: {ep: 16, tp: 1, cp: 1, pp: 8, micro_batch: 1}
        """;
    Plan cut = PlannerTest.plan(yaml.formatted("cut: [36, 18, 18]")).plan();
    Plan eighteen = PlannerTest.plan(yaml.formatted("blocks: [18]")).plan();
    assertEquals(256, cut.placement().gpusUsed());
    assertEquals(eighteen.placement().gpusUsed(), cut.placement().gpusUsed());
    // Nine trays of four make four blocks of 18 only because boards of two GPUs may be split.
    assertEquals(4, eighteen.placement().domainsUsed());
  }

  @Test
  void timeCostAndEnergyChooseDifferently() {
    String yaml =
        """
        model: llama-3.1-8b
        cluster: {system: gb200-nvl72, gpus: 144}
        training: {global_batch: 72, sequence: 4096}
        objective: %s
        """;
    long time = used(yaml, "time");
    long cost = used(yaml, "cost");
    long energy = used(yaml, "energy");
    assertNotEquals(time, cost);
    assertNotEquals(cost, energy);
    assertNotEquals(time, energy);
  }

  private static long used(String yaml, String objective) {
    return PlannerTest.plan(yaml.formatted(objective)).plan().placement().gpusUsed();
  }

  @Test
  void aCoreLeavesNothingAndWithoutAnyOfItsRulesSomething() {
    for (String yaml : List.of(INFEASIBLE_405B, TP_16, TP_7, BATCH_100)) {
      Problem problem = SmallCase.request(yaml);
      List<String> ids = ids(PlannerTest.plan(problem).infeasible());
      List<Rule> all = Trials.rules(problem);
      Set<Rule> core = new LinkedHashSet<>(all);
      // What the framework refuses is given where memory is asked, and named where it is not.
      boolean memory = ids.contains("memory");
      core.removeIf(r -> !ids.contains(r.id()) && !(memory && r.kind() == RuleKind.ILLEGAL));
      Trials trials = new Trials(problem, Trials.MOST_EVALUATIONS, (e, i, b) -> {});
      assertFalse(trials.any(core).unproven(), yaml);
      for (Rule r : all.stream().filter(r -> ids.contains(r.id())).toList()) {
        Set<Rule> without = new LinkedHashSet<>(core);
        without.remove(r);
        assertTrue(trials.any(without).found(), yaml + r.id());
      }
    }
  }

  @Test
  void coresNameTheChoicesThatUsersMade() {
    assertEquals(List.of("gpus-available", "memory"), ids(INFEASIBLE_405B));
    assertEquals(List.of("tp-inside-block", "pinned-tp"), ids(TP_16));
    assertEquals(List.of("heads", "pinned-tp"), ids(TP_7));
    assertEquals(List.of("batch-product", "pinned-dp"), ids(BATCH_100));
  }

  @Test
  void aPlanKeptApartIsPricedAndTheCureWorksWhenTried() {
    Answer answer = PlannerTest.plan(TP_16);
    assertNotNull(answer.priced());
    assertEquals("TP 16", answer.priced().group());
    for (String yaml : List.of(INFEASIBLE_405B, TP_16, TP_7, BATCH_100)) {
      Infeasible.Cure cure = PlannerTest.plan(yaml).infeasible().cure();
      assertNotNull(cure, yaml);
      String cured =
          cure.key().equals("cluster.gpus")
              ? yaml.replace("gpus: 8}", "gpus: " + cure.value() + "}")
              : yaml.replaceFirst(
                  "fix: \\{.*\\}", "fix: {" + cure.key().substring(4) + ": " + cure.value() + "}");
      assertEquals(Outcome.FOUND, PlannerTest.plan(cured).outcome(), cured);
    }
  }

  private static List<String> ids(String yaml) {
    return ids(PlannerTest.plan(yaml).infeasible());
  }

  private static List<String> ids(Infeasible infeasible) {
    return infeasible.core().stream().map(Infeasible.CoreRule::id).toList();
  }
}
