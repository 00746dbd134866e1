package dev.meshplan.formats;

import dev.meshplan.config.InputException;
import dev.meshplan.hardware.Precision;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Batch;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Schedule;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads a torchtitan configuration (TOML of older releases, or overrides) as a plan. */
public final class TorchTitanReader {

  private final Map<String, String> keys;
  private final int world;
  private final List<Finding> findings = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();

  private TorchTitanReader(Map<String, String> keys, int world) {
    this.keys = keys;
    this.world = world;
  }

  /**
   * The plan in it.
   *
   * @param model the shape, or null
   * @throws InputException when it holds no settings of torchtitan
   */
  public static ForeignPlan read(String file, String text, int world, Model model) {
    return read(file, text, world, model, n -> null);
  }

  /** The plan in it, whose model may be known by name. */
  static ForeignPlan read(
      String file, String text, int world, Model model, Function<String, Model> byName) {
    Map<String, String> keys =
        text.contains("--parallelism.") || text.contains("--training.")
            ? TorchTitanKeys.overrides(text)
            : TorchTitanKeys.toml(file, text);
    if (keys.keySet().stream()
        .noneMatch(k -> k.startsWith("parallelism.") || k.startsWith("training."))) {
      throw new InputException(
          file, "", "", "has neither a parallelism nor a training section of torchtitan.");
    }
    return new TorchTitanReader(keys, world).plan(model, byName);
  }

  private int number(String key, int absent) {
    String s = keys.get(key);
    return s != null && s.matches("-?\\d{1,9}") ? Integer.parseInt(s) : absent;
  }

  private void illegal(String id, String sentence, String says, String cure) {
    findings.add(Finding.illegal(id, sentence, says, cure));
  }

  /** The catalog's name of the model: releases of 2025 name a family and a flavor. */
  private String modelName() {
    String family = keys.getOrDefault("model.name", "").toLowerCase(Locale.ROOT);
    String flavor = keys.getOrDefault("model.flavor", "").toLowerCase(Locale.ROOT);
    return switch (family + " " + flavor) {
      case "llama4 17bx16e" -> "llama-4-scout";
      case "llama4 17bx128e" -> "llama-4-maverick";
      case "deepseek_v3 16b" -> "deepseek-v2-lite";
      case "deepseek_v3 236b" -> "deepseek-v2";
      case "deepseek_v3 671b" -> "deepseek-v3";
      default -> (family.equals("llama3") ? "llama-3.1" : family.replace('_', '-')) + "-" + flavor;
    };
  }

  private ForeignPlan plan(Model named, Function<String, Model> byName) {
    Model model = named != null ? named : byName.apply(modelName());
    if (named == null && model != null) {
      notes.add(
          "the model "
              + keys.get("model.name")
              + " "
              + keys.get("model.flavor")
              + " is read as "
              + model.id());
    }
    int tp = number("parallelism.tensor_parallel_degree", 1);
    int cp = number("parallelism.context_parallel_degree", 1);
    int pp = number("parallelism.pipeline_parallel_degree", 1);
    int ep = number("parallelism.expert_parallel_degree", 1);
    int etp = number("parallelism.expert_tensor_parallel_degree", 1);
    int replicate = Math.max(1, number("parallelism.data_parallel_replicate_degree", 1));
    int shard = number("parallelism.data_parallel_shard_degree", -1);
    long others = (long) tp * cp * pp * replicate;
    if (shard < 0) {
      shard = (int) (world / Math.max(1, others));
    }
    long product = others * shard;
    if (product != world) {
      illegal(
          "world-product",
          "dp_replicate x dp_shard x cp x tp x pp = "
              + replicate
              + " x "
              + shard
              + " x "
              + cp
              + " x "
              + tp
              + " x "
              + pp
              + " = "
              + product
              + ", not "
              + world
              + " GPUs",
          "Invalid parallel dims: dp_replicate * dp_shard * cp * tp * pp != WORLD_SIZE("
              + world
              + ")",
          "data_parallel_shard_degree = -1");
    }
    if ((long) shard * cp * tp % Math.max(1, ep) != 0) {
      illegal(
          "expert-grid",
          "ep " + ep + " does not divide dp_shard x cp x tp = " + (long) shard * cp * tp,
          "ep must divide dp_shard * cp * tp",
          "a divisor of " + (long) shard * cp * tp);
    }
    if (etp > 1) {
      illegal(
          "expert-tensor",
          "expert tensor parallelism was removed",
          "unrecognized option expert_tensor_parallel_degree",
          "drop it");
    }
    int dp = replicate * shard;
    int sequence = number("training.seq_len", 1);
    boolean tokens = keys.containsKey("training.num_tokens_per_microbatch_per_dp_rank");
    int local = number("training.local_batch_size", 1);
    int micro = pp > 1 ? number("parallelism.pipeline_parallel_microbatch_size", 1) : local;
    int m = pp > 1 ? Math.max(1, local / Math.max(1, micro)) : 1;
    if (tokens) {
      micro = Math.max(1, number("training.num_tokens_per_microbatch_per_dp_rank", 1) / sequence);
      m = pp > 1 ? Math.max(1, number("parallelism.num_pp_microbatches", 1)) : 1;
    }
    int global = number("training.global_batch_size", micro * m * dp);
    if (global > 0 && dp > 0 && global % (micro * m * dp) != 0) {
      illegal(
          "batch-product",
          "global_batch_size "
              + global
              + " is no multiple of the local batch "
              + micro * m
              + " x dp "
              + dp,
          "global batch size must be multiple of local batch size times data-parallel degree",
          Integer.toString(Math.max(1, global / (micro * m * dp)) * micro * m * dp));
    }
    int steps = global > 0 && dp > 0 ? Math.max(m, global / (micro * dp)) : m;
    String schedule = keys.getOrDefault("parallelism.pipeline_parallel_schedule", "1F1B");
    int vpp = virtual(schedule, pp);
    int rounds = Math.max(1, m / Math.max(1, pp));
    if (pp > 1 && vpp > 1 && m % rounds != 0) {
      illegal(
          "micro-batch-rounds",
          m + " micro-batches do not divide into " + rounds + " rounds of the pipeline",
          "Interleaved 1F1B requires the number of microbatches to be divisible by the number of"
              + " rounds",
          m / rounds * rounds + " micro-batches");
    }
    return new ForeignPlan(
        "torchtitan configuration",
        model,
        modelName(),
        null,
        new Dims(tp, cp, pp, Math.max(1, dp), ep, 1, vpp),
        new Batch(Math.max(1, micro), steps),
        schedule.startsWith("ZBV")
            ? Schedule.ZBV
            : vpp > 1
                ? Schedule.INTERLEAVED
                : schedule.equals("GPipe") ? Schedule.GPIPE : Schedule.ONE_F_ONE_B,
        memory(replicate, shard),
        stages(),
        0,
        ForeignTraining.of(
            global > 0 ? global : micro * steps * dp,
            Math.max(1, sequence),
            Precision.BF16,
            Framework.TORCHTITAN,
            GradientType.BF16),
        keys,
        findings,
        notes);
  }

  private List<Integer> stages() {
    String parts = keys.getOrDefault("parallelism.module_fqns_per_model_part", "");
    List<Integer> out = new ArrayList<>();
    Matcher m = Pattern.compile("\\[([^\\[\\]]*)\\]").matcher(parts);
    while (m.find()) {
      out.add((int) Pattern.compile("layers\\.\\d+").matcher(m.group(1)).results().count());
    }
    return out;
  }

  private int virtual(String schedule, int pp) {
    int parts = stages().size();
    boolean multi = schedule.startsWith("Interleaved") || schedule.startsWith("ZBV");
    if (parts > 0 && pp > 0 && parts % pp != 0) {
      illegal(
          "stages-pipeline",
          parts + " model parts do not divide by pp " + pp,
          "number of virtual stages must be divisible by the pipeline parallel degree",
          "a multiple of " + pp + " parts");
      return 1;
    }
    int vpp = parts > 0 && pp > 0 ? parts / pp : multi ? 2 : 1;
    if (pp > 1 && multi != vpp > 1) {
      illegal(
          "schedule-stages",
          schedule + " with " + vpp + " stage(s) a rank",
          "single-stage schedules need exactly 1 stage per rank, multi-stage schedules at least 2",
          multi ? "2 parts a rank" : "Interleaved1F1B");
    }
    return vpp;
  }

  private MemoryPlan memory(int replicate, int shard) {
    String mode = keys.getOrDefault("activation_checkpoint.mode", "selective");
    Recompute r =
        switch (mode) {
          case "none" -> Recompute.NONE;
          case "full" -> Recompute.FULL;
          default -> {
            String option = keys.getOrDefault("activation_checkpoint.selective_ac_option", "op");
            yield option.matches("\\d{1,3}")
                ? new Recompute(
                    Recompute.Granularity.FULL,
                    List.of(),
                    1.0 / Math.max(1, Integer.parseInt(option)))
                : Recompute.selective(dev.meshplan.plan.Module.CORE_ATTN);
          }
        };
    boolean never =
        keys.getOrDefault("parallelism.fsdp_reshard_after_forward", "default").equals("never");
    int level = shard == 1 ? 0 : never ? 2 : 3;
    return new MemoryPlan(level, replicate > 1 && shard > 1 ? shard : 0, 0, r, 0);
  }
}
