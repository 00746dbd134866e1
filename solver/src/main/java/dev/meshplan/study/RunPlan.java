package dev.meshplan.study;

import dev.meshplan.model.Model;
import dev.meshplan.plan.Batch;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Era;
import dev.meshplan.plan.EraDefaults;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Schedule;
import dev.meshplan.plan.Training;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The plan of a run: its columns, and the defaults of its era where they are empty. */
final class RunPlan {
  private static final Pattern GROUP = Pattern.compile("\\(([0-9]+)-gpu group\\)");
  private static final double MOST_ELEMENTS = 1 << 26;

  private final RunRow row;
  private final Model model;
  private final Training training;
  private final Machine machine;

  RunPlan(RunRow row, Model model, Training training, Machine machine) {
    this.row = row;
    this.model = model;
    this.training = training;
    this.machine = machine;
  }

  /**
   * The plan.
   *
   * @throws Unpriced when the degrees do not multiply to the GPUs of the run
   */
  Candidate candidate() throws Unpriced {
    int gpus = (int) row.number("gpus");
    int tp = row.integer("tp", 1);
    int pp = row.integer("pp", 1);
    int cp = row.integer("cp", 1);
    if (gpus < 1 || (long) tp * pp * cp > gpus || gpus % (tp * pp * cp) != 0) {
      throw new Unpriced("TP x PP x CP does not divide the GPU count");
    }
    int dp = gpus / (tp * pp * cp);
    int etp = 1;
    int ep = 1;
    if (model.moe()) {
      etp = row.integer("etp", usualEtp(tp));
      ep = row.integer("ep", usualEp(tp * cp * dp));
      etp = Math.min(etp, tp * cp * dp);
      while (ep > 1 && (tp * cp * dp) % (ep * etp) != 0) {
        ep--;
      }
    }
    if (model.layerCount() < pp) {
      throw new Unpriced("more pipeline stages than layers");
    }
    MemoryPlan memory = memory(dp * cp);
    int micro = micro(dp, memory);
    if ((long) dp * micro > training.globalBatch()) {
      throw new Unpriced("global batch is smaller than DP x micro-batch");
    }
    int accumulation = Math.max(1, (int) Math.round((double) training.globalBatch() / dp / micro));
    int vpp = pp > 1 ? Math.max(1, row.integer("vpp", usualVpp(pp, accumulation))) : 1;
    return new Candidate(
        new Dims(tp, cp, pp, dp, ep, etp, vpp),
        new Batch(micro, accumulation),
        schedule(vpp),
        memory,
        machine.system().domain().size(),
        false);
  }

  /** Times that the pipeline drains in one step. */
  int flushes() {
    return row.has("flushes") ? Math.max(1, (int) row.number("flushes")) : 1;
  }

  private int usualEtp(int tp) {
    return training.era() == Era.NEMO_2024 || training.era() == Era.NEMO_2025 ? tp : 1;
  }

  private int usualEp(int ranks) {
    int most = training.era() == Era.TORCH_TE_2025 ? 64 : 8;
    return Math.min(Math.min(most, model.experts()), ranks);
  }

  private int usualVpp(int pp, int accumulation) {
    boolean nemo = training.era() == Era.NEMO_2024 || training.era() == Era.NEMO_2025;
    int layers = model.layerCount();
    return nemo && layers % pp == 0 && accumulation % pp == 0 ? layers / pp : 1;
  }

  private int micro(int dp, MemoryPlan memory) {
    if (row.has("mbs")) {
      return Math.max(1, (int) row.number("mbs"));
    }
    row.assume("mbs");
    boolean roomy = memory.recompute().full() || memory.sharding() == 0;
    int perReplica = Math.max(1, training.globalBatch() / dp);
    int micro = 1;
    while (roomy
        && perReplica % (2 * micro) == 0
        && 2.0 * micro * training.sequence() * model.hidden() <= MOST_ELEMENTS) {
      micro *= 2;
    }
    return micro;
  }

  private Schedule schedule(int vpp) {
    return switch (row.text("schedule")) {
      case "zb-1p", "zbb", "zero-bubble" -> Schedule.ZB_1P;
      case "zb-2p" -> Schedule.ZB_2P;
      case "zbv", "zbv-formatted" -> Schedule.ZBV;
      case "v-half" -> Schedule.V_HALF;
      case "v-min" -> Schedule.V_MIN;
      default -> vpp > 1 ? Schedule.INTERLEAVED : Schedule.ONE_F_ONE_B;
    };
  }

  private MemoryPlan memory(int ranks) {
    String text = row.text("zero_stage_or_dist_opt").toLowerCase(Locale.ROOT);
    int sharding;
    int group = 0;
    if (text.isEmpty()) {
      row.assume("zero_stage_or_dist_opt");
      sharding = EraDefaults.of(training.era()).sharding();
    } else if (text.contains("zero3") || (text.contains("fsdp") && !text.contains("zero2"))) {
      sharding = 3;
    } else if (text.contains("hsdp")) {
      sharding = 3;
      group = Math.min(ranks, machine.system().gpusPerNode());
    } else if (text.contains("zero2")) {
      sharding = 2;
    } else if (text.contains("zero1") || text.contains("dist_opt")) {
      sharding = 1;
    } else {
      sharding = 0;
    }
    Matcher m = GROUP.matcher(text);
    if (m.find()) {
      group = Math.min(ranks, Integer.parseInt(m.group(1)));
    }
    return new MemoryPlan(sharding, group, 0, recompute(), 0);
  }

  private Recompute recompute() {
    String text = row.text("recompute");
    double layers = row.number("recompute_layers");
    if (!Double.isNaN(layers)) {
      return share(layers / model.layerCount());
    }
    return switch (text) {
      case "none" -> Recompute.NONE;
      case "full" -> Recompute.FULL;
      case "selective" -> selective();
      default -> {
        row.assume("recompute");
        yield unknownRecompute(training.era());
      }
    };
  }

  /** What a stack's recipes recompute where a run does not say. */
  static Recompute unknownRecompute(Era era) {
    return switch (era) {
      case TORCH_TE_2025, TORCH_2025 -> Recompute.FULL;
      case XLA_2024 -> share(0.5);
      default -> Recompute.NONE;
    };
  }

  private Recompute selective() {
    if (row.has("recompute_modules")) {
      List<Module> modules = new ArrayList<>();
      for (String name : row.text("recompute_modules").split("\\+", -1)) {
        for (Module m : Module.values()) {
          if (m.key().equals(name.trim())) {
            modules.add(m);
          }
        }
      }
      return Recompute.selective(modules.toArray(new Module[0]));
    }
    row.assume("recompute_modules");
    boolean mla =
        model.distinctKinds().stream()
            .anyMatch(k -> k.attention() != null && k.attention().mla() != null);
    return switch (training.era()) {
      case MEGATRON_2026B, MEGATRON_2026A, MEGATRON_2025 ->
          Recompute.selective(
              mla ? Module.MLA_UP_PROJ : model.moe() ? Module.MOE_ACT : Module.CORE_ATTN);
      case NEMO_2025, NEMO_2024, MEGATRON_2021, MEGATRON_DEEPSPEED_2022 ->
          Recompute.selective(Module.CORE_ATTN);
      case TORCH_TE_2025, TORCH_2025, YAFSDP_2024, TORCH_2023, INTERNEVO_2023 -> share(0.5);
      case XLA_2024 -> Recompute.NONE;
    };
  }

  private static Recompute share(double share) {
    return share <= 0
        ? Recompute.NONE
        : new Recompute(Recompute.Granularity.FULL, List.of(), Math.min(1, share));
  }
}
