package dev.meshplan.optimize;

import com.google.ortools.sat.CpModel;
import com.google.ortools.sat.CpSolver;

/**
 * The one way to solve a constraint model: one worker and a fixed seed (the same bytes every time),
 * a limit in deterministic time, and {@code presolve_inclusion_work_limit = 0}, without which 9.15
 * reports wrong optima for large coefficients (google/or-tools #5293).
 */
final class Cp {
  private static final double DETERMINISTIC_LIMIT = 60;

  private Cp() {}

  /** Loads what the first model needs beside other work: it takes a tenth of a second. */
  static void prepare() {
    Thread thread = new Thread(Cp::solveNothing, "constraint-solver");
    thread.setDaemon(true);
    thread.start();
  }

  private static void solveNothing() {
    try {
      CpModel model = model();
      model.newBoolVar("nothing");
      solver().solve(model);
    } catch (RuntimeException | LinkageError e) {
      // Whoever needs the solver meets the same trouble, and says so.
      return;
    }
  }

  static CpModel model() {
    Natives.load();
    return new CpModel();
  }

  static CpSolver solver() {
    CpSolver solver = new CpSolver();
    solver.getParameters().setNumWorkers(1);
    solver.getParameters().setRandomSeed(1);
    solver.getParameters().setPresolveInclusionWorkLimit(0);
    solver.getParameters().setMaxDeterministicTime(DETERMINISTIC_LIMIT);
    return solver;
  }
}
