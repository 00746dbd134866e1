package dev.meshplan.formats;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.regex.Pattern;

/** JSON as people write it: with comments and trailing commas, which its readers refuse. */
final class JsonText {
  private static final Pattern STRING_OR_COMMENT =
      Pattern.compile("(?s)\"(?:\\\\.|[^\"\\\\])*\"|//[^\\n]*|/\\*.*?\\*/|(?<=[\\s,{\\[])#[^\\n]*");
  private static final Pattern TRAILING = Pattern.compile(",(\\s*[}\\]])");

  private JsonText() {}

  /** The text without both; adds a finding when it is no JSON as it stands. */
  static String strict(String text, List<Finding> findings) {
    try {
      new ObjectMapper().readTree(text);
      return text;
    } catch (JsonProcessingException e) {
      JsonLocation at = e.getLocation();
      String bare =
          STRING_OR_COMMENT
              .matcher(text)
              .replaceAll(
                  m ->
                      m.group().startsWith("\"")
                          ? java.util.regex.Matcher.quoteReplacement(m.group())
                          : " ");
      bare = TRAILING.matcher(bare).replaceAll("$1");
      findings.add(
          Finding.illegal(
              "json-syntax",
              "line "
                  + (at == null ? 1 : at.getLineNr())
                  + " is no JSON (a comment, a trailing comma, a missing quote or a bare word)",
              "json.decoder.JSONDecodeError",
              "write plain JSON; it is read here as far as it can be"));
      return bare;
    }
  }
}
