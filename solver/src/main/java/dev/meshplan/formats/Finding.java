package dev.meshplan.formats;

import dev.meshplan.plan.RuleKind;

/**
 * Something wrong with a configuration.
 *
 * @param id stable name
 * @param kind illegal, does not fit, or kept apart by choice
 * @param checked whether the framework itself refuses at start; false where it fails later or
 *     silently misbehaves
 * @param sentence what is wrong, with the numbers
 * @param says the framework's own words for it; empty where it has none
 * @param cure what to change
 */
public record Finding(
    String id, RuleKind kind, boolean checked, String sentence, String says, String cure) {

  static Finding illegal(String id, String sentence, String says, String cure) {
    return new Finding(id, RuleKind.ILLEGAL, true, sentence, says, cure);
  }

  static Finding unchecked(String id, String sentence, String cure) {
    return new Finding(id, RuleKind.ILLEGAL, false, sentence, "", cure);
  }
}
