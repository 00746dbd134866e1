package dev.meshplan.estimate;

import dev.meshplan.model.LayerKind;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Recompute;
import java.util.List;

/** Remembers the costs of shapes. Looking one up allocates nothing. */
final class ShapeTable {
  private final LayerTime time;
  private final List<LayerKind> kinds;
  private ShapeCosts[] table = new ShapeCosts[256];
  private int size;
  private ShapeCosts last;

  ShapeTable(LayerTime time, List<LayerKind> kinds) {
    this.time = time;
    this.kinds = kinds;
  }

  ShapeCosts of(Candidate c, Spread s) {
    if (last != null && same(last.shape, c, s)) {
      return last;
    }
    int mask = table.length - 1;
    int i = hash(c, s) & mask;
    while (table[i] != null && !same(table[i].shape, c, s)) {
      i = (i + 1) & mask;
    }
    if (table[i] == null) {
      Dims d = c.dims();
      table[i] =
          new ShapeCosts(
              time,
              kinds,
              new Shape(
                  d.tp(),
                  d.cp(),
                  d.ep(),
                  d.etp(),
                  c.batch().microBatch(),
                  c.memory().recompute(),
                  accumulates(c),
                  gathers(c),
                  new Spread(s.tp(), s.cp(), 1, s.ep(), 1, 0)));
      size++;
      last = table[i];
      if (2 * size > table.length) {
        grow();
      }
      return last;
    }
    last = table[i];
    return last;
  }

  private static boolean accumulates(Candidate c) {
    return c.batch().gradientAccumulation() > 1;
  }

  private static boolean gathers(Candidate c) {
    return c.memory().sharding() >= 3;
  }

  private static boolean same(Shape a, Candidate c, Spread s) {
    Dims d = c.dims();
    return a.tp() == d.tp()
        && a.cp() == d.cp()
        && a.ep() == d.ep()
        && a.etp() == d.etp()
        && a.microBatch() == c.batch().microBatch()
        && a.accumulates() == accumulates(c)
        && a.gathersWeights() == gathers(c)
        && a.spread().tp() == s.tp()
        && a.spread().cp() == s.cp()
        && a.spread().ep() == s.ep()
        && a.recompute().equals(c.memory().recompute());
  }

  private static int hash(Candidate c, Spread s) {
    Dims d = c.dims();
    return hash(
        d.tp(),
        d.cp(),
        d.ep(),
        d.etp(),
        c.batch().microBatch(),
        c.memory().recompute(),
        (accumulates(c) ? 1 : 0) + (gathers(c) ? 2 : 0),
        s.tp() + 101 * s.cp() + 10007 * s.ep());
  }

  private static int hash(
      int tp, int cp, int ep, int etp, int mbs, Recompute r, int flags, int spread) {
    int h = tp;
    h = h * 31 + cp;
    h = h * 31 + ep;
    h = h * 31 + etp;
    h = h * 31 + mbs;
    h = h * 31 + r.granularity().ordinal();
    h = h * 31 + r.modules().size();
    h = h * 31 + (int) (r.share() * 1024);
    h = h * 31 + flags;
    h = h * 31 + spread;
    h ^= h >>> 16;
    h *= 0x7feb352d;
    return h ^ (h >>> 15);
  }

  private void grow() {
    ShapeCosts[] old = table;
    table = new ShapeCosts[old.length * 2];
    int mask = table.length - 1;
    for (ShapeCosts e : old) {
      if (e != null) {
        Shape a = e.shape;
        int i =
            hash(
                    a.tp(),
                    a.cp(),
                    a.ep(),
                    a.etp(),
                    a.microBatch(),
                    a.recompute(),
                    (a.accumulates() ? 1 : 0) + (a.gathersWeights() ? 2 : 0),
                    a.spread().tp() + 101 * a.spread().cp() + 10007 * a.spread().ep())
                & mask;
        while (table[i] != null) {
          i = (i + 1) & mask;
        }
        table[i] = e;
      }
    }
  }
}
