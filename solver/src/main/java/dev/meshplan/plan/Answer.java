package dev.meshplan.plan;

import java.util.ArrayList;
import java.util.List;

/** The one record: enough to print, export, place and explain from alone. */
public record Answer(
    String version,
    PlanRequest request,
    Outcome outcome,
    Proof proof,
    Plan plan,
    Estimate estimate,
    List<Alternative> alternatives,
    List<RuleVerdict> rules,
    Infeasible infeasible,
    LocalityNote priced,
    List<Tally> tally,
    List<Provenance> provenance,
    List<String> notes) {
  public Answer {
    alternatives = List.copyOf(alternatives);
    rules = List.copyOf(rules);
    tally = List.copyOf(tally);
    provenance = List.copyOf(provenance);
    notes = List.copyOf(notes);
  }

  /** The same with one more remark. */
  public Answer withNote(String note) {
    List<String> more = new ArrayList<>(notes);
    more.add(note);
    return new Answer(
        version,
        request,
        outcome,
        proof,
        plan,
        estimate,
        alternatives,
        rules,
        infeasible,
        priced,
        tally,
        provenance,
        more);
  }
}
