package dev.meshplan.formats;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes a plan as a Megatron-LM shell script and as the args YAML of its functional tests. */
final class MegatronExporter {
  static final String SCRIPT = "train.sh";

  private MegatronExporter() {}

  static Export export(Job job) {
    MegatronArguments plan = new MegatronArguments(job);
    Refusal refusal = plan.refusal();
    if (refusal != null) {
      return Export.refusal(Format.MEGATRON, refusal);
    }
    List<Argument> model = new MegatronModel(job).arguments();
    List<Argument> arguments = plan.arguments();
    List<Argument> optimizer = optimizer(job);
    Map<String, String> env = plan.environment();
    List<String> notes = new ArrayList<>(plan.notes());
    notes.add(
        "MODEL_ARGS give the shape; what costs neither time nor memory (rotary base, router scores,"
            + " initialisation) is yours to add");
    return Export.of(
        Format.MEGATRON,
        List.of(
            new OutputFile(SCRIPT, script(job, notes, model, arguments, optimizer, env)),
            new OutputFile("args.yaml", yaml(job, notes, model, arguments, optimizer, env))),
        notes);
  }

  private static String program(Job job) {
    return new MegatronModel(job).hybrid() ? "pretrain_hybrid.py" : "pretrain_gpt.py";
  }

  /** What a plan does not decide, with usual values. */
  static List<Argument> optimizer(Job job) {
    Argument.Builder b = new Argument.Builder();
    b.add("--train-iters", steps(job));
    b.add("--lr", "1e-4");
    b.add("--min-lr", "1e-5");
    b.add("--lr-decay-style", "cosine");
    b.add("--weight-decay", "0.1");
    b.add("--clip-grad", "1.0");
    b.add("--attention-dropout", "0.0");
    b.add("--hidden-dropout", "0.0");
    b.add("--log-interval", 1);
    b.add("--log-throughput");
    b.add("--mock-data");
    b.add("--tokenizer-type", "NullTokenizer");
    b.add("--vocab-size", job.model().vocabulary());
    return b.list();
  }

  /** Optimizer steps of the whole training, or 50 to look at where its tokens are not stated. */
  static long steps(Job job) {
    double tokensPerStep = (double) job.training().globalBatch() * job.training().sequence();
    double tokens = job.training().tokens();
    return tokens > 0 ? (long) Math.ceil(tokens / tokensPerStep) : 50;
  }

  private static String script(
      Job job,
      List<String> notes,
      List<Argument> model,
      List<Argument> arguments,
      List<Argument> optimizer,
      Map<String, String> env) {
    return ShellScript.start(job.comment(Format.MEGATRON, notes))
        + ShellScript.environment(env)
        + "cd \"${MEGATRON_PATH:-.}\"\n\n"
        + ShellScript.array("MODEL_ARGS", model)
        + ShellScript.array("PLAN_ARGS", arguments)
        + "# Not part of the plan: optimizer, data, tokenizer. Replace the mock data to train.\n"
        + ShellScript.array("JOB_ARGS", optimizer)
        + ShellScript.launch(
            job, program(job), "\"${MODEL_ARGS[@]}\" \"${PLAN_ARGS[@]}\" \"${JOB_ARGS[@]}\"");
  }

  private static String yaml(
      Job job,
      List<String> notes,
      List<Argument> model,
      List<Argument> arguments,
      List<Argument> optimizer,
      Map<String, String> env) {
    StringBuilder s = new StringBuilder(job.comment(Format.MEGATRON, notes));
    s.append("ENV_VARS:\n");
    env.forEach(
        (k, v) -> s.append("  ").append(k).append(": ").append(Quoting.json(v)).append('\n'));
    s.append("MODEL_ARGS:\n");
    Map<String, List<String>> all = new LinkedHashMap<>();
    for (List<Argument> list : List.of(model, arguments, optimizer)) {
      list.forEach(a -> all.put(a.flag(), a.values()));
    }
    all.forEach(
        (flag, values) -> {
          s.append("  ").append(flag).append(": ");
          if (values.isEmpty()) {
            s.append("true\n");
          } else if (values.size() == 1) {
            s.append(scalar(values.get(0))).append('\n');
          } else {
            s.append('[')
                .append(String.join(", ", values.stream().map(MegatronExporter::scalar).toList()))
                .append("]\n");
          }
        });
    return s.toString();
  }

  private static String scalar(String value) {
    return value.matches("-?\\d+") ? value : Quoting.json(value);
  }
}
