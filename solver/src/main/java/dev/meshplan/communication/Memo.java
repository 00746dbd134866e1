package dev.meshplan.communication;

import java.util.Arrays;

/**
 * Remembers seconds by collective, group and bytes: open addressing on primitives, because the
 * search asks the same few thousand questions millions of times.
 */
final class Memo {
  private long[] shapes = new long[1 << 10];
  private long[] sizes = new long[1 << 10];
  private double[] values = filled(1 << 10);
  private int used;

  /** The value, or NaN when it was not put. */
  double get(long shape, double bytes) {
    return values[slot(shape, Double.doubleToRawLongBits(bytes))];
  }

  void put(long shape, double bytes, double value) {
    if (2 * used >= values.length) {
      grow();
    }
    insert(shape, Double.doubleToRawLongBits(bytes), value);
  }

  private void insert(long shape, long size, double value) {
    int at = slot(shape, size);
    if (Double.isNaN(values[at])) {
      used++;
    }
    shapes[at] = shape;
    sizes[at] = size;
    values[at] = value;
  }

  private int slot(long shape, long size) {
    long h = (shape * 0x9E3779B97F4A7C15L) ^ (size * 0xC2B2AE3D27D4EB4FL);
    int mask = values.length - 1;
    int at = (int) (h ^ (h >>> 32)) & mask;
    while (!Double.isNaN(values[at]) && (shapes[at] != shape || sizes[at] != size)) {
      at = (at + 1) & mask;
    }
    return at;
  }

  private void grow() {
    long[] oldShapes = shapes;
    long[] oldSizes = sizes;
    double[] oldValues = values;
    shapes = new long[oldValues.length * 2];
    sizes = new long[oldValues.length * 2];
    values = filled(oldValues.length * 2);
    used = 0;
    for (int i = 0; i < oldValues.length; i++) {
      if (!Double.isNaN(oldValues[i])) {
        insert(oldShapes[i], oldSizes[i], oldValues[i]);
      }
    }
  }

  private static double[] filled(int length) {
    double[] d = new double[length];
    Arrays.fill(d, Double.NaN);
    return d;
  }
}
