package dev.meshplan.study;

import dev.meshplan.formats.Export;
import dev.meshplan.formats.Exporters;
import dev.meshplan.formats.ForeignPlan;
import dev.meshplan.formats.Format;
import dev.meshplan.formats.Job;
import dev.meshplan.formats.MegatronReader;
import dev.meshplan.formats.OutputFile;
import dev.meshplan.formats.Quoting;
import dev.meshplan.formats.TorchTitanReader;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Problem;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** What to change in a configuration to get the best plan: lines with - and +. */
final class AuditChanges {
  /** Flags that a plan decides; a diff leaves all others alone. */
  private static final Pattern PLAN =
      Pattern.compile(
          "--(.*parallel.*|.*pipeline.*|recompute-.*|use-distributed-optimizer|use-megatron-fsdp"
              + "|num-distributed-optimizer-instances|data-parallel-sharding-strategy|ckpt-format"
              + "|overlap-.*|tp-comm-overlap|micro-batch-size|.*offload.*|fp8-.*|fp4-.*|cp-comm-type"
              + "|moe-token-dispatcher-type|moe-flex-dispatcher-backend|moe-enable-deepep"
              + "|use-precision-aware-optimizer|exp-avg.*-dtype)"
              + "|(parallelism|activation_checkpoint|zero_optimization)\\..*"
              + "|training\\.(local|global)_batch_size|(?!--)[^.]+");

  /** What a flag means where it is absent. */
  private static final Map<String, String> ABSENT =
      Map.of(
          "--cp-comm-type", "p2p",
          "--moe-token-dispatcher-type", "allgather",
          "parallelism.fsdp_reshard_after_forward", "default",
          "parallelism.context_parallel_rotate_method", "allgather");

  private AuditChanges() {}

  static List<String> of(ForeignPlan foreign, Answer best, Problem problem) {
    int gpus = (int) best.plan().dims().gpus();
    if (foreign.training().framework() == Framework.MEGATRON) {
      String yaml = written(Format.MEGATRON, "args.yaml", best, problem);
      if (!yaml.isEmpty()) {
        return diff(foreign.flags(), MegatronReader.read("best", yaml, gpus, 9, Map.of()).flags());
      }
    }
    if (foreign.training().framework() == Framework.TORCHTITAN) {
      String toml = written(Format.TORCHTITAN, "config.toml", best, problem);
      if (!toml.isEmpty()) {
        return diff(
            foreign.flags(), TorchTitanReader.read("best", toml, gpus, problem.model()).flags());
      }
    }
    Framework f = foreign.training().framework();
    return diff(
        axes(
            foreign.dims(),
            foreign.batch() == null ? 0 : foreign.batch().microBatch(),
            foreign.memory(),
            f),
        axes(best.plan().dims(), best.plan().batch().microBatch(), best.plan().memory(), f));
  }

  /** The file of that name of an export; empty where the format can't express the plan. */
  private static String written(Format format, String file, Answer best, Problem problem) {
    Export e = Exporters.export(format, Job.of(best, problem, "best"), false);
    return e.files().stream()
        .filter(f -> f.name().equals(file))
        .map(OutputFile::text)
        .findFirst()
        .orElse("");
  }

  /** Lines to take out and to put in, those of one flag together. */
  private static List<String> diff(Map<String, String> old, Map<String, String> now) {
    Set<String> keys = new LinkedHashSet<>(now.keySet());
    keys.addAll(old.keySet());
    List<String> out = new ArrayList<>();
    for (String k : keys) {
      String was = old.get(k);
      String is = now.get(k);
      boolean same = (was == null ? absent(k, now) : was).equals(is == null ? absent(k, now) : is);
      if (same || !PLAN.matcher(k).matches()) {
        continue;
      }
      if (was != null) {
        out.add("- " + line(k, was));
      }
      if (is != null) {
        out.add("+ " + line(k, is));
      }
    }
    return out;
  }

  /** A flag with its values, each a word that a shell takes as it is. */
  private static String line(String flag, String values) {
    if (!flag.startsWith("--")) {
      return (flag + " " + values).trim();
    }
    StringBuilder line = new StringBuilder(flag);
    for (String word : values.split(" ")) {
      line.append(word.isEmpty() ? "" : " " + Quoting.shell(word));
    }
    return line.toString();
  }

  /** What a flag means that the changed file leaves out. */
  private static String absent(String key, Map<String, String> flags) {
    return key.equals("--expert-tensor-parallel-size")
        ? flags.getOrDefault("--tensor-model-parallel-size", "1")
        : ABSENT.getOrDefault(key, "1");
  }

  private static Map<String, String> axes(Dims d, int micro, MemoryPlan m, Framework f) {
    Map<String, String> map = new LinkedHashMap<>();
    map.put(AuditWords.axis(Axis.TP, f), Integer.toString(d.tp()));
    map.put(AuditWords.axis(Axis.CP, f), Integer.toString(d.cp()));
    map.put(AuditWords.axis(Axis.PP, f), Integer.toString(d.pp()));
    map.put(AuditWords.axis(Axis.EP, f), Integer.toString(d.ep()));
    map.put(AuditWords.axis(Axis.VPP, f), Integer.toString(d.vpp()));
    if (micro > 0) {
      map.put(AuditWords.axis(Axis.MICRO_BATCH, f), Integer.toString(micro));
    }
    map.put(AuditWords.axis(Axis.SHARDING, f), Integer.toString(m.sharding()));
    map.put(AuditWords.axis(Axis.RECOMPUTE, f), m.recompute().text());
    return map;
  }
}
