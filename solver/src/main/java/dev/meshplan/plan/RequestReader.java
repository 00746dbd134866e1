package dev.meshplan.plan;

import dev.meshplan.config.Errors;
import dev.meshplan.config.Keyed;
import dev.meshplan.config.Section;
import dev.meshplan.hardware.Precision;
import dev.meshplan.units.Dimension;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Reads a planning request and fills what it leaves out from its era, naming each as assumed. */
public final class RequestReader {
  private static final int MOST_GPUS = 1 << 21;

  private RequestReader() {}

  /** The request, or null when {@code s.errors()} got something. */
  public static PlanRequest read(Section s) {
    Errors errors = s.errors();
    int before = errors.size();
    String model = s.text("model");
    List<Pool> pools = new ArrayList<>();
    if (!s.has("cluster")) {
      s.error("cluster", "is missing: write cluster: {system: hgx-h100, gpus: 1024}.");
    }
    for (Section p : s.sections("cluster")) {
      pools.add(pool(p));
    }
    Section t = s.section("training", true);
    Training training = t == null ? null : training(t);
    Objective objective = s.choice("objective", Objective.class, Objective.TIME);
    Locality locality = s.choice("locality", Locality.class, Locality.STRICT);
    Map<String, String> fix = fix(s.section("fix", false));
    Section l = s.section("limits", false);
    Limits limits = new Limits(0.92, 4_000_000);
    if (l != null) {
      limits =
          new Limits(
              l.number("memory_share", 0.05, 1.0, 0.92),
              l.integer("evaluations", 1, 1L << 50, 4_000_000));
      l.finish();
    }
    int alternatives = (int) s.integer("alternatives", 0, 100, 3);
    s.finish();
    if (errors.size() > before) {
      return null;
    }
    return new PlanRequest(model, pools, training, objective, locality, fix, limits, alternatives);
  }

  private static Pool pool(Section s) {
    List<Integer> healthy = s.integers("healthy", 0, 1 << 20);
    int gpus = (int) s.integer("gpus", 1, MOST_GPUS, 0);
    int domains = (int) s.integer("domains", 1, MOST_GPUS, 0);
    if (gpus == 0 && domains == 0 && healthy.isEmpty()) {
      s.error("gpus", "is missing: say how many GPUs there are (gpus, domains or healthy).");
    }
    Pool pool =
        new Pool(
            s.text("system"),
            s.text("network", ""),
            gpus,
            domains,
            (int) s.integer("spares_per_domain", 0, 1 << 20, 0),
            healthy,
            s.integers("blocks", 1, 1 << 20),
            s.integers("cut", 1, 1 << 20),
            s.quantity("price", Dimension.DOLLARS_PER_GPU_HOUR, Double.NaN));
    s.finish();
    return pool;
  }

  private static Training training(Section s) {
    List<String> assumed = new ArrayList<>();
    int batch = (int) s.integer("global_batch", 1, 1 << 28);
    int sequence = (int) s.integer("sequence", 1, 1 << 28);
    Precision precision = choice(s, "precision", Precision.class, Precision.BF16, assumed);
    Framework framework = choice(s, "framework", Framework.class, Framework.MEGATRON, assumed);
    Era era = choice(s, "era", Era.class, EraDefaults.newest(framework), assumed);
    EraDefaults d = EraDefaults.of(era);
    Training training =
        new Training(
            batch,
            sequence,
            s.number("tokens", 0, 1e18, 0),
            precision,
            framework,
            era,
            choice(s, "tuning", Tuning.class, Tuning.FULL, assumed),
            choice(s, "grad_dtype", GradientType.class, d.gradientType(), assumed),
            s.number("optimizer_bytes", 0, 64, 12),
            choice(s, "dispatcher", Dispatcher.class, d.dispatcher(), assumed),
            choice(s, "cuda_graph", CudaGraph.class, CudaGraph.NONE, assumed),
            choice(s, "routing", Routing.class, Routing.BALANCED, assumed),
            flag(s, "sequence_parallel", d.sequenceParallel(), assumed),
            flag(s, "tp_overlap", d.tpOverlap(), assumed),
            flag(s, "dp_overlap", d.ppOverlap(), assumed),
            flag(s, "pp_overlap", d.ppOverlap(), assumed),
            flag(s, "a2a_overlap", false, assumed),
            choice(s, "cp_kind", CpKind.class, cpKind(framework), assumed),
            (int) s.integer("document_tokens", 0, 1 << 28, 0),
            choice(s, "loss_kernel", LossKernel.class, d.lossKernel(), assumed),
            flag(s, "gradient_fusion", d.gradientFusion(), assumed),
            assumed);
    if (!s.has("optimizer_bytes")) {
      assumed.add("optimizer_bytes");
    }
    s.finish();
    return training.withAssumed(assumed);
  }

  /** Ulysses in DeepSpeed, a ring elsewhere. */
  private static CpKind cpKind(Framework framework) {
    return framework == Framework.DEEPSPEED ? CpKind.ALL_TO_ALL : CpKind.P2P;
  }

  private static Map<String, String> fix(Section s) {
    Map<String, String> fix = new TreeMap<>();
    if (s == null) {
      return fix;
    }
    for (Axis axis : Axis.values()) {
      switch (axis) {
        case RECOMPUTE -> text(s, axis, fix, RecomputeOptions.NAMES);
        case SHARDING -> text(s, axis, fix, ShardingOptions.NAMES);
        case CP_INSIDE -> {
          if (s.has(axis.key())) {
            fix.put(axis.key(), s.flag(axis.key(), true) ? "true" : "false");
          }
        }
        default -> {
          if (s.has(axis.key())) {
            fix.put(axis.key(), Long.toString(s.integer(axis.key(), 1, MOST_GPUS)));
          }
        }
      }
    }
    s.finish();
    return fix;
  }

  private static void text(Section s, Axis axis, Map<String, String> fix, List<String> names) {
    if (s.has(axis.key())) {
      String value = s.text(axis.key());
      if (names.contains(value)) {
        fix.put(axis.key(), value);
      } else {
        s.error(axis.key(), "is not known. Use one of " + String.join(", ", names) + ".");
      }
    }
  }

  private static <E extends Enum<E> & Keyed> E choice(
      Section s, String key, Class<E> type, E absent, List<String> assumed) {
    if (!s.has(key)) {
      assumed.add(key);
    }
    return s.choice(key, type, absent);
  }

  private static boolean flag(Section s, String key, boolean absent, List<String> assumed) {
    if (!s.has(key)) {
      assumed.add(key);
    }
    return s.flag(key, absent);
  }
}
