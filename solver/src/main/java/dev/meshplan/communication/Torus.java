package dev.meshplan.communication;

import dev.meshplan.hardware.SystemSpec;
import java.util.List;

/** Ring bandwidth of consecutive ranks in a torus. */
final class Torus {
  private Torus() {}

  /**
   * A rank has two links per axis. A group that is part of one axis is a line: a ring folded onto
   * it uses every link once each way, so one link's worth. A whole axis closes and gives two. Every
   * further whole axis adds two.
   *
   * @param whole bytes per second of all links of a rank, one way
   * @return bytes per second and rank, one way
   */
  static double bandwidth(SystemSpec.Domain d, double whole, int ranks) {
    List<Integer> axes = d.axes().isEmpty() ? square(d.size()) : d.axes();
    double link = whole / (2.0 * axes.size());
    int rest = ranks;
    double links = 0;
    for (int length : axes) {
      if (rest % length == 0 && length > 1) {
        links += 2;
        rest /= length;
      } else {
        links += rest > 1 ? 1 : 0;
        break;
      }
    }
    return link * Math.max(1, links);
  }

  private static List<Integer> square(int size) {
    int a = (int) Math.floor(Math.sqrt(size));
    while (size % a != 0) {
      a--;
    }
    return List.of(a, size / a);
  }
}
