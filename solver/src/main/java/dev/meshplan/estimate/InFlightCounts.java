package dev.meshplan.estimate;

import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Dims;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Micro-batches in flight by chunk at every possible peak of a rank, remembered by pipeline. */
final class InFlightCounts {
  private record Key(int pp, int vpp, int rank, int microBatches, int extra) {}

  private final Map<Key, List<double[]>> seen = new HashMap<>();

  List<double[]> counts(Candidate c, int rank, int extra) {
    Dims d = c.dims();
    int m = c.batch().gradientAccumulation();
    if (!MemoryInFlight.replayed(c.schedule(), d.pp(), d.vpp())) {
      double[] counts = new double[d.vpp()];
      Arrays.fill(counts, MemoryInFlight.count(c.schedule(), d.pp(), rank, m));
      return List.of(counts);
    }
    return seen.computeIfAbsent(
        new Key(d.pp(), d.vpp(), rank, MemoryInFlight.capped(d.pp(), m), extra),
        k -> MemoryInFlight.peaks(k.pp(), k.vpp(), k.rank(), k.microBatches(), k.extra()));
  }
}
