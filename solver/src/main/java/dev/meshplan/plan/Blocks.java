package dev.meshplan.plan;

/**
 * How ranks fill blocks: floor(b / L) x L consecutive ranks of a block of b GPUs work, where L is
 * the smallest number of ranks that holds whole TP (and CP, where kept inside) and whole EP groups.
 */
public final class Blocks {
  private Blocks() {}

  /**
   * Ranks that must stay together in a block of {@code block} GPUs: L. A group larger than the
   * block crosses it with equally many ranks in each: its largest divisor that fits takes its
   * place.
   */
  public static long unit(int tp, int cp, int ep, int etp, boolean cpInside, int block) {
    long dense = share((long) tp * (cpInside ? cp : 1), block);
    long expert = share((long) etp * ep, block);
    return dense / gcd(dense, expert) * expert;
  }

  /** The unit of a plan's degrees. */
  public static long unit(Dims d, boolean cpInside, int block) {
    return unit(d.tp(), d.cp(), d.ep(), d.etp(), cpInside, block);
  }

  /** Ranks that work in a block (or whole domain) of {@code gpus} GPUs; 0 when no unit fits. */
  public static int working(int gpus, long unit) {
    return (int) (gpus / unit * unit);
  }

  private static long share(long group, int block) {
    if (group <= block) {
      return group;
    }
    for (long d = block; d > 1; d--) {
      if (group % d == 0) {
        return d;
      }
    }
    return 1;
  }

  static long gcd(long a, long b) {
    return b == 0 ? a : gcd(b, a % b);
  }
}
