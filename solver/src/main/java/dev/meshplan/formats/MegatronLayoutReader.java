package dev.meshplan.formats;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads Megatron-LM's layout strings. {@code (..)*n} does not nest; {@code x*n} repeats one symbol.
 */
final class MegatronLayoutReader {
  private static final Pattern GROUP = Pattern.compile("\\(([^()]*)\\)\\*(\\d{1,4})");
  private static final Pattern SYMBOL = Pattern.compile("([A-Za-z|])\\*(\\d{1,4})");

  private MegatronLayoutReader() {}

  /** Symbols of every stage, in order. */
  static List<String> stages(String layout) {
    String s = repeat(GROUP, layout.replace(",", "").replace(" ", ""));
    s = repeat(SYMBOL, s);
    return new ArrayList<>(List.of(s.split("\\|", -1)));
  }

  private static String repeat(Pattern pattern, String text) {
    Matcher m = pattern.matcher(text);
    StringBuilder out = new StringBuilder();
    while (m.find()) {
      String times = m.group(1).repeat(Integer.parseInt(m.group(2)));
      m.appendReplacement(out, Matcher.quoteReplacement(times));
    }
    return m.appendTail(out).toString();
  }

  /** What Megatron-LM refuses in it; empty when it is right. */
  static List<Finding> check(String layout, int layers, int mtp, int pp) {
    List<Finding> out = new ArrayList<>();
    List<String> stages = stages(layout);
    String all = String.join("", stages);
    String bad = all.replaceAll("[EtmL]", "");
    if (!bad.isEmpty()) {
      out.add(
          finding(
              "has the symbol " + bad.charAt(0) + "; it knows E, t, m, L",
              "Invalid layer character: " + bad.charAt(0)));
      return out;
    }
    if (stages.size() % pp != 0) {
      out.add(
          finding(
              "has " + stages.size() + " stages, which pp " + pp + " does not divide",
              "pipeline_model_parallel_layout: number of stages must be divisible by"
                  + " pipeline-model-parallel-size"));
    }
    if (!all.startsWith("E") || count(all, 'E') != 1) {
      out.add(finding("must start with the one E", "first layer must be embedding"));
    }
    if (!all.endsWith("L") || count(all, 'L') != 1) {
      out.add(finding("must end with the one L", "last layer must be loss"));
    }
    if (count(all, 't') != layers) {
      out.add(
          finding(
              "has " + count(all, 't') + " layers, the model " + layers,
              "number of decoder layers in the layout must match num_layers"));
    }
    if (count(all, 'm') != mtp) {
      out.add(
          finding(
              "has " + count(all, 'm') + " MTP layers, the model " + mtp,
              "number of mtp layers must match mtp_num_layers"));
    }
    if (all.indexOf('m') >= 0 && all.lastIndexOf('t') > all.indexOf('m')) {
      out.add(finding("has layers after MTP", "mtp must come after all decoder layers"));
    }
    if (stages.stream().filter(s -> s.indexOf('m') >= 0).count() > 1) {
      out.add(finding("splits MTP over stages", "mtp layers must be in one stage"));
    }
    return out;
  }

  private static long count(String s, char c) {
    return s.chars().filter(x -> x == c).count();
  }

  private static Finding finding(String what, String says) {
    return Finding.illegal("layout", "the pipeline layout " + what, says, "correct the layout");
  }
}
