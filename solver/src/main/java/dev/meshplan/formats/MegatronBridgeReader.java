package dev.meshplan.formats;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads overrides of a Megatron-Bridge or NeMo recipe as the Megatron-LM flags that they set. */
final class MegatronBridgeReader {
  private static final Pattern OVERRIDE =
      Pattern.compile("\\+{0,2}([a-z_]+(?:\\.[a-zA-Z_]+)*)=(.*)", Pattern.DOTALL);
  private static final List<String> GROUPS =
      List.of(
          "model.",
          "train.",
          "ddp.",
          "comm_overlap.",
          "optimizer.",
          "dataset.",
          "checkpoint.",
          "trainer.");

  /** Keys whose flag has another name. */
  private static final Map<String, String> NAMES = names();

  private MegatronBridgeReader() {}

  private static Map<String, String> names() {
    Map<String, String> map = new TreeMap<>();
    MegatronBridgeExporter.KEYS.forEach((flag, key) -> map.put(key, flag));
    map.put("model.num_moe_experts", "--num-experts");
    map.put("model.encoder_seq_length", "--seq-length");
    map.put("dataset.seq_length", "--seq-length");
    map.put("model.num_layers_in_first_pipeline_stage", "--decoder-first-pipeline-num-layers");
    map.put("model.num_layers_in_last_pipeline_stage", "--decoder-last-pipeline-num-layers");
    return Map.copyOf(map);
  }

  /** Whether a script gives such overrides. */
  static boolean reads(String text) {
    return ShellWords.read(text, Map.of()).commands().stream()
            .flatMap(List::stream)
            .filter(w -> ours(OVERRIDE.matcher(w)))
            .count()
        > 1;
  }

  private static boolean ours(Matcher m) {
    return m.matches() && GROUPS.stream().anyMatch(m.group(1)::startsWith);
  }

  /** The flags that the overrides set. */
  static MegatronFlags read(String file, String text, Map<String, String> given) {
    ShellWords shell = ShellWords.read(text, given);
    List<String> words = new ArrayList<>();
    List<String> notes = new ArrayList<>(shell.scope().notes());
    List<String> apart = new ArrayList<>();
    boolean fp32 = true;
    for (List<String> command : shell.commands()) {
      for (int i = 0; i < command.size(); i++) {
        String w = command.get(i);
        if (w.matches("--(recipe|peft|peft_scheme)") && i + 1 < command.size()) {
          recipe(w, command.get(i + 1), words);
        }
        Matcher m = OVERRIDE.matcher(w);
        if (!m.matches() || w.startsWith("--")) {
          continue;
        }
        String key = m.group(1);
        String value = m.group(2).replaceAll("^['\"]|['\"]$", "");
        if (key.equals("mixed_precision")) {
          precision(value, words);
        } else if (key.equals("peft")) {
          recipe("--peft", value, words);
        } else if (key.equals("ddp.grad_reduce_in_fp32")) {
          fp32 = !value.equalsIgnoreCase("false");
        } else if (ours(m)) {
          override(key, value, words, apart);
        }
      }
    }
    if (!fp32) {
      words.add("--grad-reduce-in-bf16");
    }
    notes.add("what the recipe sets beside these overrides is not seen");
    if (!apart.isEmpty()) {
      notes.add("no part of the plan: " + String.join(", ", apart));
    }
    return MegatronFlags.of(file, words, notes);
  }

  private static void recipe(String flag, String value, List<String> words) {
    if (!flag.equals("--recipe")) {
      words.add("--peft");
      words.add(value);
      return;
    }
    String name = value.replaceAll("_(pretrain|finetune|sft|peft)_config$", "_pretrain_config");
    MegatronBridgeExporter.RECIPES.forEach(
        (id, r) -> {
          if (r.equals(name)) {
            words.add("--model");
            words.add(id);
          }
        });
  }

  private static void precision(String value, List<String> words) {
    words.add(value.startsWith("16") || value.startsWith("fp16") ? "--fp16" : "--bf16");
    if (value.contains("nvfp4")) {
      words.addAll(List.of("--fp4-format", "e2m1"));
    } else if (value.contains("fp8")) {
      words.addAll(
          List.of(
              "--fp8-format",
              "hybrid",
              "--fp8-recipe",
              value.contains("mxfp8")
                  ? "mxfp8"
                  : value.contains("blockwise") ? "blockwise" : "tensorwise"));
    }
  }

  private static void override(String key, String value, List<String> words, List<String> apart) {
    String flag =
        NAMES.getOrDefault(key, "--" + key.replaceFirst("^[a-z_]+\\.", "").replace('_', '-'));
    if (key.equals("model.virtual_pipeline_model_parallel_size")) {
      flag = "--num-virtual-stages-per-pipeline-rank";
    } else if (key.equals("model.gradient_accumulation_fusion") && value.equals("false")) {
      words.add("--no-gradient-accumulation-fusion");
      return;
    } else if (key.equals("model.overlap_p2p_comm") && value.equals("false")) {
      words.add("--no-overlap-p2p-communication");
      return;
    }
    String takes = FlagDialect.MEGATRON.takes(flag);
    if (takes == null) {
      apart.add(key);
    } else if (takes.equals("0")) {
      if (value.equalsIgnoreCase("true")) {
        words.add(flag);
      }
    } else if (!value.equalsIgnoreCase("null") && !value.equalsIgnoreCase("none")) {
      words.add(flag);
      words.addAll(List.of(value.replaceAll("^\\[|\\]$", "").split(",\\s*")));
    }
  }
}
