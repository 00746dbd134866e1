package dev.meshplan.plan;

import dev.meshplan.model.Attention;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The ways to recompute that are searched, cheapest in time first, by the name used in requests.
 */
public final class RecomputeOptions {
  /** All names. */
  public static final List<String> NAMES =
      List.of(
          "none",
          "core_attn",
          "moe_act",
          "mla_up_proj",
          "modules",
          "full_quarter",
          "full_half",
          "full_three_quarters",
          "full");

  private RecomputeOptions() {}

  /** The options of a framework: DeepSpeed recomputes whole layers or nothing. */
  public static Map<String, Recompute> of(
      Model model, boolean unfusedAttention, Framework framework) {
    Map<String, Recompute> map = of(model, unfusedAttention);
    if (framework == Framework.DEEPSPEED) {
      map.keySet().retainAll(List.of("none", "full"));
    }
    return map;
  }

  /**
   * Name to option for a model; options that would change nothing for it are left out.
   *
   * @param unfusedAttention whether attention scores are stored (then dropping them is worth most);
   *     what lacks fused attention lacks grouped GEMMs too, without which Megatron-LM can't
   *     recompute the experts' activations
   */
  public static Map<String, Recompute> of(Model model, boolean unfusedAttention) {
    Map<String, Recompute> map = new LinkedHashMap<>();
    boolean mla =
        model.distinctKinds().stream()
            .map(LayerKind::attention)
            .anyMatch(a -> a != null && a.kind() == Attention.Kind.MLA);
    map.put("none", Recompute.NONE);
    if (unfusedAttention) {
      map.put("core_attn", Recompute.selective(Module.CORE_ATTN));
    }
    boolean grouped = model.moe() && !unfusedAttention;
    if (grouped) {
      map.put("moe_act", Recompute.selective(Module.MOE_ACT));
    }
    if (mla) {
      map.put("mla_up_proj", Recompute.selective(Module.MLA_UP_PROJ));
    }
    List<Module> all = new ArrayList<>();
    if (unfusedAttention) {
      all.add(Module.CORE_ATTN);
    }
    all.add(Module.LAYERNORM);
    if (mla) {
      all.add(Module.MLA_UP_PROJ);
    }
    boolean dense =
        model.distinctKinds().stream()
            .anyMatch(k -> k.feedForward() != null && k.feedForward().width() > 0);
    if (dense) {
      all.add(Module.MLP);
    }
    if (grouped) {
      all.add(Module.MOE_ACT);
    }
    map.put("modules", new Recompute(Recompute.Granularity.SELECTIVE, all, 0));
    map.put("full_quarter", new Recompute(Recompute.Granularity.FULL, List.of(), 0.25));
    map.put("full_half", new Recompute(Recompute.Granularity.FULL, List.of(), 0.5));
    map.put("full_three_quarters", new Recompute(Recompute.Granularity.FULL, List.of(), 0.75));
    map.put("full", Recompute.FULL);
    return map;
  }
}
