package dev.meshplan.rules;

import static dev.meshplan.plan.Axis.CP;
import static dev.meshplan.plan.Axis.DP;
import static dev.meshplan.plan.Axis.EP;
import static dev.meshplan.plan.Axis.ETP;
import static dev.meshplan.plan.Axis.MICRO_BATCH;
import static dev.meshplan.plan.Axis.PP;
import static dev.meshplan.plan.Axis.TP;

import dev.meshplan.plan.RuleKind;
import java.util.List;
import java.util.Set;

/** Products of degrees: GPUs on the dense and the expert grid, and the batch. */
final class GridRules {
  private static final String MEGATRON = "Megatron-LM d98e8a64 parallel_state and arguments";

  private GridRules() {}

  static List<Rule> all() {
    return List.of(
        new Rule(
            "gpus-available",
            RuleKind.DOES_NOT_FIT,
            "tp x cp x pp x dp must not exceed the GPUs there are",
            "the request",
            Set.of(),
            true,
            List.of(TP, CP, PP, DP),
            (f, p) -> p.gpus() <= f.gpus(),
            (f, p) ->
                p.tp() + " x " + p.cp() + " x " + p.pp() + " x " + p.dp() + " = " + p.gpus()
                    + " of " + f.gpus() + " GPUs"),
        new Rule(
            "expert-grid",
            RuleKind.ILLEGAL,
            "etp x ep must divide tp x cp x dp, so that the expert grid covers the same GPUs",
            MEGATRON,
            Set.of(),
            true,
            List.of(TP, CP, DP, EP, ETP),
            (f, p) -> (long) p.tp() * p.cp() * p.dp() % ((long) p.etp() * p.ep()) == 0,
            (f, p) ->
                "etp "
                    + p.etp()
                    + " x ep "
                    + p.ep()
                    + " = "
                    + (long) p.etp() * p.ep()
                    + ", tp x cp x dp = "
                    + (long) p.tp() * p.cp() * p.dp()),
        new Rule(
            "batch-product",
            RuleKind.ILLEGAL,
            "global_batch must be a multiple of dp x micro_batch",
            MEGATRON + "; DeepSpeed edaa7221 runtime/config",
            Set.of(),
            true,
            List.of(DP, MICRO_BATCH),
            (f, p) -> f.training().globalBatch() % ((long) p.dp() * p.microBatch()) == 0,
            (f, p) -> batch(f.training().globalBatch(), p.dp(), p.microBatch())));
  }

  private static String batch(int global, int dp, int micro) {
    long unit = (long) dp * micro;
    long below = global / unit * unit;
    String nearest =
        global % unit == 0 ? "" : ". Nearest: " + (below > 0 ? below + ", " : "") + (below + unit);
    return "global_batch "
        + global
        + ", dp x micro_batch = "
        + dp
        + " x "
        + micro
        + " = "
        + unit
        + nearest;
  }
}
