package dev.meshplan.optimize;

import dev.meshplan.estimate.LayerSeconds;
import dev.meshplan.estimate.MemorySplit;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Layout;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Lays layers out on stages so that the slowest rank is as fast as it can be. Without virtual
 * stages this is exact for the layer times, which are told apart at 1/32 of a layer; with virtual
 * stages all hold equally many layers but the first and the last; where a pin forbids that, the
 * ranks' loads are evened out by moving layers between the first, the middle and the last rank.
 */
final class Splitter {
  private static final int STEPS = 32;

  private final Model model;
  private final boolean uniform;
  private final List<LayerKind> kinds;
  private final int[] kindOf;
  private final Map<Key, Layout> cache = new HashMap<>();

  private record Key(int pp, int vpp, List<Integer> ratios) {}

  /** Whether the framework splits layers evenly and nothing else. */
  boolean uniform() {
    return uniform;
  }

  /**
   * A splitter of a model's layers.
   *
   * @param uniform whether every stage must get equally many
   */
  Splitter(Model model, boolean uniform) {
    this.uniform = uniform;
    this.model = model;
    kinds = model.distinctKinds();
    List<LayerKind> all = model.layerKinds();
    kindOf = all.stream().mapToInt(kinds::indexOf).toArray();
  }

  /** Index in the model's distinct kinds of every layer. */
  int[] kindOf() {
    return kindOf;
  }

  /** Layers by kind and what stands with the loss, in steps of the first kind's time. */
  private List<Integer> ratios(LayerSeconds seconds) {
    double first = Math.max(seconds.layer(0), 1e-12);
    int extra = kinds.size();
    Integer[] ratios = new Integer[extra + 1];
    for (int k = 0; k < extra; k++) {
      ratios[k] = (int) Math.min(1 << 20, Math.round(STEPS * seconds.layer(k) / first));
    }
    double last = seconds.head() + model.mtpLayers() * seconds.mtp();
    ratios[extra] = (int) Math.min(1 << 20, Math.round(STEPS * last / first));
    return Arrays.asList(ratios);
  }

  /** The layout for the layer times of a candidate. */
  Layout fastest(int pp, int vpp, LayerSeconds seconds) {
    return cache.computeIfAbsent(
        new Key(pp, vpp, ratios(seconds)), key -> layout(key.pp(), key.vpp(), key.ratios()));
  }

  private Layout layout(int pp, int vpp, List<Integer> ratios) {
    int n = kindOf.length;
    long[] weight = new long[n];
    for (int i = 0; i < n; i++) {
      weight[i] = ratios.get(kindOf[i]);
    }
    long last = ratios.get(ratios.size() - 1);
    int[] layers =
        pp == 1 || uniform
            ? single(n, pp * vpp)
            : vpp == 1 ? exact(pp, weight, last) : even(pp, vpp, weight, last);
    return Layout.of(model, pp, vpp, layers, model.mtpLayers(), false);
  }

  private static int[] single(int n, int vpp) {
    int[] layers = new int[vpp];
    Arrays.fill(layers, n / vpp);
    for (int i = 0; i < n % vpp; i++) {
      layers[i]++;
    }
    return layers;
  }

  /**
   * Smallest maximum over contiguous parts, by bisection; the parts are then filled from the back.
   */
  static int[] exact(int pp, long[] weight, long last) {
    long low = Math.max(last, (Arrays.stream(weight).sum() + last + pp - 1) / pp);
    long high = Arrays.stream(weight).sum() + last;
    while (low < high) {
      long middle = (low + high) >>> 1;
      if (fromBack(pp, weight, last, middle) != null) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return fromBack(pp, weight, last, low);
  }

  /**
   * Fills stages from the last one, each up to the limit but never so far that earlier stages get
   * none: the early ones hold most activations, so they get what is left.
   */
  private static int[] fromBack(int pp, long[] weight, long last, long limit) {
    int[] layers = new int[pp];
    int next = weight.length - 1;
    for (int s = pp - 1; s >= 0; s--) {
      long room = limit - (s == pp - 1 ? last : 0);
      int before = Math.max(0, s - 1);
      while (next >= before && weight[next] <= room && (next + 1 > s || s == 0)) {
        room -= weight[next--];
        layers[s]++;
      }
    }
    return next < 0 ? layers : null;
  }

  private static int[] even(int pp, int vpp, long[] weight, long last) {
    int n = weight.length;
    int[] best = null;
    long bestMax = Long.MAX_VALUE;
    for (int first = 0; first <= EvenStages.free(n, pp * vpp); first++) {
      int[] layers = EvenStages.layers(n, pp * vpp, first);
      long max = layers == null ? Long.MAX_VALUE : slowest(pp, layers, weight, last);
      if (max < bestMax) {
        bestMax = max;
        best = layers;
      }
    }
    if (best != null) {
      return best;
    }
    long sum = last;
    for (long w : weight) {
      sum += w;
    }
    // The last rank is full when its layers and the head take as long as an average rank.
    long room = Math.max(0, sum / pp - last);
    int fit = (int) (room * n / Math.max(1, sum - last));
    int least = Math.max(vpp - 1, fit - 1);
    for (int lastLoad = least; lastLoad <= Math.max(least, fit + 1); lastLoad++) {
      for (int give = -2; give <= 2; give++) {
        int[] layers = loads(pp, vpp, n, lastLoad, give);
        if (layers == null) {
          continue;
        }
        long max = slowest(pp, layers, weight, last);
        if (max < bestMax) {
          bestMax = max;
          best = layers;
        }
      }
    }
    return best == null ? plain(pp * vpp, n) : best;
  }

  /** Rank loads: {@code lastLoad} on the last rank, the average plus {@code give} on the first. */
  private static int[] loads(int pp, int vpp, int n, int lastLoad, int give) {
    int rest = n - lastLoad;
    int others = pp - 1;
    if (lastLoad < 0 || rest < 0) {
      return null;
    }
    int[] load = new int[pp];
    load[pp - 1] = lastLoad;
    for (int r = 0; r < others; r++) {
      load[r] = rest / others + (r >= others - rest % others ? 1 : 0);
    }
    if (give != 0 && others > 1) {
      load[0] += give;
      for (int left = Math.abs(give), r = others - 1; left > 0; left--) {
        load[r] -= Integer.signum(give);
        r = r > 1 ? r - 1 : others - 1;
      }
    }
    int[] layers = new int[pp * vpp];
    for (int r = 0; r < pp; r++) {
      boolean last = r == pp - 1;
      // Only the embedding's and the loss's virtual stage may go without a layer.
      if (load[r] < (r == 0 || last ? vpp - 1 : vpp)) {
        return null;
      }
      int more = load[r] % vpp;
      for (int c = 0; c < vpp; c++) {
        layers[c * pp + r] = load[r] / vpp + ((last ? c < more : c >= vpp - more) ? 1 : 0);
      }
    }
    return layers;
  }

  private static int[] plain(int parts, int n) {
    if (n >= parts) {
      return single(n, parts);
    }
    int[] layers = new int[parts];
    Arrays.fill(layers, 1, Math.min(parts, n + 1), 1);
    return layers;
  }

  private static long slowest(int pp, int[] layers, long[] weight, long last) {
    long[] sum = new long[pp];
    sum[pp - 1] = last;
    int next = 0;
    for (int v = 0; v < layers.length; v++) {
      for (int i = 0; i < layers[v]; i++) {
        sum[v % pp] += weight[next++];
      }
    }
    long most = 0;
    for (long t : sum) {
      most = Math.max(most, t);
    }
    return most;
  }

  /**
   * The fastest layout without virtual stages whose ranks all fit, or null: by bisection over the
   * time of a stage, filling from the back as far as time and memory allow.
   *
   * @param split memory as linear pieces, bytes of the device reading
   */
  Layout fitting(int pp, LayerSeconds seconds, MemorySplit split, double limitBytes) {
    double[] weight = new double[kindOf.length];
    double total = 0;
    for (int i = 0; i < weight.length; i++) {
      weight[i] = seconds.layer(kindOf[i]);
      total += weight[i];
    }
    double last = seconds.head() + model.mtpLayers() * seconds.mtp();
    if (fill(pp, weight, last, Double.POSITIVE_INFINITY, split, limitBytes) == null) {
      return null;
    }
    int[] best = null;
    double low = total / pp;
    double high = total + last;
    for (int i = 0; i < 24; i++) {
      double middle = (low + high) / 2;
      int[] layers = fill(pp, weight, last, middle, split, limitBytes);
      if (layers == null) {
        low = middle;
      } else {
        high = middle;
        best = layers;
      }
    }
    return best == null ? null : Layout.of(model, pp, 1, best, model.mtpLayers(), false);
  }

  private int[] fill(
      int pp, double[] weight, double last, double limit, MemorySplit split, double limitBytes) {
    int[] layers = new int[pp];
    int next = weight.length - 1;
    for (int s = pp - 1; s >= 0; s--) {
      double room = limit - (s == pp - 1 ? last : 0);
      double inFlight = split.counts(s).get(0)[0];
      double bytes = limitBytes - split.fixedBytes(s);
      while (next >= 0 && (next + 1 > s || s == 0)) {
        int k = kindOf[next];
        double cost = split.stateBytesPerLayer(k) + inFlight * split.keptBytesPerLayer(k);
        if (weight[next] > room || cost > bytes) {
          break;
        }
        room -= weight[next];
        bytes -= cost;
        next--;
        layers[s]++;
      }
    }
    return next < 0 ? layers : null;
  }
}
