package dev.meshplan.optimize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Problem;
import dev.meshplan.rules.Facts;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import dev.meshplan.rules.Rules;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Every rule accepts one point and rejects another, with the sentence that users see. */
class RuleRowsTest {
  /** Axes that are not named are 1 (options: the first; context groups: inside). */
  private record Row(String rule, String request, String accepts, String rejects, String says) {}

  private static final String DENSE = "llama-3.1-70b hgx-h100 64 128 8192";
  private static final String MOE = "deepseek-v3 hgx-h100 256 256 4096";

  private static final List<Row> ROWS =
      List.of(
          new Row(
              "gpus-available",
              DENSE,
              "tp=8 pp=8",
              "tp=8 pp=8 dp=2",
              "tp x cp x pp x dp must not exceed the GPUs there are: 8 x 1 x 8 x 2 = 128 of 64 GPUs"),
          new Row(
              "expert-grid",
              MOE,
              "tp=2 dp=4 ep=8",
              "tp=2 dp=3 ep=8",
              "etp x ep must divide tp x cp x dp, so that the expert grid covers the same GPUs: etp 1 x ep 8 = 8, tp x cp x dp = 6"),
          new Row(
              "batch-product",
              "llama-3.1-70b hgx-h100 64 100 8192",
              "dp=4",
              "dp=8 micro_batch=4",
              "global_batch must be a multiple of dp x micro_batch: global_batch 100, dp x micro_batch = 8 x 4 = 32. Nearest: 96, 128"),
          new Row(
              "heads",
              DENSE,
              "tp=8",
              "tp=7",
              "attention heads must be a multiple of tp: heads 64, tp 7"),
          new Row(
              "kv-groups",
              DENSE,
              "tp=16",
              "tp=3",
              "key-value heads must be a multiple of tp, or tp a multiple of them (then they are replicated): kv_heads 8, tp 3"),
          new Row(
              "ffn-width",
              DENSE,
              "tp=8",
              "tp=3",
              "the widths of dense and shared MLPs must be multiples of tp: widths 28672, tp 3"),
          new Row(
              "expert-width",
              MOE,
              "etp=2",
              "etp=3",
              "the width of an expert must be a multiple of etp: expert width 2048, etp 3"),
          new Row(
              "expert-bias",
              "gpt-oss-20b hgx-h100 64 64 4096",
              "etp=1",
              "etp=2",
              "experts with biased linear layers need etp = 1: etp 2"),
          new Row(
              "vocabulary-padding",
              "gpt2-124m hgx-h100 64 64 1024",
              "tp=4",
              "tp=1024",
              "the vocabulary, padded to a multiple of 128 x tp, must not more than double: vocabulary 50257 is padded to 131072"),
          new Row(
              "sequence-cp",
              "llama-3.1-70b hgx-h100 64 128 8190",
              "cp=1",
              "cp=4",
              "with cp > 1 the sequence must be a multiple of 2 x cp: sequence 8190, 2 x cp = 8. Nearest: 8184, 8192"),
          new Row(
              "sequence-tp",
              "llama-3.1-70b hgx-h100 64 128 8190",
              "tp=2",
              "tp=8",
              "with sequence parallelism sequence / cp must be a multiple of tp: sequence 8190, cp x tp = 8. Nearest: 8184, 8192"),
          new Row(
              "tp-overlap",
              "llama-3.1-70b hgx-h100 64 128 8192 tp_overlap: true, sequence_parallel: false",
              "tp=1",
              "tp=2",
              "tp_overlap needs sequence parallelism: tp 2, sequence_parallel false"),
          new Row(
              "cp-heads",
              "llama-3.1-70b hgx-h100 64 128 8192 cp_kind: all_to_all",
              "tp=2 cp=4",
              "tp=4 cp=4",
              "context parallelism by all-to-all needs heads and key-value heads per tp rank that are multiples of cp: heads 64, kv_heads 8, tp x cp = 16"),
          new Row(
              "cp-mixer",
              "nemotron-h-8b hgx-h100 64 128 8192",
              "cp=1",
              "cp=2",
              "context parallelism needs softmax attention in every layer that mixes the sequence: cp 2"),
          new Row(
              "experts",
              MOE,
              "ep=8",
              "ep=24",
              "the number of experts must be a multiple of ep; without experts ep and etp are 1: experts 256, ep 24"),
          new Row(
              "layer-cover",
              DENSE,
              "pp=41 vpp=2",
              "pp=42 vpp=2",
              "pp x vpp virtual stages must each get a layer, the embedding or the loss: pp x vpp = 84, layers 80 + embedding + loss"),
          new Row(
              "vpp-pipeline",
              "llama-3.1-70b hgx-h100 64 128 8192 pp_overlap: false",
              "pp=4 vpp=2",
              "pp=2 vpp=2",
              "virtual stages need a pipeline (pp > 1; pp > 2 when pipeline sends do not overlap): vpp 2, pp 2"),
          new Row(
              "vpp-micro-batches",
              DENSE,
              "pp=4 vpp=2 dp=4",
              "pp=3 vpp=2 dp=4",
              "with virtual stages the micro-batches must be a multiple of pp: 32 micro-batches, pp 3"),
          new Row(
              "even-pipeline",
              "llama-3.1-70b hgx-h100 64 128 8192 framework: deepspeed",
              "pp=4",
              "pp=3",
              "the DeepSpeed pipeline needs layers that are a multiple of pp: layers 80, pp 3"),
          new Row(
              "vpp-framework",
              "llama-3.1-70b hgx-h100 64 128 8192 framework: deepspeed",
              "pp=4",
              "pp=4 vpp=2",
              "the DeepSpeed pipeline engine has no virtual stages: vpp 2"),
          new Row(
              "sharding-pipeline",
              DENSE,
              "pp=2",
              "pp=2 sharding=1",
              "a pipeline allows sharding level 0 or 1 only: pp 2, sharding 3"),
          new Row(
              "sharding-moe",
              "mixtral-8x22b hgx-h100 64 128 4096 framework: deepspeed",
              "ep=8 sharding=3",
              "tp=2 ep=8 sharding=3",
              "DeepSpeed shards the weights of experts (ZeRO-3) only by an AutoEP preset, without tp, cp and hpZ beside ep > 1: sharding 3, ep 8, tp 2, cp 1, mixtral-8x22b"),
          new Row(
              "sharding-moe",
              "llama-4-scout hgx-h100 64 128 4096 framework: deepspeed",
              "ep=8 sharding=2",
              "ep=8 sharding=3",
              "DeepSpeed shards the weights of experts (ZeRO-3) only by an AutoEP preset, without tp, cp and hpZ beside ep > 1: sharding 3, ep 8, tp 1, cp 1, llama-4-scout"),
          new Row(
              "gpt-layers",
              "qwen3-32b hgx-h100 64 128 8192 framework: deepspeed",
              "cp=2",
              "tp=4",
              "tp and pp on DeepSpeed are planned for what Megatron-DeepSpeed builds, equal GPT layers: other models keep tp = 1 and pp = 1: qwen3-32b, tp 4, pp 1"),
          new Row(
              "sequence-model-parallel",
              "llama-3.1-70b hgx-h100 64 128 8192 framework: deepspeed",
              "cp=4 dp=8",
              "tp=2 cp=4",
              "DeepSpeed splits sequences (Ulysses) without tensor and pipeline parallelism: cp > 1 needs tp = 1 and pp = 1: tp 2, cp 4, pp 1"),
          new Row(
              "sequence-exchange",
              "llama-3.1-70b hgx-h100 64 128 8192 framework: deepspeed, cp_kind: p2p",
              "cp=1",
              "cp=2",
              "DeepSpeed splits sequences by all-to-all (Ulysses) only: cp > 1 needs cp_kind all_to_all: cp 2, cp_kind p2p"),
          new Row(
              "expert-overlap",
              "deepseek-v3 hgx-h100 256 256 4096 a2a_overlap: true",
              "pp=2 vpp=2 ep=8",
              "pp=2 ep=8",
              "a2a_overlap needs virtual stages in a pipeline: pp 2, vpp 1"),
          new Row(
              "expert-overlap-mtp",
              "minimax-m2.5 hgx-h100 256 256 4096 a2a_overlap: true",
              "pp=2 vpp=2",
              "ep=8",
              "a2a_overlap goes with one MTP layer at most: mtp_layers 3, ep 8"),
          new Row(
              "expert-overlap-recompute",
              "deepseek-v3 hgx-h100 256 256 4096 a2a_overlap: true",
              "ep=8 recompute=1",
              "ep=8 recompute=7",
              "a2a_overlap can't run under full recompute: full recompute"),
          new Row(
              "expert-tensor",
              "mixtral-8x22b hgx-h100 64 128 4096 framework: torchtitan",
              "etp=1",
              "etp=2",
              "only Megatron-LM splits experts by tensor parallelism (etp = 1 elsewhere): etp 2"),
          new Row(
              "expert-data",
              "mixtral-8x22b hgx-h100 64 128 4096 framework: deepspeed",
              "dp=8 ep=8",
              "dp=4 ep=8",
              "DeepSpeed keeps experts inside data parallelism: ep must divide dp: dp 4, ep 8"),
          new Row(
              "sharding-group",
              "llama-3.1-70b hgx-h100 64 128 8192 framework: deepspeed",
              "dp=16 sharding=4",
              "dp=12 sharding=4",
              "the shard group must divide the data-parallel ranks: group 8, dp x cp = 12"),
          new Row(
              "tp-inside-block",
              DENSE,
              "tp=8",
              "tp=16",
              "TP groups (with CP where it is kept inside) must stay inside a block of a scale-up domain: tp = 16, block 8 of a 8-GPU domain"),
          new Row(
              "ep-inside-block",
              MOE,
              "ep=8",
              "ep=16",
              "EP groups (etp x ep) must stay inside a block of a scale-up domain: etp x ep = 16, block 8 of a 8-GPU domain"),
          new Row(
              "memory",
              "llama-3.1-70b hgx-h100 64 128 8192",
              "tp=8 pp=8",
              "tp=8",
              "the worst stage's device memory must stay below the limit: 163 GiB of 72.9 GiB"));

  private static Problem problem(String text) {
    String[] w = text.split(" ", 6);
    return SmallCase.request(
        """
        model: %s
        cluster: {system: %s, gpus: %s}
        training: {global_batch: %s, sequence: %s%s}
        """
            .formatted(w[0], w[1], w[2], w[3], w[4], w.length > 5 ? ", " + w[5] : ""));
  }

  private static Point point(String text) {
    Point p = new Point();
    for (Axis a : Axis.values()) {
      p.set(a, a == Axis.RECOMPUTE || a == Axis.SHARDING ? 0 : 1);
    }
    p.set(Axis.BLOCK_GPUS, 8);
    for (String part : text.split(" ")) {
      if (!part.isEmpty()) {
        String[] kv = part.split("=");
        Axis axis =
            Arrays.stream(Axis.values()).filter(a -> a.key().equals(kv[0])).findFirst().get();
        p.set(axis, Integer.parseInt(kv[1]));
      }
    }
    return p;
  }

  private static Facts facts(Problem problem) {
    Space space = new Space(problem, problem.machines().get(0));
    return new Oracle(problem, problem.machines().get(0), space, problem.request().locality())
        .facts;
  }

  @Test
  void everyRuleAcceptsAndRejectsWithItsSentence() {
    for (Row row : ROWS) {
      Problem problem = problem(row.request());
      Facts facts = facts(problem);
      Rule rule =
          Rules.of(problem.request().training().framework()).stream()
              .filter(r -> r.id().equals(row.rule()))
              .findFirst()
              .orElseThrow(() -> new AssertionError(row.rule()));
      assertTrue(rule.holds().test(facts, point(row.accepts())), row.rule() + " accepts");
      Point rejected = point(row.rejects());
      assertFalse(rule.holds().test(facts, rejected), row.rule() + " rejects");
      assertEquals(row.says(), rule.at(facts, rejected));
    }
  }

  @Test
  void noRuleIsMissingFromTheListOrFromTheRows() {
    Set<String> ids = Rules.all().stream().map(Rule::id).collect(Collectors.toSet());
    assertEquals(Rules.all().size(), ids.size());
    Set<String> rows = ROWS.stream().map(Row::rule).collect(Collectors.toSet());
    rows.add("precision");
    assertEquals(ids, rows);
    for (Rule r : Rules.all()) {
      assertFalse(r.sentence().isBlank() || r.source().isBlank(), r.id());
    }
  }

  @Test
  void aPrecisionWithoutTensorCoresIsRejected() {
    Problem h100 = problem(DENSE + " precision: fp8");
    Problem a100 = problem("llama-3.1-70b hgx-a100-80 64 128 8192");
    Rule rule = Rules.all().stream().filter(r -> r.id().equals("precision")).findFirst().get();
    assertTrue(rule.holds().test(facts(h100), point("")));
    Facts facts =
        new Facts(
            a100.model(),
            List.of(),
            List.of(),
            h100.request().training(),
            a100.machines().get(0),
            a100.request().locality(),
            64,
            1,
            List.of(),
            List.of(),
            p -> 0,
            p -> true);
    assertFalse(rule.holds().test(facts, point("")));
    assertEquals(
        "the GPU must have tensor cores for the precision: a100-sxm-80 has bf16, fp16, the job asks"
            + " for fp8",
        rule.at(facts, point("")));
  }

  @Test
  void rulesReadOnlyTheAxesOfTheirScope() {
    for (String request : List.of(DENSE, MOE)) {
      Facts facts = facts(problem(request));
      for (Rule r : Rules.all()) {
        if (!r.id().equals("memory")) {
          Point all = point("tp=2 cp=2 pp=4 dp=4 ep=4 vpp=2 micro_batch=2");
          Point some = new Point();
          r.scope().forEach(a -> some.set(a, all.get(a)));
          assertEquals(r.holds().test(facts, all), r.holds().test(facts, some), r.id());
        }
      }
    }
  }
}
