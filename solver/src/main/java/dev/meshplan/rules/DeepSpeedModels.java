package dev.meshplan.rules;

import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import java.util.List;

/** Which models DeepSpeed's own ways to split layers and experts can build. */
public final class DeepSpeedModels {
  /** Model family and the preset that knows its classes. Source: edaa7221 auto_ep_presets. */
  private static final String[][] PRESETS = {
    {"mixtral", "mixtral"},
    {"qwen3-", "qwen3_moe"},
    {"qwen3.5", "qwen3_5_moe"},
    {"deepseek-v2", "deepseek_v2"},
    {"deepseek-v3", "deepseek_v3"},
    {"kimi-k2", "deepseek_v3"}
  };

  private DeepSpeedModels() {}

  /** The AutoEP preset that replaces the model's MoE layers; empty when there is none. */
  public static String autoEpPreset(Model model) {
    for (String[] preset : PRESETS) {
      if (model.id().startsWith(preset[0])) {
        return preset[1];
      }
    }
    return "";
  }

  /**
   * Whether Megatron-DeepSpeed builds the model: equal GPT layers with two norms, each attention
   * and an MLP, or each attention and experts. Source: 4efb479d megatron/arguments.py and
   * megatron/model/transformer.py.
   */
  public static boolean gptLayers(Model model) {
    List<LayerKind> kinds = model.distinctKinds();
    return kinds.size() == 1
        && kinds.get(0).attention() != null
        && kinds.get(0).feedForward() != null
        && plain(kinds.get(0).attention(), kinds.get(0).feedForward())
        && model.positions() != Model.Positions.ALIBI
        && model.normsPerLayer() == 2
        && !model.embeddingNorm()
        && !model.parallelBlock()
        && model.mtpLayers() == 0;
  }

  private static boolean plain(Attention a, FeedForward f) {
    boolean attention =
        a.kind() == Attention.Kind.GQA
            && a.causal()
            && a.window() == 0
            && a.sharedKv() == 1
            && a.qkNorm() == Attention.QkNorm.NONE
            && !a.gate()
            && !a.sinks();
    boolean biases = a.qkvBias() == f.bias() && a.outBias() == f.bias();
    boolean experts = f.width() == 0 && f.sharedWidth() == 0 && f.latentWidth() == 0;
    return attention && biases && (!f.moe() || experts);
  }
}
