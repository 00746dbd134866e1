package dev.meshplan.study;

import dev.meshplan.formats.Export;
import dev.meshplan.formats.Exporters;
import dev.meshplan.formats.ForeignPlan;
import dev.meshplan.formats.Format;
import dev.meshplan.formats.Job;
import dev.meshplan.formats.MegatronReader;
import dev.meshplan.formats.OutputFile;
import dev.meshplan.plan.Answer;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Plan;
import dev.meshplan.plan.Problem;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What to change in a configuration to get the best plan: lines with - and +. */
final class AuditChanges {
  /** Flags that are no part of a plan; a diff leaves them alone. */
  private static final Set<String> APART =
      Set.of(
          "--train-iters",
          "--lr",
          "--min-lr",
          "--lr-decay-style",
          "--weight-decay",
          "--clip-grad",
          "--attention-dropout",
          "--hidden-dropout",
          "--log-interval",
          "--log-throughput",
          "--mock-data",
          "--tokenizer-type",
          "--vocab-size",
          "--transformer-impl",
          "--max-position-embeddings",
          "--kv-channels",
          "--moe-router-dtype",
          "--no-rope-fusion");

  private AuditChanges() {}

  static List<String> of(ForeignPlan foreign, Answer best, Problem problem) {
    if (foreign.training().framework() == Framework.MEGATRON) {
      Export e = Exporters.export(Format.MEGATRON, Job.of(best, problem, "best"), false);
      if (e.ok()) {
        String yaml =
            e.files().stream()
                .filter(f -> f.name().equals("args.yaml"))
                .map(OutputFile::text)
                .findFirst()
                .orElse("");
        Map<String, String> now =
            MegatronReader.read("best", yaml, (int) best.plan().dims().gpus(), 9, Map.of()).flags();
        return diff(foreign.flags(), now);
      }
    }
    return diff(axes(foreign), axes(best.plan()));
  }

  private static List<String> diff(Map<String, String> old, Map<String, String> now) {
    List<String> out = new ArrayList<>();
    boolean flags = now.keySet().stream().anyMatch(k -> k.startsWith("--"));
    old.forEach(
        (k, v) -> {
          boolean ours = !flags || now.containsKey(k) || planFlag(k);
          if (ours && !APART.contains(k) && !v.equals(now.get(k))) {
            out.add("- " + (k + " " + v).trim());
          }
        });
    now.forEach(
        (k, v) -> {
          boolean same = v.equals(old.get(k)) || (v.equals("1") && !old.containsKey(k));
          if (!APART.contains(k) && !same) {
            out.add("+ " + (k + " " + v).trim());
          }
        });
    return out;
  }

  private static boolean planFlag(String flag) {
    return flag.matches(
        "--(.*parallel.*|.*pipeline.*|recompute-.*|use-distributed-optimizer|use-megatron-fsdp"
            + "|overlap-.*|tp-comm-overlap|micro-batch-size|.*offload.*|fp8-.*|fp4-.*)");
  }

  private static Map<String, String> axes(ForeignPlan f) {
    return axes(f.dims(), f.batch() == null ? 0 : f.batch().microBatch(), f.memory());
  }

  private static Map<String, String> axes(Plan p) {
    return axes(p.dims(), p.batch().microBatch(), p.memory());
  }

  private static Map<String, String> axes(Dims d, int micro, MemoryPlan m) {
    Map<String, String> map = new LinkedHashMap<>();
    map.put("tp", Integer.toString(d.tp()));
    map.put("cp", Integer.toString(d.cp()));
    map.put("pp", Integer.toString(d.pp()));
    map.put("ep", Integer.toString(d.ep()));
    map.put("vpp", Integer.toString(d.vpp()));
    if (micro > 0) {
      map.put("micro_batch", Integer.toString(micro));
    }
    map.put("sharding", Integer.toString(m.sharding()));
    map.put("recompute", m.recompute().text());
    return map;
  }
}
