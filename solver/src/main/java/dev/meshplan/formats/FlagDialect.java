package dev.meshplan.formats;

import dev.meshplan.plan.Framework;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Programs whose command lines look like Megatron-LM's, each with its own flags. */
enum FlagDialect {
  MEGATRON("Megatron-LM", "main of 2026-08 (d98e8a64)", "megatron-flags.txt", Framework.MEGATRON),
  MEGATRON_DEEPSPEED(
      "Megatron-DeepSpeed",
      "main of 2025-07 (4efb479d)",
      "megatron-deepspeed-flags.txt",
      Framework.DEEPSPEED),
  SWIFT("Megatron-SWIFT", "main of 2026-08 (3602360a)", "", Framework.MEGATRON);

  private static final Set<String> STOCK =
      Set.of(
          "pretrain_gpt.py",
          "pretrain_hybrid.py",
          "pretrain_mamba.py",
          "pretrain_bert.py",
          "pretrain_t5.py",
          "pretrain_vlm.py",
          "train_rl.py");

  final String label;
  final String version;
  final Framework framework;

  /** How many values a flag takes: 0, 1 or +; empty where no list is published. */
  private final Map<String, String> known;

  FlagDialect(String label, String version, String list, Framework framework) {
    this.label = label;
    this.version = version;
    this.framework = framework;
    this.known = list.isEmpty() ? Map.of() : load(list);
  }

  /** The dialect that the words of a command are in. */
  static FlagDialect of(String program, Map<String, ?> flags) {
    if (program.startsWith("megatron ")) {
      return SWIFT;
    }
    Set<String> marks =
        Set.of("--deepspeed", "--deepspeed_config", "--zero-stage", "--ds-sequence-parallel-size");
    return flags.keySet().stream().anyMatch(marks::contains) ? MEGATRON_DEEPSPEED : MEGATRON;
  }

  /** How many values the flag takes (0, 1, +), or null when it isn't one. */
  String takes(String flag) {
    return known.get(flag);
  }

  Set<String> flags() {
    return known.keySet();
  }

  /** Whether unknown flags are refused: a program of someone's own may add some. */
  static boolean strict(String program) {
    return program.isEmpty() || STOCK.contains(program.replaceAll(".*/", ""));
  }

  private static Map<String, String> load(String list) {
    Map<String, String> map = new TreeMap<>();
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(
                FlagDialect.class.getResourceAsStream(list), StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith("--")) {
          String[] parts = line.split(" ");
          map.put(parts[0], parts[1]);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Map.copyOf(map);
  }
}
