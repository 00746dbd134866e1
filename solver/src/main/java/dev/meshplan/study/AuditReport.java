package dev.meshplan.study;

import dev.meshplan.formats.Finding;
import dev.meshplan.plan.Estimate;
import dev.meshplan.plan.Plan;
import java.util.List;

/**
 * What an audit found.
 *
 * @param kind what the file is
 * @param plan the plan read from it; null when its degrees make none
 * @param findings everything that is wrong, gravest kind first
 * @param estimate of the plan; null when it is illegal in a way that leaves nothing to price
 * @param fit whether it fits the GPU's memory
 * @param memory worst rank and its largest parts, as sentences
 * @param crossings groups that leave their scale-up domain, with what that costs
 * @param best the cheapest plan for the same job; null when none was found or asked for
 * @param bestStepSeconds of it; NaN without one
 * @param gain how much faster it is, as a share of the audited step; NaN without one
 * @param band difference that estimates can't tell apart, as a share
 * @param changes flags to change, as - and + lines
 * @param notes what could not be read, was filled in or left out
 */
public record AuditReport(
    String kind,
    Plan plan,
    List<Finding> findings,
    Estimate estimate,
    Fit fit,
    List<String> memory,
    List<String> crossings,
    Plan best,
    double bestStepSeconds,
    double gain,
    double band,
    List<String> changes,
    List<String> notes) {
  public AuditReport {
    findings = List.copyOf(findings);
    memory = List.copyOf(memory);
    crossings = List.copyOf(crossings);
    changes = List.copyOf(changes);
    notes = List.copyOf(notes);
  }

  /** How a plan stands in memory. */
  public enum Fit implements dev.meshplan.config.Keyed {
    FITS,
    /** Above the safe share, not above what the device has (2% of slack). */
    TIGHT,
    DOES_NOT_FIT,
    UNKNOWN
  }

  /** Whether the framework itself refuses at start. */
  public boolean refused() {
    return findings.stream().anyMatch(Finding::checked);
  }

  /** 0 fine, 5 slower than the best beyond the band, 6 does not fit, 7 illegal: the gravest. */
  public int exitCode() {
    if (findings.stream().anyMatch(f -> f.kind() == dev.meshplan.plan.RuleKind.ILLEGAL)) {
      return 7;
    }
    if (fit == Fit.DOES_NOT_FIT
        || findings.stream().anyMatch(f -> f.kind() == dev.meshplan.plan.RuleKind.DOES_NOT_FIT)) {
      return 6;
    }
    return gain > band ? 5 : 0;
  }
}
