package dev.meshplan.rules;

import static dev.meshplan.plan.Axis.CP;
import static dev.meshplan.plan.Axis.PP;
import static dev.meshplan.plan.Axis.TP;

import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.RuleKind;
import java.util.List;
import java.util.Set;

/** What DeepSpeed's own ways to split layers and sequences allow together. */
final class DeepSpeedRules {
  private static final String MEGATRON_DEEPSPEED = "Megatron-DeepSpeed 4efb479d ";

  private DeepSpeedRules() {}

  static List<Rule> all() {
    return List.of(
        new Rule(
            "gpt-layers",
            RuleKind.KEPT_APART,
            "tp and pp on DeepSpeed are planned for what Megatron-DeepSpeed builds, equal GPT"
                + " layers: other models keep tp = 1 and pp = 1",
            "this product's choice: AutoTP and pipelines of one's own are not priced; "
                + MEGATRON_DEEPSPEED
                + "megatron/arguments, model/transformer",
            Set.of(Framework.DEEPSPEED),
            false,
            List.of(TP, PP),
            (f, p) -> (p.tp() == 1 && p.pp() == 1) || DeepSpeedModels.gptLayers(f.model()),
            (f, p) -> f.model().id() + ", tp " + p.tp() + ", pp " + p.pp()),
        new Rule(
            "sequence-model-parallel",
            RuleKind.ILLEGAL,
            "DeepSpeed splits sequences (Ulysses) without tensor and pipeline parallelism: cp > 1"
                + " needs tp = 1 and pp = 1",
            MEGATRON_DEEPSPEED + "core/parallel_state",
            Set.of(Framework.DEEPSPEED),
            true,
            List.of(TP, CP, PP),
            (f, p) -> p.cp() == 1 || (p.tp() == 1 && p.pp() == 1),
            (f, p) -> "tp " + p.tp() + ", cp " + p.cp() + ", pp " + p.pp()),
        new Rule(
            "sequence-exchange",
            RuleKind.ILLEGAL,
            "DeepSpeed splits sequences by all-to-all (Ulysses) only: cp > 1 needs cp_kind"
                + " all_to_all",
            "DeepSpeed edaa7221 sequence/layer",
            Set.of(Framework.DEEPSPEED),
            true,
            List.of(CP),
            (f, p) -> p.cp() == 1 || f.training().cpKind() == CpKind.ALL_TO_ALL,
            (f, p) -> "cp " + p.cp() + ", cp_kind " + f.training().cpKind().key()));
  }
}
