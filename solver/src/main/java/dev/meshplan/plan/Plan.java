package dev.meshplan.plan;

import java.util.List;

/** How the work is laid out. */
public record Plan(
    Dims dims,
    Batch batch,
    Schedule schedule,
    MemoryPlan memory,
    List<Stage> stages,
    boolean cpInside,
    Placement placement) {
  public Plan {
    stages = List.copyOf(stages);
  }

  /** The plan without layout and placement. */
  public Candidate candidate() {
    return new Candidate(dims, batch, schedule, memory, placement.blockGpus(), cpInside);
  }
}
