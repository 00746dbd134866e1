package dev.meshplan.formats;

import dev.meshplan.config.Errors;
import dev.meshplan.config.Section;
import dev.meshplan.config.YamlReader;
import java.util.ArrayList;
import java.util.List;

/** What Hugging Face's trainer writes where a DeepSpeed configuration says "auto" or nothing. */
final class DeepSpeedAuto {
  private DeepSpeedAuto() {}

  /** The configuration with the trainer's numbers in it. */
  static Section filled(Section top, TrainerArguments t, int dp) {
    int micro = t.number("per_device_train_batch_size", t.number("micro_batch_size", 8));
    int steps = t.number("gradient_accumulation_steps", 1);
    List<String> over = new ArrayList<>();
    fill(top, over, "train_micro_batch_size_per_gpu", Integer.toString(micro));
    fill(top, over, "gradient_accumulation_steps", Integer.toString(steps));
    fill(top, over, "train_batch_size", Long.toString((long) micro * steps * dp));
    for (String type : List.of("bf16", "fp16")) {
      Section s = top.isSection(type) ? top.section(type, false) : null;
      if (s != null && s.text("enabled", "").equals("auto")) {
        over.add("\"" + type + "\": {\"enabled\": " + t.on(type) + "}");
      }
    }
    return top.overlaid(
        YamlReader.parse("trainer", "{" + String.join(", ", over) + "}", new Errors()));
  }

  private static void fill(Section top, List<String> over, String key, String value) {
    if (!top.has(key) || top.text(key, "").equals("auto")) {
      over.add("\"" + key + "\": " + value);
    }
  }
}
