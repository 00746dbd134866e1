package dev.meshplan.formats;

import dev.meshplan.config.Section;
import dev.meshplan.model.Attention;
import dev.meshplan.model.LayerKind;
import java.util.ArrayList;
import java.util.List;

/** Mixers of Hugging Face configurations that are no softmax attention. */
final class HuggingFaceMixers {
  private HuggingFaceMixers() {}

  /** Gated delta attention, with the defaults of {@code qwen3_next}. */
  static Attention gatedDelta(Section s) {
    int heads = Keys.optional(s, 32, "linear_num_value_heads");
    int key = Keys.optional(s, 128, "linear_key_head_dim");
    return mixer(
        Attention.Kind.LINEAR,
        heads,
        key,
        Keys.optional(s, 128, "linear_value_head_dim"),
        new Attention.State(
            key,
            Keys.optional(s, 16, "linear_num_key_heads"),
            Keys.optional(s, 4, "linear_conv_kernel_dim")),
        true);
  }

  /** A stack of Mamba-2 mixers without anything between them. */
  static List<LayerKind> mamba2(Section s) {
    int heads = Keys.positive(s, "num_heads");
    int dim = Keys.positive(s, "head_dim");
    Attention mamba =
        mixer(
            Attention.Kind.SSM,
            heads,
            dim,
            dim,
            new Attention.State(
                Keys.positive(s, "state_size"),
                Keys.positive(s, "n_groups"),
                Keys.positive(s, "conv_kernel")),
            false);
    List<LayerKind> kinds = new ArrayList<>();
    for (int i = 0; i < Keys.positive(s, "num_hidden_layers"); i++) {
      kinds.add(new LayerKind("mamba", mamba, null));
    }
    return kinds;
  }

  private static Attention mixer(
      Attention.Kind kind, int heads, int dim, int value, Attention.State state, boolean gate) {
    return new Attention(
        kind,
        heads,
        heads,
        dim,
        value,
        0,
        null,
        state,
        false,
        false,
        Attention.QkNorm.NONE,
        gate,
        true,
        1,
        false);
  }
}
