package dev.meshplan.study;

import java.util.Map;

/**
 * A configuration to audit, and what it does not say itself.
 *
 * @param file names it in messages
 * @param text of it
 * @param system id or file of the system it runs on
 * @param network id or file of the network; empty = the system's usual one
 * @param gpus of the job
 * @param model id or file; empty = the shape in the configuration
 * @param sequence tokens per sequence, where the configuration does not say; 0 = not given
 * @param launch text of the launch script beside a DeepSpeed JSON; empty = none
 * @param given values of variables that win over the script's own
 */
public record AuditQuestion(
    String file,
    String text,
    String system,
    String network,
    int gpus,
    String model,
    int sequence,
    String launch,
    Map<String, String> given) {
  public AuditQuestion {
    given = Map.copyOf(given);
  }

  /** A question about a file that says the rest itself. */
  public static AuditQuestion of(String file, String text, String system, int gpus, String model) {
    return new AuditQuestion(file, text, system, "", gpus, model, 0, "", Map.of());
  }
}
