package dev.meshplan.plan;

import dev.meshplan.model.Model;
import java.util.List;

/** A request with its ids resolved: all that the floors above need. */
public record Problem(
    PlanRequest request, Model model, List<Machine> machines, List<Provenance> provenance) {
  public Problem {
    machines = List.copyOf(machines);
    provenance = List.copyOf(provenance);
  }
}
