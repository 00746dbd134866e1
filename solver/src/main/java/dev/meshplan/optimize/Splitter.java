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
 * stages there are a few ways, of which the step model tells the fastest.
 */
final class Splitter {
  private static final int STEPS = 32;

  /** Coarser where the step model tells between ways anyhow, so that fewer are laid out. */
  private static final int VIRTUAL_STEPS = 8;

  private final Model model;
  private final boolean uniform;
  private final List<LayerKind> kinds;
  private final int[] kindOf;
  private final Map<Key, List<Layout>> ways = new HashMap<>();
  private double work;

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
  private List<Integer> ratios(LayerSeconds seconds, int steps) {
    double first = Math.max(seconds.layer(0), 1e-12);
    int extra = kinds.size();
    Integer[] ratios = new Integer[extra + 1];
    for (int k = 0; k < extra; k++) {
      ratios[k] = (int) Math.min(1 << 20, Math.round(steps * seconds.layer(k) / first));
    }
    double last = seconds.head() + model.mtpLayers() * seconds.mtp();
    ratios[extra] = (int) Math.min(1 << 20, Math.round(steps * last / first));
    return Arrays.asList(ratios);
  }

  /** The layouts in question for the layer times of a candidate: one but for virtual stages. */
  List<Layout> ways(int pp, int vpp, LayerSeconds seconds) {
    return ways.computeIfAbsent(
        new Key(pp, vpp, ratios(seconds, vpp == 1 ? STEPS : VIRTUAL_STEPS)), this::layouts);
  }

  private List<Layout> layouts(Key key) {
    int pp = key.pp();
    int n = kindOf.length;
    if (pp > 1 && !uniform && key.vpp() > 1) {
      return virtual(key);
    }
    long last = key.ratios().get(key.ratios().size() - 1);
    int[] layers = pp == 1 || uniform ? single(n, pp * key.vpp()) : exact(pp, weight(key), last);
    return List.of(Layout.of(model, pp, key.vpp(), layers, model.mtpLayers(), false));
  }

  private long[] weight(Key key) {
    return Arrays.stream(kindOf).mapToLong(k -> key.ratios().get(k)).toArray();
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

  /** The layouts in question on virtual stages; those in rows load the ranks alike. */
  private List<Layout> virtual(Key key) {
    int pp = key.pp();
    int vpp = key.vpp();
    long[] weight = weight(key);
    long last = key.ratios().get(key.ratios().size() - 1);
    double layer = Arrays.stream(weight).sum() / (double) weight.length;
    List<int[]> ways = VirtualStages.rows(weight.length, pp, vpp, last / layer);
    int[] alike = alike(pp, vpp, weight, last);
    if (alike != null) {
      ways.add(0, alike);
    }
    if (ways.isEmpty()) {
      // Fewer layers than stages: no plan, but rules are asked about it.
      ways.add(single(weight.length, pp * vpp));
    }
    return ways.stream()
        .map(layers -> Layout.of(model, pp, vpp, layers, model.mtpLayers(), false))
        .toList();
  }

  /** The layout of equal stages whose slowest rank is fastest; null when there is none. */
  private static int[] alike(int pp, int vpp, long[] weight, long last) {
    int[] best = null;
    long bestMax = Long.MAX_VALUE;
    for (int first = 0; first <= VirtualStages.free(weight.length, pp * vpp); first++) {
      int[] layers = VirtualStages.alike(weight.length, pp * vpp, first);
      long max = layers == null ? Long.MAX_VALUE : slowest(pp, layers, weight, last);
      if (max < bestMax) {
        bestMax = max;
        best = layers;
      }
    }
    return best;
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

  /** Layers on virtual stages that fit, by the constraint model; null when it finds none. */
  Layout squeezed(int pp, int vpp, LayerSeconds seconds, MemorySplit split, double limitBytes) {
    LayerSplit constraints = constraints(pp, vpp, ratios(seconds, STEPS));
    int[] layers = constraints.solve(split, limitBytes);
    work += constraints.work();
    return layers == null ? null : Layout.of(model, pp, vpp, layers, model.mtpLayers(), false);
  }

  /** Deterministic time of all constraint models so far. */
  double work() {
    return work;
  }

  /**
   * Seconds per micro-batch that the slowest rank takes at least in a layout that fits; infinite
   * when none does.
   */
  double slowestSqueezed(
      int pp, int vpp, LayerSeconds seconds, MemorySplit split, double limitBytes) {
    LayerSplit model = constraints(pp, vpp, ratios(seconds, STEPS));
    int held = model.slowestHolds(split, limitBytes);
    return held < 0 ? Double.POSITIVE_INFINITY : held * seconds.layer(model.longestKind());
  }

  private LayerSplit constraints(int pp, int vpp, List<Integer> ratios) {
    long[] weight = ratios.stream().mapToLong(r -> r).limit(kinds.size()).toArray();
    return new LayerSplit(pp, vpp, kindOf, weight, ratios.get(kinds.size()), 1);
  }
}
