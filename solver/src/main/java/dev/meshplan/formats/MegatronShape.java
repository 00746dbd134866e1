package dev.meshplan.formats;

import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The model shape that Megatron-LM's flags describe. */
final class MegatronShape {
  private final MegatronConfig c;

  private MegatronShape(MegatronConfig c) {
    this.c = c;
  }

  /** The shape, or null when the flags do not give one. */
  static Model of(MegatronConfig c) {
    int hidden = c.flags.integer("--hidden-size", 0);
    return c.layers <= 0 || hidden <= 0 || c.heads <= 0 ? null : new MegatronShape(c).model(hidden);
  }

  private Model model(int hidden) {
    boolean swiglu = c.has("--swiglu");
    boolean bias = !c.has("--disable-bias-linear");
    int ffn =
        c.flags.integer(
            "--ffn-hidden-size", swiglu ? (int) (4L * hidden * 2 / 3 / 64 * 64) : 4 * hidden);
    Attention attention = attention(hidden, bias);
    FeedForward dense = new FeedForward(ffn, swiglu, bias, 0, 0, 0, 0, false, 0, 0, 0);
    FeedForward moe = null;
    if (c.moe()) {
      moe =
          new FeedForward(
              0,
              swiglu,
              bias,
              c.experts,
              Math.min(c.experts, c.flags.integer("--moe-router-topk", 2)),
              c.flags.integer("--moe-ffn-hidden-size", ffn),
              c.flags.integer("--moe-shared-expert-intermediate-size", 0),
              c.has("--moe-shared-expert-gate"),
              c.flags.integer("--moe-latent-size", 0),
              c.flags.integer("--moe-router-num-groups", 0),
              c.flags.integer("--moe-router-group-topk", 0));
    }
    List<LayerKind> kinds = new ArrayList<>();
    String pattern = c.pattern();
    if (pattern.isEmpty()) {
      List<Integer> on = frequency(c.flags.text("--moe-layer-freq", "1"), c.layers);
      for (int i = 0; i < c.layers; i++) {
        boolean m = moe != null && on.get(i) == 1;
        kinds.add(
            new LayerKind("attention + " + (m ? "moe" : "dense"), attention, m ? moe : dense));
      }
    } else {
      hybrid(pattern, attention, dense, moe, kinds);
    }
    String position = c.flags.text("--position-embedding-type", "learned_absolute");
    int vocabulary =
        c.flags.integer("--vocab-size", c.flags.integer("--padded-vocab-size", 128000));
    return new Model(
        "as-configured",
        List.of(),
        "",
        hidden,
        vocabulary,
        !c.has("--untie-embeddings-and-output-weights"),
        position.equals("learned_absolute")
            ? Model.Positions.LEARNED
            : position.equals("none") ? Model.Positions.NONE : Model.Positions.ROPE,
        c.flags.integer("--max-position-embeddings", c.sequence),
        c.flags.text("--normalization", "LayerNorm").equals("RMSNorm")
            ? Model.Norm.RMSNORM
            : Model.Norm.LAYERNORM,
        pattern.isEmpty() ? 2 : 1,
        false,
        false,
        HuggingFaceConfig.groups(kinds),
        c.mtpLayers(),
        new Model.Published(0, 0, Model.ActiveConvention.ALL, false, ""),
        "",
        List.of("the flags"));
  }

  private void hybrid(
      String pattern,
      Attention attention,
      FeedForward dense,
      FeedForward moe,
      List<LayerKind> kinds) {
    int heads = c.flags.integer("--mamba-num-heads", 2 * c.flags.integer("--hidden-size", 64) / 64);
    int dim = c.flags.integer("--mamba-head-dim", 64);
    Attention mamba =
        new Attention(
            Attention.Kind.SSM,
            heads,
            heads,
            dim,
            dim,
            0,
            null,
            new Attention.State(
                c.flags.integer("--mamba-state-dim", 128),
                c.flags.integer("--mamba-num-groups", 8),
                4),
            false,
            false,
            Attention.QkNorm.NONE,
            false,
            true,
            1,
            false);
    for (int i = 0; i < pattern.length(); i++) {
      switch (pattern.charAt(i)) {
        case 'M' -> kinds.add(new LayerKind("mamba", mamba, null));
        case '*', '+' -> kinds.add(new LayerKind("attention", attention, null));
        case '-' -> kinds.add(new LayerKind("dense", null, dense));
        case 'E' -> kinds.add(new LayerKind("moe", null, moe == null ? dense : moe));
        default -> {}
      }
    }
  }

  private Attention attention(int hidden, boolean bias) {
    boolean qkv = bias || c.has("--add-qkv-bias");
    if (c.has("--multi-latent-attention")) {
      int nope = c.flags.integer("--qk-head-dim", 128);
      int rope = c.flags.integer("--qk-pos-emb-head-dim", 64);
      return new Attention(
          Attention.Kind.MLA,
          c.heads,
          c.heads,
          nope + rope,
          c.flags.integer("--v-head-dim", 128),
          0,
          new Attention.Mla(
              c.flags.integer("--q-lora-rank", 0),
              c.flags.integer("--kv-lora-rank", 512),
              nope,
              rope),
          null,
          false,
          false,
          Attention.QkNorm.NONE,
          false,
          true,
          1,
          false);
    }
    int groups =
        c.has("--group-query-attention") ? c.flags.integer("--num-query-groups", 1) : c.heads;
    int dim = c.flags.integer("--kv-channels", Math.max(1, hidden / c.heads));
    return new Attention(
        Attention.Kind.GQA,
        c.heads,
        groups,
        dim,
        dim,
        0,
        null,
        null,
        qkv,
        bias,
        c.has("--qk-layernorm") ? Attention.QkNorm.HEAD : Attention.QkNorm.NONE,
        c.has("--attention-output-gate"),
        true,
        1,
        c.flags.text("--softmax-type", "").equals("learnable"));
  }

  /** MoE layers: 1 in n, or a list such as ([0]*3+[1]*58). */
  static List<Integer> frequency(String text, int layers) {
    List<Integer> on = new ArrayList<>();
    if (text.matches("\\d{1,4}")) {
      int n = Math.max(1, Integer.parseInt(text));
      for (int i = 0; i < layers; i++) {
        on.add(i % n == 0 ? 1 : 0);
      }
      return on;
    }
    Matcher outer = Pattern.compile("\\((.*)\\)(?:\\*(\\d{1,4}))?").matcher(text.replace(" ", ""));
    String body = outer.matches() ? outer.group(1) : text;
    int times = outer.matches() && outer.group(2) != null ? Integer.parseInt(outer.group(2)) : 1;
    Matcher m = Pattern.compile("\\[([01](?:,[01])*)\\](?:\\*(\\d{1,4}))?").matcher(body);
    List<Integer> once = new ArrayList<>();
    while (m.find()) {
      int n = m.group(2) == null ? 1 : Integer.parseInt(m.group(2));
      for (int i = 0; i < n; i++) {
        for (String bit : m.group(1).split(",")) {
          once.add(Integer.parseInt(bit));
        }
      }
    }
    for (int i = 0; i < times; i++) {
      on.addAll(once);
    }
    while (on.size() < layers) {
      on.add(1);
    }
    return on;
  }
}
