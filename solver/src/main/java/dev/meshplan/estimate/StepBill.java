package dev.meshplan.estimate;

import dev.meshplan.plan.TimeTerm;
import dev.meshplan.units.Basis;
import java.util.List;

/** A step's seconds, term by term; exposed seconds add up to {@code stepSeconds}. */
public record StepBill(double stepSeconds, List<TimeTerm> terms, Basis basis) {
  public StepBill {
    terms = List.copyOf(terms);
  }
}
