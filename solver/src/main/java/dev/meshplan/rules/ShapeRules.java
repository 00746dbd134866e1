package dev.meshplan.rules;

import static dev.meshplan.plan.Axis.CP;
import static dev.meshplan.plan.Axis.EP;
import static dev.meshplan.plan.Axis.ETP;
import static dev.meshplan.plan.Axis.TP;

import dev.meshplan.hardware.Precision;
import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.Model;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.RuleKind;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/** Tensor shapes: what must divide by which degree. */
final class ShapeRules {
  private static final String MEGATRON = "Megatron-LM d98e8a64 transformer_config and arguments";
  private static final int VOCABULARY_UNIT = 128;

  private ShapeRules() {}

  static List<Rule> all() {
    return List.of(
        new Rule(
            "heads",
            RuleKind.ILLEGAL,
            "attention heads must be a multiple of tp",
            MEGATRON,
            Set.of(),
            true,
            List.of(TP),
            (f, p) -> all(f.attentions(), a -> a.heads() % p.tp() == 0),
            (f, p) -> "heads " + list(f, Attention::heads) + ", tp " + p.tp()),
        new Rule(
            "kv-groups",
            RuleKind.ILLEGAL,
            "key-value heads must be a multiple of tp, or tp a multiple of them (then they are"
                + " replicated)",
            MEGATRON,
            Set.of(),
            true,
            List.of(TP),
            (f, p) -> all(f.attentions(), a -> kvDivides(a, p.tp())),
            (f, p) -> "kv_heads " + list(f, Attention::kvHeads) + ", tp " + p.tp()),
        new Rule(
            "ffn-width",
            RuleKind.ILLEGAL,
            "the widths of dense and shared MLPs must be multiples of tp",
            MEGATRON,
            Set.of(),
            true,
            List.of(TP),
            (f, p) ->
                all(
                    f.feedForwards(),
                    x -> x.width() % p.tp() == 0 && x.sharedWidth() % p.tp() == 0),
            (f, p) -> "widths " + widths(f) + ", tp " + p.tp()),
        new Rule(
            "expert-width",
            RuleKind.ILLEGAL,
            "the width of an expert must be a multiple of etp",
            MEGATRON,
            Set.of(),
            true,
            List.of(ETP),
            (f, p) -> all(f.feedForwards(), x -> !x.moe() || x.expertWidth() % p.etp() == 0),
            (f, p) ->
                "expert width "
                    + f.feedForwards().stream()
                        .filter(FeedForward::moe)
                        .map(x -> String.valueOf(x.expertWidth()))
                        .distinct()
                        .collect(Collectors.joining(", "))
                    + ", etp "
                    + p.etp()),
        new Rule(
            "expert-bias",
            RuleKind.ILLEGAL,
            "experts with biased linear layers need etp = 1",
            MEGATRON,
            Set.of(Framework.MEGATRON),
            true,
            List.of(ETP),
            (f, p) -> p.etp() == 1 || all(f.feedForwards(), x -> !x.moe() || !x.bias()),
            (f, p) -> "etp " + p.etp()),
        new Rule(
            "vocabulary-padding",
            RuleKind.ILLEGAL,
            "the vocabulary, padded to a multiple of 128 x tp, must not more than double",
            MEGATRON,
            Set.of(),
            false,
            List.of(TP),
            (f, p) -> padded(f.model(), p.tp()) <= 2L * f.model().vocabulary() + VOCABULARY_UNIT,
            (f, p) ->
                "vocabulary "
                    + f.model().vocabulary()
                    + " is padded to "
                    + padded(f.model(), p.tp())),
        new Rule(
            "sequence-cp",
            RuleKind.ILLEGAL,
            "with cp > 1 the sequence must be a multiple of 2 x cp",
            MEGATRON,
            Set.of(),
            true,
            List.of(CP),
            (f, p) -> p.cp() == 1 || f.training().sequence() % (2 * p.cp()) == 0,
            (f, p) ->
                "sequence "
                    + f.training().sequence()
                    + ", 2 x cp = "
                    + 2 * p.cp()
                    + nearest(f.training().sequence(), 2L * p.cp())),
        new Rule(
            "sequence-tp",
            RuleKind.ILLEGAL,
            "with sequence parallelism sequence / cp must be a multiple of tp",
            "Megatron-LM d98e8a64 (not checked at start: it fails in the first scatter)",
            Set.of(),
            false,
            List.of(TP, CP),
            (f, p) ->
                p.tp() == 1
                    || !(f.training().sequenceParallel() || f.moe())
                    || f.training().sequence() % (p.cp() * p.tp()) == 0,
            (f, p) ->
                "sequence "
                    + f.training().sequence()
                    + ", cp x tp = "
                    + p.cp() * p.tp()
                    + nearest(f.training().sequence(), (long) p.cp() * p.tp())),
        new Rule(
            "tp-overlap",
            RuleKind.ILLEGAL,
            "tp_overlap needs sequence parallelism",
            MEGATRON + " tp-comm-overlap",
            Set.of(Framework.MEGATRON),
            true,
            List.of(TP),
            (f, p) ->
                p.tp() == 1
                    || f.training().sequenceParallel()
                    || !f.training().tpOverlap()
                    || f.training().assumed().contains("tp_overlap"),
            (f, p) -> "tp " + p.tp() + ", sequence_parallel false"),
        new Rule(
            "cp-heads",
            RuleKind.ILLEGAL,
            "context parallelism by all-to-all needs heads and key-value heads per tp rank that"
                + " are multiples of cp",
            "Transformer Engine (not checked by Megatron-LM at start); DeepSpeed Ulysses",
            Set.of(),
            false,
            List.of(TP, CP),
            (f, p) ->
                p.cp() == 1
                    || !allToAll(f)
                    || all(
                        f.attentions(),
                        a ->
                            a.heads() % (p.tp() * p.cp()) == 0
                                && (a.kvHeads() % (p.tp() * p.cp()) == 0
                                    || (f.training().framework() == Framework.DEEPSPEED
                                        && p.cp() % a.kvHeads() == 0))),
            (f, p) ->
                "heads "
                    + list(f, Attention::heads)
                    + ", kv_heads "
                    + list(f, Attention::kvHeads)
                    + ", tp x cp = "
                    + p.tp() * p.cp()),
        new Rule(
            "cp-mixer",
            RuleKind.ILLEGAL,
            "context parallelism needs softmax attention in every layer that mixes the sequence",
            MEGATRON + " (linear and SSM layers keep a state along the sequence)",
            Set.of(),
            false,
            List.of(CP),
            (f, p) -> p.cp() == 1 || all(f.attentions(), Attention::softmax),
            (f, p) -> "cp " + p.cp()),
        new Rule(
            "experts",
            RuleKind.ILLEGAL,
            "the number of experts must be a multiple of ep; without experts ep and etp are 1",
            MEGATRON,
            Set.of(),
            true,
            List.of(EP, ETP),
            (f, p) ->
                f.moe()
                    ? all(f.feedForwards(), x -> !x.moe() || x.experts() % p.ep() == 0)
                    : p.ep() == 1 && p.etp() == 1,
            (f, p) ->
                f.moe()
                    ? "experts " + f.model().experts() + ", ep " + p.ep()
                    : "the model has no experts, ep " + p.ep() + ", etp " + p.etp()),
        new Rule(
            "precision",
            RuleKind.ILLEGAL,
            "the GPU must have tensor cores for the precision",
            "GPU data sheets (FP8 from Ada and Hopper, MXFP8 and NVFP4 on Blackwell)",
            Set.of(),
            false,
            List.of(),
            (f, p) -> f.machine().gpu().supports(f.training().precision()),
            (f, p) ->
                f.machine().gpu().id()
                    + " has "
                    + f.machine().gpu().peaks().keySet().stream()
                        .map(Precision::key)
                        .collect(Collectors.joining(", "))
                    + ", the job asks for "
                    + f.training().precision().key()));
  }

  /** The legal values around one that is no multiple. */
  private static String nearest(int value, long unit) {
    long below = value / unit * unit;
    return below == value ? "" : ". Nearest: " + (below > 0 ? below + ", " : "") + (below + unit);
  }

  /** Vocabulary as stored: a multiple of 128 x tp. */
  static long padded(Model model, int tp) {
    long unit = (long) VOCABULARY_UNIT * tp;
    return (model.vocabulary() + unit - 1) / unit * unit;
  }

  /** Without streams: rules are asked millions of times. */
  private static <T> boolean all(List<T> parts, Predicate<T> holds) {
    for (T part : parts) {
      if (!holds.test(part)) {
        return false;
      }
    }
    return true;
  }

  private static boolean allToAll(Facts f) {
    return f.training().cpKind() == CpKind.ALL_TO_ALL
        || f.training().framework() == Framework.DEEPSPEED;
  }

  private static boolean kvDivides(Attention a, int tp) {
    return a.kind() != Attention.Kind.GQA || a.kvHeads() % tp == 0 || tp % a.kvHeads() == 0;
  }

  private static String list(Facts facts, ToIntFunction<Attention> count) {
    return facts.attentions().stream()
        .map(a -> String.valueOf(count.applyAsInt(a)))
        .distinct()
        .collect(Collectors.joining(", "));
  }

  private static String widths(Facts facts) {
    return facts.feedForwards().stream()
        .flatMap(x -> java.util.stream.Stream.of(x.width(), x.sharedWidth()))
        .filter(w -> w > 0)
        .map(String::valueOf)
        .distinct()
        .collect(Collectors.joining(", "));
  }
}
