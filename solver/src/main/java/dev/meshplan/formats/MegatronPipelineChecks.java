package dev.meshplan.formats;

import dev.meshplan.rules.Interleaving;
import java.util.ArrayList;
import java.util.List;

/** Pipeline flags that Megatron-LM d98e8a64 refuses together. */
final class MegatronPipelineChecks {
  private final MegatronConfig c;
  private final List<Finding> out = new ArrayList<>();

  private MegatronPipelineChecks(MegatronConfig c) {
    this.c = c;
  }

  static List<Finding> of(MegatronConfig c) {
    MegatronPipelineChecks p = new MegatronPipelineChecks(c);
    p.ways();
    p.split();
    p.virtual();
    p.schedule();
    return p.out;
  }

  private void add(boolean broken, String id, String sentence, String says, String cure) {
    if (broken) {
      out.add(Finding.illegal(id, sentence, says, cure));
    }
  }

  /** At most one way to say virtual stages, and nothing beside a layout. */
  private void ways() {
    int ways =
        (c.has("--num-layers-per-virtual-pipeline-stage") ? 1 : 0)
            + (c.has("--num-virtual-stages-per-pipeline-rank") ? 1 : 0)
            + (c.layout().isEmpty() ? 0 : 1);
    add(
        ways > 1,
        "vpp-ways",
        "virtual stages are given in " + ways + " ways",
        "No more than one of --num-layers-per-virtual-pipeline-stage,"
            + " --num-virtual-stages-per-pipeline-rank, --pipeline-model-parallel-layout",
        "keep one");
    boolean account = c.counted() > c.layers;
    add(
        c.firstLast() && account,
        "first-last-account",
        "first/last stage counts and account-for flags exclude each other",
        "account_for_embedding_in_pipeline_split cannot be used with num_layers_in_first/last",
        "keep one of them");
    add(
        !c.layout().isEmpty() && (c.firstLast() || account),
        "layout-alone",
        "a layout excludes first/last counts and account-for flags",
        "pipeline_model_parallel_layout cannot be used with them",
        "keep the layout");
    add(
        c.firstLast() && c.has("--num-layers-per-virtual-pipeline-stage"),
        "first-last-vpp",
        "layers per virtual stage exclude first/last counts",
        "use --num-virtual-stages-per-pipeline-rank",
        "give the number of virtual stages per rank");
  }

  private void split() {
    String pattern = c.pattern();
    if (!pattern.isEmpty()) {
      int segments = (int) pattern.chars().filter(x -> x == '|').count() + 1;
      add(
          segments > 1 && segments % c.pp != 0,
          "hybrid-segments",
          "the hybrid pattern has " + segments + " segments, pp " + c.pp + " does not divide them",
          "the number of pipeline segments must be evenly divisible by pipeline size",
          "cut the pattern into a multiple of " + c.pp + " segments");
      return;
    }
    if (!c.layout().isEmpty()) {
      out.addAll(MegatronLayoutReader.check(c.layout(), c.layers, c.mtpLayers(), c.pp));
      return;
    }
    if (c.firstLast()) {
      firstLast();
      return;
    }
    add(
        c.counted() % c.pp != 0,
        "layers-pipeline",
        c.counted()
            + " layers (embedding and loss counted where asked) do not divide by pp "
            + c.pp,
        "Number of layers should be divisible by the pipeline-model-parallel size",
        even());
  }

  /** First and last counts that leave equal middle stages. */
  private String even() {
    int per = (c.layers + c.pp - 1) / c.pp;
    int rest = c.layers - per * (c.pp - 2);
    return c.pp > 2 && rest >= 2
        ? "--decoder-first-pipeline-num-layers "
            + rest / 2
            + " --decoder-last-pipeline-num-layers "
            + (rest - rest / 2)
            + ", middle stages "
            + per
        : "a pp that divides " + c.layers + " layers, or a layout";
  }

  private void firstLast() {
    int first = c.flags.integer("--decoder-first-pipeline-num-layers", -1);
    int last = c.flags.integer("--decoder-last-pipeline-num-layers", -1);
    int middle = c.pp - (first >= 0 ? 1 : 0) - (last >= 0 ? 1 : 0);
    int left = c.layers - Math.max(0, first) - Math.max(0, last);
    add(
        first == 0 || last == 0,
        "first-last-positive",
        "first and last stage need a layer",
        "num_layers_in_first/last_pipeline_stage must be larger than 0",
        "give at least 1");
    add(
        (middle <= 0) != (left == 0) && (middle <= 0 || left <= 0),
        "first-last-rest",
        left + " layers are left for " + middle + " middle stages",
        "Mismatch between the layers left and the middle stages",
        even());
    add(
        middle > 0 && left > 0 && left % middle != 0,
        "first-last-middle",
        left + " middle layers do not divide by " + middle + " middle stages",
        "the middle layers must be divisible by the middle pipeline stages",
        even());
    int v = c.vpp();
    boolean broken =
        v > 1
            && ((first > 0 && first % v != 0)
                || (last > 0 && last % v != 0)
                || (middle > 0 && left % middle == 0 && left / middle % v != 0));
    add(
        broken,
        "first-last-virtual",
        "a stage's layers do not divide by " + v + " virtual stages",
        "layers of the first, last and middle stages must be divisible by the virtual pipeline"
            + " size",
        "counts that are multiples of " + v);
  }

  private void virtual() {
    int per = c.flags.integer("--num-layers-per-virtual-pipeline-stage", 0);
    add(
        per > 0 && c.pp <= 1 && c.vpp() == 1,
        "vpp-single",
        "layers per virtual stage are given without a pipeline",
        "pipeline-model-parallel size should be greater than 1 with interleaved schedule",
        "drop --num-layers-per-virtual-pipeline-stage");
    if (c.counted() % c.pp == 0 && c.layout().isEmpty() && !c.firstLast()) {
      int rank = c.counted() / c.pp;
      add(
          per > 0 && rank % per != 0,
          "vpp-layers",
          rank + " layers a rank do not divide into virtual stages of " + per,
          "number of layers should be divisible by number of layers per virtual pipeline stage",
          "a divisor of " + rank);
      int v = c.flags.integer("--num-virtual-stages-per-pipeline-rank", 0);
      add(
          v > 1 && rank % v != 0,
          "vpp-layers",
          rank + " layers a rank do not divide into " + v + " virtual stages",
          "num_layers_per_pipeline_rank should be divisible by vp_size",
          "a divisor of " + rank);
    }
  }

  private void schedule() {
    int v = c.vpp();
    int m = c.microBatches();
    if (v <= 1 || c.pp <= 1 || m == 0) {
      return;
    }
    int g = c.flags.integer("--microbatch-group-size-per-virtual-pipeline-stage", c.pp);
    add(
        !Interleaving.inRange(m, c.pp, g),
        "vpp-micro-batches",
        m
            + " micro-batches: interleaving needs pp "
            + c.pp
            + " <= group "
            + g
            + " <= micro-batches",
        "number of contiguous micro-batches in a virtual pipeline stage should range in [PP="
            + c.pp
            + ", M="
            + m
            + "]",
        "global batch of " + c.pp * c.samples * c.microBatch + " or more, or no virtual stages");
    add(
        Interleaving.inRange(m, c.pp, g) && !Interleaving.accepts(m, c.pp, g),
        "vpp-micro-batches",
        m + " micro-batches leave " + m % g + " after groups of " + g + ", fewer than pp " + c.pp,
        "the remainder of micro-batches must be 0 or at least the pipeline size",
        "micro-batches in multiples of " + c.pp);
  }
}
