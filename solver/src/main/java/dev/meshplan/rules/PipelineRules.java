package dev.meshplan.rules;

import static dev.meshplan.plan.Axis.CP;
import static dev.meshplan.plan.Axis.DP;
import static dev.meshplan.plan.Axis.EP;
import static dev.meshplan.plan.Axis.ETP;
import static dev.meshplan.plan.Axis.MICRO_BATCH;
import static dev.meshplan.plan.Axis.PP;
import static dev.meshplan.plan.Axis.RECOMPUTE;
import static dev.meshplan.plan.Axis.SHARDING;
import static dev.meshplan.plan.Axis.TP;
import static dev.meshplan.plan.Axis.VPP;

import dev.meshplan.plan.Framework;
import dev.meshplan.plan.RuleKind;
import java.util.List;
import java.util.Set;

/** Pipelines, and what excludes what. */
final class PipelineRules {
  private static final String MEGATRON = "Megatron-LM d98e8a64 arguments and schedules";
  private static final String DEEPSPEED = "DeepSpeed edaa7221 runtime/engine and runtime/pipe";

  private static final String EXPERT_OVERLAP =
      "Megatron-LM d98e8a64 overlap-moe-expert-parallel-comm";

  private PipelineRules() {}

  static List<Rule> all() {
    return List.of(
        new Rule(
            "layer-cover",
            RuleKind.ILLEGAL,
            "pp x vpp virtual stages must each get a layer, the embedding or the loss",
            MEGATRON,
            Set.of(),
            true,
            List.of(PP, VPP),
            (f, p) -> p.pp() * p.vpp() <= f.model().layerCount() + (p.pp() > 1 ? 2 : 0),
            (f, p) ->
                "pp x vpp = "
                    + p.pp() * p.vpp()
                    + ", layers "
                    + f.model().layerCount()
                    + " + embedding + loss"),
        new Rule(
            "vpp-pipeline",
            RuleKind.ILLEGAL,
            "virtual stages need a pipeline (pp > 1; pp > 2 when pipeline sends do not overlap)",
            MEGATRON,
            Set.of(),
            true,
            List.of(PP, VPP),
            (f, p) -> p.vpp() == 1 || p.pp() > (f.training().ppOverlap() ? 1 : 2),
            (f, p) -> "vpp " + p.vpp() + ", pp " + p.pp()),
        new Rule(
            "vpp-micro-batches",
            RuleKind.ILLEGAL,
            "with virtual stages the micro-batches must be a multiple of pp",
            MEGATRON,
            Set.of(),
            true,
            List.of(PP, VPP, DP, MICRO_BATCH),
            (f, p) ->
                p.vpp() == 1
                    || Interleaving.accepts(
                        p.microBatches(f.training().globalBatch()), p.pp(), p.pp()),
            (f, p) -> p.microBatches(f.training().globalBatch()) + " micro-batches, pp " + p.pp()),
        new Rule(
            "even-pipeline",
            RuleKind.ILLEGAL,
            "the DeepSpeed pipeline needs layers that are a multiple of pp",
            "Megatron-DeepSpeed 4efb479d arguments",
            Set.of(Framework.DEEPSPEED),
            true,
            List.of(PP),
            (f, p) -> f.model().layerCount() % p.pp() == 0,
            (f, p) -> "layers " + f.model().layerCount() + ", pp " + p.pp()),
        new Rule(
            "vpp-framework",
            RuleKind.ILLEGAL,
            "the DeepSpeed pipeline engine has no virtual stages",
            DEEPSPEED,
            Set.of(Framework.DEEPSPEED),
            false,
            List.of(VPP),
            (f, p) -> p.vpp() == 1,
            (f, p) -> "vpp " + p.vpp()),
        new Rule(
            "sharding-pipeline",
            RuleKind.ILLEGAL,
            "a pipeline allows sharding level 0 or 1 only",
            DEEPSPEED + "; Megatron-FSDP shards without a pipeline",
            Set.of(Framework.DEEPSPEED, Framework.MEGATRON),
            false,
            List.of(PP, SHARDING),
            (f, p) -> p.pp() == 1 || f.sharding(p).level() <= 1,
            (f, p) -> "pp " + p.pp() + ", sharding " + f.sharding(p).level()),
        new Rule(
            "sharding-moe",
            RuleKind.ILLEGAL,
            "DeepSpeed shards the weights of experts (ZeRO-3) only by an AutoEP preset, without tp,"
                + " cp and hpZ beside ep > 1",
            DEEPSPEED + ", module_inject/auto_ep_folding",
            Set.of(Framework.DEEPSPEED),
            false,
            List.of(TP, CP, EP, SHARDING),
            (f, p) ->
                f.sharding(p).level() < 3
                    || !f.moe()
                    || (p.tp() == 1
                        && (p.ep() == 1
                            || (p.cp() == 1
                                && f.sharding(p).secondaryGroup() == 0
                                && !DeepSpeedModels.autoEpPreset(f.model()).isEmpty()))),
            (f, p) ->
                "sharding 3, ep "
                    + p.ep()
                    + ", tp "
                    + p.tp()
                    + ", cp "
                    + p.cp()
                    + ", "
                    + f.model().id()),
        new Rule(
            "expert-overlap",
            RuleKind.ILLEGAL,
            "a2a_overlap needs virtual stages in a pipeline",
            EXPERT_OVERLAP,
            Set.of(Framework.MEGATRON),
            true,
            List.of(PP, EP, VPP),
            (f, p) -> !f.training().a2aOverlap() || p.ep() == 1 || p.pp() == 1 || p.vpp() > 1,
            (f, p) -> "pp " + p.pp() + ", vpp " + p.vpp()),
        new Rule(
            "expert-overlap-recompute",
            RuleKind.ILLEGAL,
            "a2a_overlap can't run under full recompute",
            EXPERT_OVERLAP,
            Set.of(Framework.MEGATRON),
            true,
            List.of(EP, RECOMPUTE),
            (f, p) ->
                !f.training().a2aOverlap()
                    || p.ep() == 1
                    || !f.recomputes().get(p.get(RECOMPUTE)).full(),
            (f, p) -> f.recomputes().get(p.get(RECOMPUTE)).text()),
        new Rule(
            "expert-overlap-mtp",
            RuleKind.ILLEGAL,
            "a2a_overlap goes with one MTP layer at most",
            EXPERT_OVERLAP,
            Set.of(Framework.MEGATRON),
            true,
            List.of(EP),
            (f, p) -> !f.training().a2aOverlap() || p.ep() == 1 || f.model().mtpLayers() <= 1,
            (f, p) -> "mtp_layers " + f.model().mtpLayers() + ", ep " + p.ep()),
        new Rule(
            "expert-tensor",
            RuleKind.ILLEGAL,
            "only Megatron-LM splits experts by tensor parallelism (etp = 1 elsewhere)",
            "torchtitan #3167; " + DEEPSPEED,
            Set.of(Framework.DEEPSPEED, Framework.TORCHTITAN),
            true,
            List.of(ETP),
            (f, p) -> p.etp() == 1,
            (f, p) -> "etp " + p.etp()),
        new Rule(
            "expert-data",
            RuleKind.ILLEGAL,
            "DeepSpeed keeps experts inside data parallelism: ep must divide dp",
            DEEPSPEED,
            Set.of(Framework.DEEPSPEED),
            true,
            List.of(DP, EP),
            (f, p) -> p.dp() % p.ep() == 0,
            (f, p) -> "dp " + p.dp() + ", ep " + p.ep()),
        new Rule(
            "sharding-group",
            RuleKind.ILLEGAL,
            "the shard group must divide the data-parallel ranks",
            DEEPSPEED + "; torchtitan b5bcd76c parallel_dims",
            Set.of(),
            true,
            List.of(CP, DP, SHARDING),
            (f, p) -> {
              int group = Math.max(f.sharding(p).shardGroup(), f.sharding(p).secondaryGroup());
              return group == 0 || (long) p.dp() * p.cp() % group == 0;
            },
            (f, p) ->
                "group "
                    + Math.max(f.sharding(p).shardGroup(), f.sharding(p).secondaryGroup())
                    + ", dp x cp = "
                    + (long) p.dp() * p.cp()));
  }
}
