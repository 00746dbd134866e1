package dev.meshplan.communication;

import dev.meshplan.hardware.SystemSpec;
import java.util.List;

/** Bandwidths of consecutive ranks in a torus. */
final class Torus {
  private Torus() {}

  /**
   * A rank has two links per axis. A group that is part of one axis is a line: a ring folded onto
   * it uses every link once each way, so one link's worth. A whole axis closes and gives two. Every
   * further whole axis adds two. An exchange of all with all is bound by the cut through the middle
   * of an axis: a line of length r has one link there for r/2 x r/2 pairs, a closed axis has two.
   *
   * @param whole bytes per second of all links of a rank, one way
   * @return bytes per second and rank, one way
   */
  static Wire.Rates rates(SystemSpec.Domain d, double whole, int ranks) {
    List<Integer> axes = d.axes().isEmpty() ? square(d.size()) : d.axes();
    double link = whole / (2.0 * axes.size());
    int rest = ranks;
    double links = 0;
    double cut = Double.POSITIVE_INFINITY;
    for (int length : axes) {
      boolean closed = rest % length == 0 && length > 1;
      int along = closed ? length : Math.min(rest, length);
      if (along > 1) {
        int half = along / 2;
        double pairs = 1.0 * half * (along - half) / along * ranks / (ranks - 1);
        cut = Math.min(cut, (closed ? 2 : 1) / pairs);
      }
      if (closed) {
        links += 2;
        rest /= length;
      } else {
        links += rest > 1 ? 1 : 0;
        break;
      }
    }
    return new Wire.Rates(link * Math.max(1, links), Math.min(link * cut, whole), link, whole);
  }

  private static List<Integer> square(int size) {
    int a = (int) Math.floor(Math.sqrt(size));
    while (size % a != 0) {
      a--;
    }
    return List.of(a, size / a);
  }
}
