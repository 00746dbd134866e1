package dev.meshplan.formats;

import dev.meshplan.hardware.Precision;
import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Recompute;
import java.util.List;
import java.util.Map;

/**
 * The script that starts Megatron-DeepSpeed, which brings tensor and pipeline parallelism to
 * DeepSpeed. Source of the flags: 4efb479d megatron/arguments.py.
 */
final class MegatronDeepSpeedScript {
  static final String NAME = "train_deepspeed.sh";

  private final Job job;
  private final Dims d;

  private MegatronDeepSpeedScript(Job job) {
    this.job = job;
    this.d = job.dims();
  }

  static String write(Job job, List<String> notes) {
    MegatronDeepSpeedScript s = new MegatronDeepSpeedScript(job);
    return ShellScript.start(job.comment(Format.DEEPSPEED, notes))
        + ShellScript.environment(Map.of("CUDA_DEVICE_MAX_CONNECTIONS", "1"))
        + "HERE=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\"\n"
        + "cd \"${MEGATRON_DEEPSPEED_PATH:-.}\"\n"
        + ": \"${DATA_PATH:?name a tokenized data set, without .bin and .idx}\"\n\n"
        + ShellScript.array("MODEL_ARGS", s.model())
        + ShellScript.array("PLAN_ARGS", s.plan())
        + "# Not part of the plan: optimizer, data, tokenizer.\n"
        + ShellScript.array("JOB_ARGS", s.rest())
        + ShellScript.launch(
            job,
            "pretrain_gpt.py",
            "\"${MODEL_ARGS[@]}\" \"${PLAN_ARGS[@]}\" \"${JOB_ARGS[@]}\" \\\n"
                + "  --data-path \"$DATA_PATH\" --deepspeed --deepspeed_config"
                + " \"$HERE/ds_config.json\"");
  }

  private List<Argument> model() {
    Model m = job.model();
    LayerKind kind = m.layerKinds().get(0);
    Attention a = kind.attention();
    FeedForward f = kind.feedForward();
    Argument.Builder b = new Argument.Builder();
    b.add("--num-layers", m.layerCount());
    b.add("--hidden-size", m.hidden());
    b.add("--ffn-hidden-size", f.moe() ? f.expertWidth() : f.width());
    b.add("--num-attention-heads", a.heads());
    b.addIf(a.kvHeads() != a.heads(), "--num-key-value-heads", a.kvHeads());
    b.addIf(a.headDim() * a.heads() != m.hidden(), "--kv-channels", a.headDim());
    b.add("--seq-length", job.training().sequence());
    boolean learned = m.positions() == Model.Positions.LEARNED;
    b.add(
        "--max-position-embeddings",
        Math.max(learned ? m.maxSequence() : 0, job.training().sequence()));
    b.addIf(m.positions() == Model.Positions.ROPE, "--use-rotary-position-embeddings");
    b.addIf(m.positions() == Model.Positions.NONE, "--no-position-embedding");
    b.add("--normalization", m.norm() == Model.Norm.RMSNORM ? "rmsnorm" : "layernorm");
    b.addIf(f.gated(), "--swiglu");
    b.addIf(!f.bias(), "--disable-bias-linear");
    b.addIf(!m.tiedEmbeddings(), "--untie-embeddings-and-output-weights");
    b.add("--no-query-key-layer-scaling");
    if (f.moe()) {
      b.add("--num-experts", f.experts());
      b.add("--expert-interval", 1);
      b.add("--topk", f.topK());
      b.add("--mlp-type", "standard");
    }
    return b.list();
  }

  private List<Argument> plan() {
    Argument.Builder b = new Argument.Builder();
    b.add("--tensor-model-parallel-size", d.tp());
    b.add("--pipeline-model-parallel-size", d.pp());
    b.addIf(d.pp() == 1, "--no-pipeline-parallel");
    if (job.moe()) {
      b.add("--moe-expert-parallel-size", d.ep());
      b.add("--create-moe-param-group");
    }
    b.addIf(job.training().sequenceParallel() && d.tp() > 1, "--sequence-parallel");
    b.add("--zero-stage", job.plan().memory().sharding());
    b.add("--micro-batch-size", job.plan().batch().microBatch());
    b.add("--global-batch-size", job.training().globalBatch());
    b.add(job.training().precision() == Precision.FP16 ? "--fp16" : "--bf16");
    Recompute r = job.plan().memory().recompute();
    if (r.granularity() == Recompute.Granularity.SELECTIVE) {
      b.add("--recompute-granularity", "selective");
    } else if (r.full()) {
      b.add("--deepspeed-activation-checkpointing");
      b.add("--recompute-granularity", "full");
      b.add("--recompute-method", "uniform");
      b.add("--recompute-num-layers", 1);
    }
    b.addIf(!job.training().unfusedAttention(job.gpu()), "--use-flash-attn-v2");
    return b.list();
  }

  /** What a plan does not decide. NullTokenizer adds one token to the vocabulary. */
  private List<Argument> rest() {
    Argument.Builder b = new Argument.Builder();
    b.add("--train-iters", MegatronExporter.steps(job));
    b.add("--lr", "1e-4");
    b.add("--min-lr", "1e-5");
    b.add("--lr-decay-style", "cosine");
    b.add("--weight-decay", "0.1");
    b.add("--clip-grad", "1.0");
    b.add("--attention-dropout", "0.0");
    b.add("--hidden-dropout", "0.0");
    b.add("--log-interval", 1);
    b.add("--tokenizer-type", "NullTokenizer");
    b.add("--vocab-size", job.model().vocabulary() - 1);
    return b.list();
  }
}
