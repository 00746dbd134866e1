package dev.meshplan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.config.Section;
import dev.meshplan.config.YamlReader;
import dev.meshplan.formats.DeepSpeedReader;
import dev.meshplan.formats.Export;
import dev.meshplan.formats.Exporters;
import dev.meshplan.formats.Finding;
import dev.meshplan.formats.ForeignPlan;
import dev.meshplan.formats.Format;
import dev.meshplan.formats.Job;
import dev.meshplan.formats.MegatronReader;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.model.Model;
import dev.meshplan.optimize.Planner;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Outcome;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Problems;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A plan that is found for a framework can be written for it, and reads back as the same plan with
 * nothing that the framework refuses. On 2026-12-01 the code of Megatron-LM d98e8a64 and DeepSpeed
 * edaa7221 accepted all that was written of 200 such plans.
 */
class FoundPlansLaunchTest {
  private static final List<String> SYSTEMS =
      List.of("hgx-h100", "hgx-a100-80", "hgx-b200", "gb200-nvl72", "hgx-h200", "gb300-nvl72");
  private final Catalog catalog = Catalog.open(null);

  @Test
  void twentyRandomPlansLaunch() {
    launch(20, 3, 2_000);
  }

  @Test
  @Tag("long")
  void fourHundredRandomPlansLaunch() {
    launch(400, 4, 20_000);
  }

  private void launch(int requests, long seed, int evaluations) {
    Random random = new Random(seed);
    int written = 0;
    for (int i = 0; i < requests; i++) {
      String yaml = yaml(random, evaluations);
      Errors errors = new Errors();
      Section section = YamlReader.parse("request", yaml, errors);
      Problem problem;
      Answer answer;
      try {
        problem = Problems.read(section, catalog);
        answer = new Planner("test", (e, b, n) -> {}).plan(problem);
      } catch (NoCostModel | InputException known) {
        // A format or power figure that the machine lacks: other tests hold what is said of it.
        continue;
      }
      if (answer.outcome() == Outcome.FOUND) {
        written += written(Job.of(answer, problem, "job"), problem, yaml);
      }
    }
    assertTrue(written > requests / 2, written + " of " + requests);
  }

  /** 1 when the plan was written and read back; 0 when the model has no flags. */
  private static int written(Job job, Problem problem, String yaml) {
    boolean deepspeed = yaml.contains("framework: deepspeed");
    Export e = Exporters.export(deepspeed ? Format.DEEPSPEED : Format.MEGATRON, job, false);
    if (deepspeed) {
      assertTrue(e.ok(), yaml + e.refused());
    } else if (!e.ok()) {
      // The shape of some models has no flags; Megatron-Bridge builds them, but for ALiBi.
      assertTrue(
          job.model().positions() == Model.Positions.ALIBI
              || Exporters.export(Format.MEGATRON_BRIDGE, job, false).ok(),
          yaml + e.refused());
      return 0;
    }
    String text = e.files().get(0).text();
    Dims d = job.answer().plan().dims();
    int world = (int) d.gpus();
    boolean blackwell = problem.machines().get(0).gpu().architecture().blackwell();
    ForeignPlan back =
        deepspeed
            ? DeepSpeedReader.read("ds", text, world, d.tp(), d.pp(), d.cp(), problem.model(), 4096)
            : MegatronReader.read("sh", text, world, blackwell ? 10 : 9, Map.of());
    List<Finding> refused = back.findings().stream().filter(Finding::checked).toList();
    assertEquals(List.of(), refused, yaml + text);
    assertEquals(job.answer().plan().batch(), back.batch(), yaml);
    if (!deepspeed) {
      assertEquals(d, back.dims(), yaml);
      assertEquals(
          job.answer().plan().stages().stream().map(s -> s.layers()).toList(),
          back.stageLayers(),
          yaml);
    }
    return 1;
  }

  private String yaml(Random random, int evaluations) {
    List<String> models = catalog.models().ids();
    return """
        model: %s
        cluster: {system: %s, gpus: %d}
        training: {global_batch: %d, sequence: %d, framework: %s, a2a_overlap: %s}
        objective: %s
        locality: %s
        limits: {evaluations: %d}
        """
        .formatted(
            models.get(random.nextInt(models.size())),
            SYSTEMS.get(random.nextInt(SYSTEMS.size())),
            (1 + random.nextInt(3)) << (3 + random.nextInt(8)),
            (1 + random.nextInt(3)) << (4 + random.nextInt(8)),
            1024 << random.nextInt(5),
            random.nextBoolean() ? "deepspeed" : "megatron",
            random.nextInt(4) == 0,
            List.of("time", "cost", "energy").get(random.nextInt(3)),
            random.nextBoolean() ? "strict" : "priced",
            evaluations);
  }
}
