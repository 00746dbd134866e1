package dev.meshplan.formats;

import dev.meshplan.config.Errors;
import dev.meshplan.config.Section;
import dev.meshplan.config.YamlReader;
import dev.meshplan.estimate.Adapters;
import dev.meshplan.plan.Tuning;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Arguments of Hugging Face's trainer and of what is built on it (FastChat, LLaMA-Factory,
 * axolotl): flags of a script, or keys of a YAML.
 */
final class TrainerArguments {
  private static final List<String> MARKS =
      List.of(
          "per_device_train_batch_size",
          "finetuning_type",
          "model_name_or_path",
          "gradient_accumulation_steps");
  private static final String[] LENGTHS = {
    "cutoff_len",
    "model_max_length",
    "max_seq_length",
    "max_length",
    "max_seq_len",
    "sequence_len",
    "seq_length",
    "block_size"
  };

  private final Map<String, String> keys = new LinkedHashMap<>();
  private final String program;
  private final long processes;

  private TrainerArguments(String program, long processes) {
    this.program = program;
    this.processes = processes;
  }

  /** The arguments in a script, or null when it does not start such a trainer. */
  static TrainerArguments script(LaunchScript script) {
    TrainerArguments t = new TrainerArguments(script.program(), script.processes());
    List<String> words = script.words();
    for (int i = 0; i < words.size(); i++) {
      String w = words.get(i);
      if (!w.startsWith("--")) {
        continue;
      }
      int eq = w.indexOf('=');
      boolean next = eq < 0 && i + 1 < words.size() && !words.get(i + 1).startsWith("--");
      String value = eq >= 0 ? w.substring(eq + 1) : next ? words.get(i + 1) : "true";
      String key = (eq < 0 ? w : w.substring(0, eq)).substring(2).replace('-', '_');
      t.keys.put(key, value);
    }
    return t.marked() ? t : null;
  }

  /** The arguments in a YAML, or null when it is no such file. */
  static TrainerArguments yaml(String file, String text) {
    Errors errors = new Errors();
    Section top = YamlReader.parse(file, text, errors);
    if (errors.any() || top == null) {
      return null;
    }
    TrainerArguments t = new TrainerArguments("", 0);
    for (String k : top.keys()) {
      if (!top.isSection(k) && top.has(k)) {
        List<String> v = top.texts(k);
        if (!v.isEmpty()) {
          t.keys.put(k, String.join(" ", v));
        }
      }
    }
    return t.marked() ? t : null;
  }

  private boolean marked() {
    return keys.keySet().stream().anyMatch(MARKS::contains);
  }

  String program() {
    return program;
  }

  long processes() {
    return processes;
  }

  Map<String, String> keys() {
    return keys;
  }

  boolean has(String key) {
    return keys.containsKey(key);
  }

  String text(String key, String absent) {
    String v = keys.get(key);
    return v == null || ShellScope.isUnknown(v) ? absent : v;
  }

  int number(String key, int absent) {
    String v = text(key, "");
    return v.matches("\\d{1,9}") ? Integer.parseInt(v) : absent;
  }

  boolean on(String key) {
    return text(key, "").equalsIgnoreCase("true") || text(key, "").equals("1");
  }

  /** Tokens per sequence; 0 = not said. */
  int sequence() {
    for (String key : LENGTHS) {
      if (number(key, 0) > 0) {
        return number(key, 0);
      }
    }
    return 0;
  }

  /** What the file calls its model; empty = nothing. */
  String modelName() {
    return text("model_name_or_path", text("model", text("base_model", "")));
  }

  /** Whether layers are recomputed: LLaMA-Factory does unless told otherwise. */
  boolean recompute() {
    return on("gradient_checkpointing")
        || (has("finetuning_type") && !on("disable_gradient_checkpointing"));
  }

  Tuning tuning() {
    boolean lora =
        text("finetuning_type", "").equals("lora")
            || text("tuner_type", text("train_type", text("adapter", ""))).matches("q?lora")
            || on("use_peft")
            || on("use_lora")
            || on("lora")
            || has("lora_r")
            || has("lora_rank");
    boolean four =
        text("quantization_bit", text("quant_bits", "")).equals("4")
            || on("load_in_4bit")
            || on("q_lora")
            || on("use_qlora")
            || text("adapter", "").equals("qlora");
    return !lora ? Tuning.FULL : four ? Tuning.QLORA : Tuning.LORA;
  }

  /** The adapters; null when all weights are trained. */
  Adapters adapters() {
    if (!tuning().adapters()) {
      return null;
    }
    String targets =
        text("lora_target", text("target_modules", text("lora_target_modules", "q_proj v_proj")));
    boolean everywhere =
        targets.matches("all|all-linear|.*(gate|up|down|fc)_?proj.*|.*fc[12].*")
            || on("lora_target_linear");
    return new Adapters(number("lora_rank", number("lora_r", 8)), everywhere);
  }
}
