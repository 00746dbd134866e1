package dev.meshplan.formats;

import dev.meshplan.config.Text;
import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerGroup;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A model shape as the YAML of the model catalog. */
public final class ModelYaml {
  private ModelYaml() {}

  /** The text; reading it with the model reader gives the same shape. */
  public static String write(Model m) {
    Map<String, Object> top = new LinkedHashMap<>();
    top.put("id", m.id());
    if (!m.aliases().isEmpty()) {
      top.put("aliases", m.aliases());
    }
    if (!m.family().isEmpty()) {
      top.put("family", m.family());
    }
    top.put("hidden", m.hidden());
    top.put("vocabulary", m.vocabulary());
    top.put("tied_embeddings", m.tiedEmbeddings());
    top.put("positions", m.positions().key());
    if (m.maxSequence() > 0) {
      top.put("max_sequence", m.maxSequence());
    }
    top.put("norm", m.norm().key());
    if (m.normsPerLayer() != 2) {
      top.put("norms_per_layer", m.normsPerLayer());
    }
    if (m.embeddingNorm()) {
      top.put("embedding_norm", true);
    }
    put(top, "parallel_block", m.parallelBlock());
    Map<String, Object> attention = new LinkedHashMap<>();
    Map<String, Object> feedForward = new LinkedHashMap<>();
    List<Object> layers = new ArrayList<>();
    for (LayerGroup g : m.layers()) {
      List<String> kinds = new ArrayList<>();
      for (LayerKind k : g.pattern()) {
        kinds.add(k.name());
        String[] parts = k.name().split("\\+");
        if (k.attention() != null) {
          attention.put(parts[0].trim(), attention(k.attention()));
        }
        if (k.feedForward() != null) {
          feedForward.put(parts[parts.length - 1].trim(), feedForward(k.feedForward()));
        }
      }
      Map<String, Object> group = new LinkedHashMap<>();
      group.put("repeat", g.repeat());
      group.put("kinds", kinds);
      layers.add(group);
    }
    if (!attention.isEmpty()) {
      top.put("attention", attention);
    }
    if (!feedForward.isEmpty()) {
      top.put("feed_forward", feedForward);
    }
    top.put("layers", layers);
    if (m.mtpLayers() > 0) {
      top.put("mtp_layers", m.mtpLayers());
    }
    if (!m.notes().isEmpty()) {
      top.put("notes", m.notes());
    }
    top.put("sources", m.sources());
    return Text.yaml(top);
  }

  private static Map<String, Object> attention(Attention a) {
    Map<String, Object> map = new LinkedHashMap<>();
    if (a.kind() != Attention.Kind.GQA) {
      map.put("kind", a.kind().key());
    }
    map.put("heads", a.heads());
    if (a.kind() == Attention.Kind.MLA) {
      put(map, "q_rank", a.mla().qRank());
      map.put("kv_rank", a.mla().kvRank());
      map.put("nope_dim", a.mla().nope());
      map.put("rope_dim", a.mla().rope());
      map.put("value_dim", a.valueDim());
    } else {
      if (a.kvHeads() != a.heads()) {
        map.put("kv_heads", a.kvHeads());
      }
      map.put("head_dim", a.headDim());
      if (a.valueDim() != a.headDim()) {
        map.put("value_dim", a.valueDim());
      }
    }
    if (a.state() != null) {
      map.put("state_dim", a.state().stateDim());
      map.put("groups", a.state().groups());
      put(map, "conv", a.state().conv());
    }
    put(map, "window", a.window());
    put(map, "qkv_bias", a.qkvBias());
    put(map, "out_bias", a.outBias());
    if (a.qkNorm() != Attention.QkNorm.NONE) {
      map.put("qk_norm", a.qkNorm().key());
    }
    put(map, "gate", a.gate());
    if (!a.causal()) {
      map.put("causal", false);
    }
    if (a.sharedKv() > 1) {
      map.put("shared_kv", a.sharedKv());
    }
    put(map, "sinks", a.sinks());
    return map;
  }

  private static Map<String, Object> feedForward(FeedForward f) {
    Map<String, Object> map = new LinkedHashMap<>();
    put(map, "experts", f.experts());
    put(map, "top_k", f.topK());
    put(map, "expert_width", f.expertWidth());
    put(map, "width", f.width());
    map.put("gated", f.gated());
    put(map, "bias", f.bias());
    put(map, "shared_width", f.sharedWidth());
    put(map, "shared_gate", f.sharedGate());
    put(map, "latent_width", f.latentWidth());
    put(map, "router_groups", f.routerGroups());
    put(map, "router_top_groups", f.routerTopGroups());
    return map;
  }

  private static void put(Map<String, Object> map, String key, int value) {
    if (value > 0) {
      map.put(key, value);
    }
  }

  private static void put(Map<String, Object> map, String key, boolean value) {
    if (value) {
      map.put(key, true);
    }
  }
}
