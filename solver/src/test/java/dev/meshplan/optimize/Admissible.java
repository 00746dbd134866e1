package dev.meshplan.optimize;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.estimate.Spread;
import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Problem;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import java.util.List;
import java.util.Random;

/** Compares bounds with prices on random points of a request's space. */
final class Admissible {
  private Admissible() {}

  /** Checks what is legal among so many random points; returns how many were. */
  static int check(Problem problem, Random random, int points) {
    Space space = new Space(problem, problem.machines().get(0));
    Oracle oracle =
        new Oracle(problem, problem.machines().get(0), space, problem.request().locality());
    List<Rule> rules =
        Outcomes.rules(problem, space).stream().filter(r -> !r.id().equals("memory")).toList();
    Bounds bounds = new Bounds(oracle, space, new Census(oracle.facts, rules));
    int legal = 0;
    for (int i = 0; i < points; i++) {
      Point p = legal(space, oracle, rules, random);
      if (p == null) {
        continue;
      }
      legal++;
      Spread spread = oracle.spread(p);
      Layers.Laid laid = oracle.layers.lay(p, spread, false);
      double cost = oracle.value(p, laid.seconds());
      String at = problem.model().id() + " " + oracle.facts.candidate(p) + " costs " + cost;
      double most = cost * (1 + 1e-12);
      double layers = bounds.layers(p.copy(), spread, p.vpp());
      assertTrue(layers <= most, () -> at + ", bounded by layers " + layers);
      double closed = oracle.value(p, oracle.layers.closedSeconds(p, spread));
      assertTrue(closed <= most, () -> at + ", bounded by its closed form " + closed);
      double inner = bounds.inner(p.copy(), spread, -1);
      assertTrue(inner <= most, () -> at + ", bounded by inner " + inner);
      double experts = bounds.experts(p.copy(), -1);
      assertTrue(experts <= most, () -> at + ", bounded by experts " + experts);
      double shape = bounds.shape(p.copy());
      assertTrue(shape <= most, () -> at + ", bounded by shape " + shape);
      double bytes = oracle.bytes(p, laid.layout()) * (1 + 1e-12);
      bounds.fitting(p.copy(), bounds.leastMicroBatch());
      assertTrue(bounds.leastBytes <= bytes, () -> at + ", least " + bounds.leastBytes);
      bounds.fitting(p.copy(), p.microBatch());
      assertTrue(bounds.leastBytes <= bytes, () -> at + ", least " + bounds.leastBytes);
      assertTrue(bytes > oracle.facts.limitBytes() || bounds.mayFit(p), () -> at + ", fits");
    }
    return legal;
  }

  /** A random point that obeys the rules, bound axis by axis; null after a dead end. */
  private static Point legal(Space space, Oracle oracle, List<Rule> rules, Random random) {
    Census census = new Census(oracle.facts, rules);
    Point p = new Point();
    for (Axis axis : Space.ORDER) {
      int[] values = space.values(axis);
      boolean found = false;
      for (int tries = 0; tries < 8 && !found; tries++) {
        p.set(axis, values[random.nextInt(values.length)]);
        found = census.permits(axis, p);
      }
      if (!found) {
        return null;
      }
    }
    return p;
  }
}
