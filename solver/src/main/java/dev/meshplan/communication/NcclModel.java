package dev.meshplan.communication;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.units.Quantity;
import java.util.List;

/**
 * NCCL's own cost model, kept for comparison (github NVIDIA/nccl 2.30 src/graph/tuning.cc): what
 * the library believes when it chooses an algorithm. Times in microseconds, bandwidths in GB/s
 * inside.
 */
public final class NcclModel {
  private static final double[] TREE_LL = {
    1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9
  };
  private static final double[] TREE_LL128 = {
    1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9
  };
  private static final double[] TREE_SIMPLE = {
    .9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9
  };

  private NcclModel() {}

  /** Per-architecture numbers of the library's tables, the lists by 1, 2 and more nodes. */
  private record Tables(
      double linkTotal,
      int channels,
      List<Double> llMax,
      double ll128PerChannel,
      List<Double> treePerChannel,
      double nvlsEfficiency,
      List<Double> nvlsTreePerChannel) {}

  private static Tables tables(Gpu.Architecture a) {
    return switch (a) {
      case PASCAL, VOLTA, TURING ->
          new Tables(
              120,
              12,
              List.of(39.0, 39.0, 20.4),
              20,
              List.of(26.5, 18.5, 10.0),
              0,
              List.of(0.0, 0.0, 0.0));
      case AMPERE, ADA ->
          new Tables(
              240,
              24,
              List.of(87.7, 22.5, 19.0),
              20,
              List.of(24.0, 23.6, 17.8),
              0,
              List.of(0.0, 0.0, 0.0));
      case BLACKWELL, RUBIN ->
          new Tables(
              720,
              24,
              List.of(282.0, 90.0, 70.0),
              40,
              List.of(70.0, 42.8, 24.0),
              0.74,
              List.of(0.0, 96.0, 80.0));
      default ->
          new Tables(
              360,
              24,
              List.of(141.0, 45.0, 35.0),
              36.7,
              List.of(38.7, 41.4, 36.0),
              0.85,
              List.of(0.0, 57.7, 45.5));
    };
  }

  /**
   * @return seconds of the algorithm and protocol that NCCL would choose; NaN for what its model
   *     doesn't cover (all-to-all, send/recv, other vendors)
   */
  public static double seconds(
      Collective c, double bytes, Group g, SystemSpec system, Gpu gpu, Network network) {
    boolean covered =
        c == Collective.ALL_REDUCE || c == Collective.ALL_GATHER || c == Collective.REDUCE_SCATTER;
    if (!covered || !gpu.architecture().nvidia()) {
      return Double.NaN;
    }
    Tables t = tables(gpu.architecture());
    int n = g.size();
    int k = g.domains();
    int perDomain = g.perDomain();
    boolean pcie = system.domain().kind() == SystemSpec.Fabric.PCIE;
    double nominal = system.domain().bandwidth() / Quantity.GIGA;
    double inside = pcie ? nominal * 24 / 31.5 : Math.min(t.linkTotal, 0.8 * nominal);
    double nics =
        k > 1 && network != null
            ? perDomain * network.perGpuBandwidth(system) / Quantity.GIGA * 0.96
            : Double.POSITIVE_INFINITY;
    double bus = Math.min(inside, nics);
    double ring = ring(c, bytes, n, k, bus, t, pcie, gpu);
    if (c != Collective.ALL_REDUCE) {
      return ring * Quantity.MICRO;
    }
    double tree = tree(bytes, perDomain, k, bus, t, pcie);
    double best = Math.min(ring, tree);
    if (t.nvlsEfficiency > 0 && !pcie && perDomain > 2) {
      double channels = k > 1 && gpu.architecture().blackwell() ? 32 : 16;
      double intra = inside * t.nvlsEfficiency * (channels - 1) / channels * 2;
      if (k == 1) {
        best = Math.min(best, 25 + bytes / 1000 / (intra * n / (2.0 * (n - 1))));
      } else {
        double cap = t.nvlsTreePerChannel.get(k == 2 ? 1 : 2) * channels;
        double inter = Math.min(nics, Math.min(intra, cap)) * (k == 2 ? 2 : 1);
        double bw = Math.min(Math.min(intra, inter), cap) * n / (2.0 * (n - 1));
        best = Math.min(best, 25 + 2 * log2(k) * 25.9 + bytes / 1000 / bw);
      }
    }
    return best * Quantity.MICRO;
  }

  private static double ring(
      Collective c, double bytes, int n, int k, double bus, Tables t, boolean pcie, Gpu gpu) {
    double[] base = {6.6, 14, 8.4};
    double[] link = pcie ? new double[] {1, 2.5, 5.7} : new double[] {.6, 1.9, 3.4};
    double[] net = {2.7 + 5, 4 + 5, 14 + 10};
    int steps = c.ringSteps(n);
    int inter = c == Collective.ALL_REDUCE ? 2 * (k - 1) : k - 1;
    double best = Double.POSITIVE_INFINITY;
    for (int p = 0; p < 3; p++) {
      double bw =
          switch (p) {
            case 0 -> Math.min(t.llMax.get(Math.min(k, 3) - 1), 0.5 * bus);
            case 1 -> Math.min(0.92 * bus, t.channels * t.ll128PerChannel);
            default -> bus;
          };
      double hop = k > 1 ? Math.max(link[p], p == 2 ? 3 : 1) : link[p];
      double latency = base[p] + (steps - inter) * hop + inter * net[p];
      if (p == 2 && c == Collective.ALL_REDUCE && k > 1 && bytes / (t.channels * n) >= 64) {
        latency *= gpu.architecture().ordinal() < Gpu.Architecture.AMPERE.ordinal() ? 1.9 : 1.4;
      }
      best = Math.min(best, latency + bytes / 1000 / (bw * n / steps));
    }
    return best;
  }

  private static double tree(
      double bytes, int perDomain, int k, double bus, Tables t, boolean pcie) {
    double[] base = {6.8, 14, 8.4};
    double[] link = pcie ? new double[] {1, 1.9, 4} : new double[] {.6, 1.25, 4};
    double[] net = {5 + 5, 8.5 + 5, 14 + 10};
    double first = Math.min(0.92 * bus, t.channels * t.treePerChannel.get(Math.min(k, 3) - 1));
    double best = Double.POSITIVE_INFINITY;
    int size = (int) Math.max(0, Math.floor(log2(bytes / 64)));
    double[][] corrections = {TREE_LL, TREE_LL128, TREE_SIMPLE};
    for (int p = 0; p < 3; p++) {
      double bw =
          switch (p) {
            case 0 -> Math.min(first / 3.8, t.llMax.get(Math.min(k, 3) - 1));
            case 1 ->
                Math.min(first * (k == 1 ? 7.0 / 9 : 120.0 / 128), t.channels * t.ll128PerChannel);
            default -> first;
          };
      double correction = size < corrections[p].length ? corrections[p][size] : 1;
      double latency = base[p] + 2 * ((perDomain - 1) * link[p] + log2(k) * net[p]);
      best = Math.min(best, latency + bytes / 1000 / (bw * 0.5 * correction));
    }
    return best;
  }

  private static double log2(double x) {
    return StrictMath.log(x) / StrictMath.log(2);
  }
}
