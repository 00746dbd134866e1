package dev.meshplan.optimize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Problem;
import dev.meshplan.rules.Point;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SupplyTest {
  private static final List<String> POOLS =
      List.of(
          "gpus: 288",
          "healthy: [70, 66, 64, 60]",
          "healthy: [72, 71, 36, 35, 8, 0]",
          "gpus: 256, spares_per_domain: 8",
          "gpus: 288, blocks: [18, 36]",
          "gpus: 288, cut: [36, 18, 18]");

  /** The search asks sums, the taken column is placed by the constraint model: both must agree. */
  @Test
  void whatCanBePlacedIsWhatTheConstraintModelPlaces() {
    Random random = new Random(11);
    int placed = 0;
    int checked = 0;
    for (String pool : POOLS) {
      Problem problem =
          SmallCase.request(
              """
              model: deepseek-v3
              cluster: {system: gb200-nvl72, %s}
              training: {global_batch: 3840, sequence: 4096}
              """
                  .formatted(pool));
      Space space = new Space(problem, problem.machines().get(0));
      Oracle oracle =
          new Oracle(problem, problem.machines().get(0), space, problem.request().locality());
      for (int i = 0; i < 60; i++) {
        Point p = new Point();
        for (Axis axis : Space.ORDER) {
          int[] values = space.values(axis);
          p.set(axis, values[random.nextInt(values.length)]);
        }
        p.set(Axis.TP, 1 << random.nextInt(4)).set(Axis.CP, 1 + random.nextInt(2));
        p.set(Axis.PP, 1 + random.nextInt(8)).set(Axis.EP, 1 << random.nextInt(7));
        p.set(Axis.DP, 1 + random.nextInt(Math.max(1, 320 / (p.tp() * p.cp() * p.pp()))));
        Found found = new Found(p, 1, 1, oracle.unit(p));
        ColumnModel.Choice choice =
            new ColumnModel(List.of(new ColumnModel.Entry(found, oracle))).solve();
        boolean carried = oracle.facts.placeable().test(p);
        assertEquals(choice != null, carried, pool + " " + p);
        if (carried) {
          int domains = choice.domains().stream().mapToInt(n -> n).sum();
          assertEquals(
              domains, oracle.supply.fewest(p.gpus(), p.block(), found.unit()), pool + " " + p);
          placed++;
        }
        checked++;
      }
    }
    assertTrue(placed > checked / 5 && placed < checked, placed + " of " + checked);
  }
}
