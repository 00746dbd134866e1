package dev.meshplan.optimize;

import dev.meshplan.config.Errors;
import dev.meshplan.config.YamlReader;
import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerGroup;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Problems;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Random small problems with few values on every axis, so that all tuples can be tried. */
record SmallCase(Problem problem, Space space, Oracle oracle, List<Rule> rules) {
  static final Catalog CATALOG = Catalog.open(null);
  private static final int MOST_TUPLES = 400;
  private static final String[] SYSTEMS = {"hgx-h100", "gb200-nvl72", "l40s-pcie-8"};

  static SmallCase random(Random random) {
    Problem problem = problem(random);
    Space whole = new Space(problem, problem.machines().get(0));
    Space space = narrowed(whole, random);
    Oracle oracle =
        new Oracle(problem, problem.machines().get(0), space, problem.request().locality());
    List<Rule> rules = new ArrayList<>(Outcomes.rules(problem, space));
    rules.add(Pins.placeable());
    return new SmallCase(problem, space, oracle, rules);
  }

  /** A request in YAML, resolved against the catalog. */
  static Problem request(String yaml) {
    Errors errors = new Errors();
    return Problems.read(YamlReader.parse("test", yaml, errors), CATALOG);
  }

  private static Problem problem(Random random) {
    String system = SYSTEMS[random.nextInt(SYSTEMS.length)];
    int gpus = 1 << random.nextInt(8);
    String framework = List.of("megatron", "deepspeed", "torchtitan").get(random.nextInt(3));
    String spares =
        system.startsWith("gb200") && random.nextInt(3) == 0 ? ", spares_per_domain: 2" : "";
    Problem p =
        request(
            """
            model: llama-3.1-8b
            cluster: {system: %s, gpus: %d%s}
            training: {global_batch: %d, sequence: %d, framework: %s}
            objective: %s
            locality: %s
            limits: {memory_share: %s}
            """
                .formatted(
                    system,
                    gpus,
                    spares,
                    8 * (1 + random.nextInt(12)),
                    1024 << random.nextInt(4),
                    framework,
                    List.of("time", "cost", "energy").get(random.nextInt(3)),
                    random.nextInt(3) == 0 ? "priced" : "strict",
                    0.3 + 0.1 * random.nextInt(8)));
    return new Problem(p.request(), model(random), p.machines(), p.provenance());
  }

  /** A few layers of one or two kinds. */
  static Model model(Random random) {
    int heads = 8 << random.nextInt(3);
    Attention attention =
        new Attention(
            Attention.Kind.GQA,
            heads,
            heads >> random.nextInt(3),
            128,
            128,
            0,
            null,
            null,
            false,
            false,
            Attention.QkNorm.NONE,
            false,
            true,
            1,
            false);
    int width = 1024 * (4 + random.nextInt(12));
    LayerKind dense =
        new LayerKind(
            "dense", attention, new FeedForward(width, true, false, 0, 0, 0, 0, false, 0, 0, 0));
    LayerKind experts =
        new LayerKind(
            "moe",
            attention,
            new FeedForward(0, true, false, 8 << random.nextInt(3), 2, 1536, 0, false, 0, 0, 0));
    List<LayerGroup> layers = new ArrayList<>();
    int kind = random.nextInt(3);
    if (kind != 1) {
      layers.add(new LayerGroup(1 + random.nextInt(9), List.of(dense)));
    }
    if (kind != 0) {
      layers.add(new LayerGroup(1 + random.nextInt(9), List.of(experts)));
    }
    return new Model(
        "small",
        List.of(),
        "small",
        heads * 128,
        32000 + 128 * random.nextInt(500),
        random.nextBoolean(),
        Model.Positions.ROPE,
        0,
        Model.Norm.RMSNORM,
        2,
        false,
        false,
        layers,
        0,
        null,
        "",
        List.of());
  }

  private static Space narrowed(Space space, Random random) {
    Map<Axis, int[]> values = new EnumMap<>(Axis.class);
    long size = 1;
    List<Axis> order = new ArrayList<>(Space.ORDER);
    java.util.Collections.shuffle(order, random);
    for (Axis axis : order) {
      int[] all = space.values(axis);
      int from = axis == Axis.PP || axis == Axis.VPP ? Math.min(all.length, 5) : all.length;
      int want = Math.min(from, 1 + random.nextInt(3));
      if (size * want > MOST_TUPLES) {
        want = 1;
      }
      size *= want;
      java.util.TreeSet<Integer> some = new java.util.TreeSet<>();
      if (axis == Axis.RECOMPUTE) {
        some.add(all[0]);
      }
      while (some.size() < want) {
        // Small degrees are legal more often.
        some.add(all[random.nextInt(1 + random.nextInt(1 + random.nextInt(from)))]);
      }
      values.put(axis, some.stream().mapToInt(i -> i).toArray());
    }
    return space.narrowed(values);
  }

  /** The cheapest tuple by trying all; null when none is legal. */
  Found brute() {
    List<Found> all = new ArrayList<>();
    brute(0, new Point(), all);
    return all.stream().min(Found.ORDER).orElse(null);
  }

  private void brute(int position, Point p, List<Found> all) {
    if (position == Space.ORDER.size()) {
      for (Rule r : rules) {
        if (!r.holds().test(oracle.facts, p)) {
          return;
        }
      }
      double seconds = oracle.seconds(p);
      all.add(new Found(p.copy(), oracle.value(p, seconds), seconds, oracle.unit(p)));
      return;
    }
    Axis axis = Space.ORDER.get(position);
    for (int v : space.values(axis)) {
      p.set(axis, v);
      brute(position + 1, p, all);
    }
  }

  Search.Result search() {
    return new Search(
            space,
            oracle,
            rules,
            1,
            f -> true,
            Double.POSITIVE_INFINITY,
            Long.MAX_VALUE,
            Search.Goal.CHEAPEST,
            (evaluated, incumbent, bound) -> {})
        .run();
  }
}
