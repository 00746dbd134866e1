package dev.meshplan.hardware;

import java.util.Arrays;

/**
 * How many rings through all members of a group fit at once onto direct links, every hop of every
 * ring with a link of its own: what a collective library looks for when it cuts its channels. Each
 * ring is run both ways.
 */
final class DirectRings {
  /** More than any server with direct links takes; beyond it the best that was found counts. */
  private static final int MOST_TRIES = 200_000;

  private final int[][] free;
  private final int most;
  private int best;
  private int tries;

  private DirectRings(int[][] links) {
    free = Arrays.stream(links).map(int[]::clone).toArray(int[][]::new);
    most = fewest();
  }

  /**
   * Links that every member sends over when all rings run.
   *
   * @param links links between members, symmetric
   * @return 0 where no ring of direct links joins all members
   */
  static int links(int[][] links) {
    int n = links.length;
    int first = links[0][1];
    boolean even = true;
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < i; j++) {
        even &= links[i][j] == first;
      }
    }
    if (even) {
      return (n - 1) * first;
    }
    DirectRings search = new DirectRings(links);
    search.extend(0, new int[n], 1);
    return 2 * search.best;
  }

  /** Rings that the member with the fewest free links still allows. */
  private int fewest() {
    return Arrays.stream(free).mapToInt(row -> Arrays.stream(row).sum()).min().orElse(0) / 2;
  }

  /**
   * Adds members to a ring that starts at the first one, then begins the next ring.
   *
   * @param rings finished
   * @param ring members so far, the first {@code length} of the array
   */
  private void extend(int rings, int[] ring, int length) {
    if (best == most || ++tries > MOST_TRIES || (length == 1 && rings + fewest() <= best)) {
      return;
    }
    int at = ring[length - 1];
    if (length == ring.length) {
      if (free[at][0] > 0) {
        take(at, 0, 1);
        best = Math.max(best, rings + 1);
        extend(rings + 1, new int[ring.length], 1);
        take(at, 0, -1);
      }
      return;
    }
    for (int next = 1; next < ring.length; next++) {
      if (free[at][next] > 0 && !contains(ring, length, next)) {
        take(at, next, 1);
        ring[length] = next;
        extend(rings, ring, length + 1);
        take(at, next, -1);
      }
    }
  }

  private static boolean contains(int[] ring, int length, int member) {
    for (int i = 0; i < length; i++) {
      if (ring[i] == member) {
        return true;
      }
    }
    return false;
  }

  private void take(int a, int b, int links) {
    free[a][b] -= links;
    free[b][a] -= links;
  }
}
