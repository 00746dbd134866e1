package dev.meshplan.config;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** The known names that are nearest to a wrong one. */
public final class Names {
  private Names() {}

  /** At most three names, nearest first; empty when none is near. */
  public static List<String> nearest(String wrong, Collection<String> known) {
    record Scored(String name, int distance) {}
    String w = wrong.toLowerCase(Locale.ROOT);
    List<Scored> scored = new ArrayList<>();
    for (String name : known) {
      String n = name.toLowerCase(Locale.ROOT);
      int d = distance(w, n);
      boolean inside = w.length() >= 3 && (n.contains(w) || w.contains(n));
      if (inside || d <= Math.max(1, Math.max(w.length(), n.length()) / 3)) {
        scored.add(new Scored(name, inside ? Math.min(d, 1) : d));
      }
    }
    scored.sort(Comparator.comparingInt(Scored::distance).thenComparing(Scored::name));
    return scored.stream().limit(3).map(Scored::name).toList();
  }

  /** " Nearest: a, b." or an empty string. */
  public static String hint(String wrong, Collection<String> known) {
    List<String> near = nearest(wrong, known);
    return near.isEmpty() ? "" : " Nearest: " + String.join(", ", near) + ".";
  }

  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int above = row[j];
        int replace = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replace, Math.min(above, row[j - 1]) + 1);
        diagonal = above;
      }
    }
    return row[b.length()];
  }
}
