package dev.meshplan.optimize;

import java.util.Arrays;

/**
 * Virtual stages with equally many layers, but for the first, which also holds the embedding, and
 * the last, which also holds head, loss and MTP. Interleaved schedules stall where stages differ.
 */
final class EvenStages {
  private EvenStages() {}

  /** Places for layers that stay free when every stage has room for equally many. */
  static int free(int layers, int stages) {
    return (layers + stages - 1) / stages * stages - layers;
  }

  /**
   * Layers of each stage with {@code first} of the free places on the first stage and the others on
   * the last; null when a stage can't have so many.
   */
  static int[] layers(int layers, int stages, int first) {
    int each = (layers + stages - 1) / stages;
    int last = free(layers, stages) - first;
    if (first > each || last > each || last < 0) {
      return null;
    }
    int[] out = new int[stages];
    Arrays.fill(out, each);
    out[0] -= first;
    out[stages - 1] -= last;
    return out;
  }
}
