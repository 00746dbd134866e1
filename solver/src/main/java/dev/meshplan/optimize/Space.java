package dev.meshplan.optimize;

import dev.meshplan.config.InputException;
import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.PlanRequest;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Proof;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.RecomputeOptions;
import dev.meshplan.plan.ShardingOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The space that is searched and proven on one pool: the values of every axis, pinned ones reduced
 * to their pin. Values that a rule always forbids (a dp that does not divide the batch) are left
 * out.
 */
final class Space {
  /** Axes in the order in which the search binds them. */
  static final List<Axis> ORDER =
      List.of(
          Axis.TP,
          Axis.CP,
          Axis.PP,
          Axis.DP,
          Axis.EP,
          Axis.ETP,
          Axis.CP_INSIDE,
          Axis.BLOCK_GPUS,
          Axis.MICRO_BATCH,
          Axis.SHARDING,
          Axis.VPP,
          Axis.RECOMPUTE);

  private static final int MOST_PP = 128;
  private static final int MOST_CP = 64;
  private static final int[] VPP = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12};

  private final Map<Axis, int[]> values = new EnumMap<>(Axis.class);
  private final Map<Axis, Integer> pins = new EnumMap<>(Axis.class);
  private final long[] suffix;
  private final Map<String, Recompute> recomputes;
  private final Map<String, ShardingOptions.Option> shardings;

  Space(Problem problem, Machine machine) {
    PlanRequest request = problem.request();
    Model model = problem.model();
    Framework framework = request.training().framework();
    boolean unfused =
        problem.machines().stream().anyMatch(m -> request.training().unfusedAttention(m.gpu()));
    Map<String, Recompute> options = RecomputeOptions.of(model, unfused, framework);
    String recompute = request.fix().get(Axis.RECOMPUTE.key());
    if (recompute != null && !options.containsKey(recompute)) {
      throw new InputException(
          "request",
          "fix.recompute",
          recompute,
          "does nothing for this model or framework. Use one of "
              + String.join(", ", options.keySet())
              + ".");
    }
    recomputes = options;
    shardings =
        ShardingOptions.of(
            framework, machine.system().gpusPerNode(), request.fix().get(Axis.SHARDING.key()));
    int domain = machine.system().domain().size();
    values.put(Axis.TP, tensor(model, domain));
    values.put(Axis.CP, powers(MOST_CP));
    values.put(Axis.PP, range(Math.min(MOST_PP, model.layerCount() + 2)));
    values.put(Axis.DP, divisors(request.training().globalBatch(), machine.pool().gpus()));
    values.put(Axis.EP, experts(model));
    values.put(Axis.ETP, model.moe() ? powers(8) : new int[] {1});
    values.put(Axis.VPP, VPP);
    values.put(Axis.MICRO_BATCH, powers(16));
    values.put(Axis.SHARDING, range0(shardings.size()));
    values.put(Axis.RECOMPUTE, range0(recomputes.size()));
    values.put(Axis.BLOCK_GPUS, blocks(machine));
    values.put(Axis.CP_INSIDE, new int[] {1, 0});
    for (Map.Entry<String, String> e : request.fix().entrySet()) {
      pin(e.getKey(), e.getValue());
    }
    suffix = suffix();
  }

  private Space(Space whole, Map<Axis, int[]> some) {
    recomputes = whole.recomputes;
    shardings = whole.shardings;
    pins.putAll(whole.pins);
    values.putAll(whole.values);
    values.putAll(some);
    suffix = suffix();
  }

  /** The same space with only some values of some axes. */
  Space narrowed(Map<Axis, int[]> some) {
    return new Space(this, some);
  }

  private long[] suffix() {
    long[] sizes = new long[ORDER.size() + 1];
    sizes[ORDER.size()] = 1;
    for (int i = ORDER.size() - 1; i >= 0; i--) {
      sizes[i] = Math.multiplyExact(sizes[i + 1], (long) values.get(ORDER.get(i)).length);
    }
    return sizes;
  }

  private void pin(String key, String value) {
    Axis axis = Arrays.stream(Axis.values()).filter(a -> a.key().equals(key)).findFirst().get();
    int v =
        switch (axis) {
          case RECOMPUTE -> List.copyOf(recomputes.keySet()).indexOf(value);
          case SHARDING -> 0;
          case CP_INSIDE -> value.equals("true") ? 1 : 0;
          default -> Integer.parseInt(value);
        };
    pins.put(axis, v);
    if (axis != Axis.GPUS_USED) {
      values.put(axis, new int[] {v});
    }
  }

  int[] values(Axis axis) {
    return values.get(axis);
  }

  Map<Axis, Integer> pins() {
    return pins;
  }

  List<Recompute> recomputes() {
    return List.copyOf(recomputes.values());
  }

  List<ShardingOptions.Option> shardings() {
    return List.copyOf(shardings.values());
  }

  /** The name that a request gives to an option of recompute or sharding. */
  String name(Axis axis, int index) {
    return List.copyOf((axis == Axis.RECOMPUTE ? recomputes : shardings).keySet()).get(index);
  }

  /** Number of tuples. */
  long size() {
    return sizeFrom(0);
  }

  /** Number of tuples of the axes from a position of {@link #ORDER} on. */
  long sizeFrom(int position) {
    return suffix[position];
  }

  /** The space in words, for the proof. */
  List<Proof.SpaceAxis> describe() {
    List<Proof.SpaceAxis> out = new ArrayList<>();
    for (Axis axis : ORDER) {
      int[] v = values.get(axis);
      String text =
          switch (axis) {
            case RECOMPUTE -> named(v, List.copyOf(recomputes.keySet()));
            case SHARDING -> named(v, List.copyOf(shardings.keySet()));
            case CP_INSIDE ->
                v.length == 2 ? "inside a block, across" : v[0] == 1 ? "inside" : "across";
            case PP -> v.length == 1 ? "" + v[0] : v[0] + " to " + v[v.length - 1];
            default -> Arrays.stream(v).mapToObj(String::valueOf).collect(Collectors.joining(", "));
          };
      out.add(new Proof.SpaceAxis(axis.key(), text, pins.containsKey(axis)));
    }
    if (pins.containsKey(Axis.GPUS_USED)) {
      out.add(new Proof.SpaceAxis(Axis.GPUS_USED.key(), "" + pins.get(Axis.GPUS_USED), true));
    }
    out.add(
        new Proof.SpaceAxis(
            "stages",
            "layers in order: without virtual stages the fastest split that fits; with them equal"
                + " stages or equal rows, the fastest that fits, and where none does what a"
                + " constraint model squeezes in",
            false));
    return out;
  }

  private static String named(int[] v, List<String> names) {
    return Arrays.stream(v).mapToObj(names::get).collect(Collectors.joining(", "));
  }

  private static int[] tensor(Model model, int domain) {
    TreeSet<Integer> set = new TreeSet<>();
    int most = Math.max(domain, 64);
    for (int p = 1; p <= 64; p *= 2) {
      set.add(p);
    }
    for (LayerKind k : model.distinctKinds()) {
      Attention a = k.attention();
      if (a != null) {
        for (int t = 1; t <= Math.min(most, a.heads()); t++) {
          if (a.heads() % t == 0) {
            set.add(t);
          }
        }
      }
    }
    return set.stream().mapToInt(i -> i).toArray();
  }

  private static int[] experts(Model model) {
    TreeSet<Integer> set = new TreeSet<>();
    set.add(1);
    for (LayerKind k : model.distinctKinds()) {
      FeedForward f = k.feedForward();
      if (f != null && f.moe()) {
        for (int e = 1; e <= f.experts(); e++) {
          if (f.experts() % e == 0) {
            set.add(e);
          }
        }
      }
    }
    return set.stream().mapToInt(i -> i).toArray();
  }

  private static int[] divisors(int n, int most) {
    TreeSet<Integer> set = new TreeSet<>();
    for (int d = 1; (long) d * d <= n; d++) {
      if (n % d == 0) {
        set.add(d);
        set.add(n / d);
      }
    }
    int[] all = set.stream().mapToInt(i -> i).filter(d -> d <= Math.max(most, 1)).toArray();
    return all.length == 0 ? new int[] {1} : all;
  }

  private static int[] blocks(Machine machine) {
    List<Integer> allowed = machine.pool().blocks();
    if (!machine.pool().cut().isEmpty()) {
      return machine.pool().cut().stream().mapToInt(i -> i).distinct().sorted().toArray();
    }
    return machine.system().domain().blocks().stream()
        .filter(b -> allowed.isEmpty() || allowed.contains(b))
        .mapToInt(i -> i)
        .toArray();
  }

  private static int[] powers(int most) {
    List<Integer> list = new ArrayList<>();
    for (int p = 1; p <= most; p *= 2) {
      list.add(p);
    }
    return list.stream().mapToInt(i -> i).toArray();
  }

  private static int[] range(int most) {
    return java.util.stream.IntStream.rangeClosed(1, Math.max(1, most)).toArray();
  }

  private static int[] range0(int n) {
    return java.util.stream.IntStream.range(0, n).toArray();
  }
}
