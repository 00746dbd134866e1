package dev.meshplan.hardware;

import dev.meshplan.config.Section;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What joins two GPUs of a mesh whose pairs differ, written {@code 0-3x2}: two links between GPUs 0
 * and 3.
 *
 * @param a the lower GPU, counted inside the domain
 * @param b the higher one
 * @param count links of {@code pair_bandwidth} each
 */
public record DirectLink(int a, int b, int count) {
  private static final Pattern WRITTEN = Pattern.compile("(\\d{1,6})-(\\d{1,6})(?:x(\\d{1,3}))?");

  /** Reads the list; what is wrong in it goes to the section's errors. */
  static List<DirectLink> read(Section s, List<String> texts, SystemSpec.Fabric kind, int size) {
    List<DirectLink> links = new ArrayList<>();
    Set<Long> seen = new HashSet<>();
    for (String text : texts) {
      Matcher m = WRITTEN.matcher(text);
      if (!m.matches()) {
        s.error("links", text + " is no link: write 0-3, or 0-3x2 for two links.");
        continue;
      }
      int first = Integer.parseInt(m.group(1));
      int second = Integer.parseInt(m.group(2));
      int count = m.group(3) == null ? 1 : Integer.parseInt(m.group(3));
      DirectLink link = new DirectLink(Math.min(first, second), Math.max(first, second), count);
      if (link.a == link.b || link.b >= size || count == 0) {
        s.error("links", text + " must join two GPUs from 0 to " + (size - 1) + ".");
      } else if (!seen.add((long) link.a * size + link.b)) {
        s.error("links", text + " is named twice.");
      } else {
        links.add(link);
      }
    }
    if (!links.isEmpty() && kind != SystemSpec.Fabric.MESH) {
      s.error("links", "are of a mesh: kind must be mesh.");
    }
    return links;
  }

  /** The most links that one GPU has. */
  static int most(List<DirectLink> links, int size) {
    if (links.isEmpty()) {
      return 0;
    }
    int[] degree = new int[size];
    for (DirectLink l : links) {
      degree[l.a] += l.count;
      degree[l.b] += l.count;
    }
    return Arrays.stream(degree).max().orElse(0);
  }
}
