package dev.meshplan.formats;

import dev.meshplan.config.InputException;
import dev.meshplan.model.Model;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;

/** Tells what a configuration is and reads it. */
public final class ForeignFile {
  private static final Pattern TITAN_SECTION =
      Pattern.compile("(?m)^\\s*\\[(parallelism|training)\\]");
  private static final Pattern TITAN_FLAG = Pattern.compile("--(parallelism|training)\\.");
  private static final Pattern BRIDGE =
      Pattern.compile("(?m)(^|\\s|['\"])(model|train)\\.[a-z_]+=");
  private static final Pattern YAML_KEY = Pattern.compile("(?m)^[A-Za-z_][A-Za-z0-9_]*:( |$)");

  private final String file;
  private final int world;
  private final int capability;
  private final Model named;
  private final Function<String, Model> byName;
  private final int sequence;
  private final Map<String, String> given;

  /**
   * How to read.
   *
   * @param file names it in messages
   * @param world GPUs
   * @param capability major compute capability of the GPUs (9 Hopper, 10 Blackwell)
   * @param named the model that the user names; null = the file's
   * @param byName the shape for a name that a file uses, or null
   * @param sequence tokens per sequence where the file does not say; 0 = not given
   * @param given values of variables that win over the file's own
   */
  public ForeignFile(
      String file,
      int world,
      int capability,
      Model named,
      Function<String, Model> byName,
      int sequence,
      Map<String, String> given) {
    this.file = file;
    this.world = world;
    this.capability = capability;
    this.named = named;
    this.byName = byName;
    this.sequence = sequence;
    this.given = given;
  }

  /**
   * The plan in a text.
   *
   * @param launch text of the launch script beside a DeepSpeed configuration; empty = none
   * @throws InputException when it is nothing that is understood
   */
  public ForeignPlan read(String text, String launch) {
    String start = text.stripLeading();
    if (text.matches("(?s).*\"(pipe-parallel-size|pipe_parallel_size)\"\\s*:.*")) {
      return yaml(text);
    }
    if (start.startsWith("{")) {
      return deepSpeed(text, launch);
    }
    if (TITAN_SECTION.matcher(text).find() || TITAN_FLAG.matcher(text).find()) {
      return TorchTitanReader.read(file, text, world, named, byName);
    }
    if (text.contains("MODEL_ARGS:")) {
      return megatron(MegatronFlags.read(file, text, given), "");
    }
    if (YAML_KEY.matcher(text).find() && !text.contains("--")) {
      return yaml(text);
    }
    if (BRIDGE.matcher(text).find() && MegatronBridgeReader.reads(text)) {
      MegatronFlags flags = MegatronBridgeReader.read(file, text, given);
      return named(
          MegatronReader.of(config(flags), "Megatron-Bridge overrides"), flags.modelName());
    }
    TrainerArguments trainer = trainer(text);
    if (trainer != null) {
      return trained(trainer);
    }
    return megatron(MegatronFlags.read(file, text, given), "");
  }

  private MegatronConfig config(MegatronFlags flags) {
    MegatronConfig c =
        new MegatronConfig(flags, world, capability, model(flags.modelName()), sequence);
    if (c.sequence == 0) {
      flags.throwIfUnknown();
      throw new InputException(
          file,
          "--seq-length",
          "",
          "is missing, and nothing is priced without it: add --sequence N.");
    }
    return c;
  }

  private Model model(String name) {
    return named != null ? named : name.isBlank() ? null : byName.apply(name);
  }

  /** Says how a name in the file was read. */
  private ForeignPlan named(ForeignPlan plan, String name) {
    return named != null || plan.model() == null || !plan.model().equals(byName.apply(name))
        ? plan
        : plan.withNote("the model " + name + " is read as " + plan.model().id());
  }

  /**
   * @param json a DeepSpeed configuration beside the script; empty = none
   */
  private ForeignPlan megatron(MegatronFlags flags, String json) {
    if (flags.dialect() == FlagDialect.MEGATRON_DEEPSPEED) {
      return MegatronDeepSpeedReader.read(file, config(flags), json);
    }
    return named(
        MegatronReader.of(config(flags), flags.dialect().label + " arguments"), flags.modelName());
  }

  private TrainerArguments trainer(String script) {
    return TrainerArguments.script(LaunchScript.read(file, script, given));
  }

  private ForeignPlan trained(TrainerArguments t) {
    String zero = t.text("deepspeed", "");
    if (!zero.isEmpty() && !zero.matches("zero[0-3](_offload)?")) {
      throw new InputException(
          file,
          "deepspeed",
          zero,
          "is where the plan stands: audit that file, and give this one with --launch.");
    }
    if (t.sequence() == 0 && sequence == 0) {
      throw new InputException(file, "", "", "names no sequence length: add --sequence N.");
    }
    return named(TrainerReader.read(t, world, model(t.modelName()), sequence), t.modelName());
  }

  private ForeignPlan yaml(String text) {
    TrainerArguments t = TrainerArguments.yaml(file, text);
    if (t != null) {
      return trained(t);
    }
    String what =
        text.contains("distributed_type:") || text.contains("fsdp_config:")
            ? "is an Accelerate configuration. It says how to shard, not what is trained: audit the"
                + " trainer's script or YAML."
            : text.contains("pipe-parallel-size") || text.contains("pipe_parallel_size")
                ? "is a GPT-NeoX configuration, which is not read here."
                : "is a YAML that is not understood.";
    throw new InputException(
        file,
        "",
        "",
        what
            + " Read are launch scripts and args YAML of Megatron-LM, Megatron-DeepSpeed and"
            + " Megatron-SWIFT, Megatron-Bridge overrides, DeepSpeed JSON, torchtitan TOML or"
            + " overrides, and arguments of Hugging Face trainers.");
  }

  private ForeignPlan deepSpeed(String text, String launch) {
    if (text.contains("\"model_type\"") || text.contains("\"architectures\"")) {
      throw new InputException(
          file, "", "", "is a model's shape, not a plan: meshplan import model " + file);
    }
    if (launch.isEmpty()) {
      return DeepSpeedReader.read(file, text, world, 1, 1, 1, named, sequence(0));
    }
    TrainerArguments t =
        YAML_KEY.matcher(launch).find() && !launch.contains("--")
            ? TrainerArguments.yaml("launch", launch)
            : trainer(launch);
    if (t != null) {
      int s = sequence(t.sequence());
      Model shape = model(t.modelName());
      return named(DeepSpeedReader.read(file, text, t, world, 1, 1, 1, shape, s), t.modelName());
    }
    MegatronFlags flags = MegatronFlags.read("launch", launch, given);
    if (flags.dialect() == FlagDialect.MEGATRON_DEEPSPEED) {
      return megatron(flags, text);
    }
    MegatronConfig c = config(flags);
    flags.throwIfUnknown();
    Model model = c.named != null ? c.named : MegatronShape.of(c);
    return DeepSpeedReader.read(file, text, world, c.tp, c.pp, c.cp, model, sequence(c.sequence));
  }

  private int sequence(int said) {
    int s = sequence > 0 ? sequence : said;
    if (s <= 1) {
      throw new InputException(
          file, "", "", "a DeepSpeed configuration names no sequence length: add --sequence N.");
    }
    return s;
  }
}
