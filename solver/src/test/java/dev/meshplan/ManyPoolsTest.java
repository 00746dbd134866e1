package dev.meshplan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Errors;
import dev.meshplan.config.Section;
import dev.meshplan.config.YamlReader;
import dev.meshplan.formats.Export;
import dev.meshplan.formats.Exporters;
import dev.meshplan.formats.Format;
import dev.meshplan.formats.Job;
import dev.meshplan.formats.RankMap;
import dev.meshplan.optimize.Planner;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Problems;
import org.junit.jupiter.api.Test;

/** A cluster of several pools: the plan stands on one, and its launch files are for that one. */
class ManyPoolsTest {
  private static Job job(String cluster) {
    Errors errors = new Errors();
    Section s =
        YamlReader.parse(
            "request.yaml",
            """
            model: mixtral-8x22b
            cluster: %s
            training: {global_batch: 256, sequence: 4096}
            limits: {evaluations: 20000}
            """
                .formatted(cluster),
            errors);
    errors.throwIfAny();
    Problem problem = Problems.read(s, Catalog.open(null));
    Answer answer = new Planner("test", (e, i, b) -> {}).plan(problem);
    return Job.of(answer, problem, "many pools");
  }

  @Test
  void theFilesAreForThePoolThatThePlanStandsOn() {
    Job job = job("[{system: hgx-a100-80, gpus: 32}, {system: gb200-nvl72, gpus: 72}]");
    assertEquals(1, job.answer().plan().placement().pools().get(0).pool());
    assertTrue(RankMap.of(job).stream().allMatch(r -> r.pool() == 1));
    for (Format f : new Format[] {Format.MEGATRON, Format.SLURM, Format.KUBERNETES}) {
      Export e = Exporters.export(f, job, false);
      assertTrue(e.ok(), e.refused());
      String text = e.files().get(0).text();
      assertTrue(text.contains("GPUs of gb200-nvl72"), text);
      assertFalse(text.contains("a100"), text);
    }
    Export slurm = Exporters.export(Format.SLURM, job, false);
    assertTrue(slurm.files().get(0).text().contains("#SBATCH --gpus-per-node=4\n"));
    Export topology = Exporters.export(Format.SLURM_TOPOLOGY, job, false);
    String conf = topology.files().get(1).text();
    assertTrue(conf.contains("BlockName=rack1 Nodes=node[001-018]\nBlockSizes=18\n"), conf);
    assertTrue(conf.contains("only the pool of the plan (gb200-nvl72)"), conf);
  }

  @Test
  void twoPoolsOfOneSystemAreKeptApart() {
    Job job = job("[{system: hgx-h100, gpus: 16, healthy: [4, 4]}, {system: hgx-h100, gpus: 64}]");
    assertEquals(1, job.answer().plan().placement().pools().get(0).pool());
    assertEquals(64, RankMap.of(job).size());
  }
}
