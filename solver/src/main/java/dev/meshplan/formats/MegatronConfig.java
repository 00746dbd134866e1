package dev.meshplan.formats;

import dev.meshplan.model.Model;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A Megatron-LM configuration with the degrees that follow from its flags.
 *
 * <p>GTP (weight shards beyond TP) is an axis of its own in the newest version: it takes ranks from
 * DP, samples are spread over both.
 */
final class MegatronConfig {
  final MegatronFlags flags;
  final int world;
  final int architecture;

  /** The model, for what the flags leave out; null = none. */
  final Model named;

  final int tp;
  final int pp;
  final int cp;
  final int gtp;
  final int ep;
  final int etp;
  final int layers;
  final int heads;
  final int experts;
  final int sequence;
  final int microBatch;

  /** Ranks that see different samples, GTP included; 0 when the world does not divide. */
  final int samples;

  final int globalBatch;

  /**
   * Derives the degrees.
   *
   * @param world GPUs
   * @param architecture major compute capability (9 Hopper, 10 Blackwell)
   * @param named the model, for what the flags leave out; null = none
   * @param tokens per sequence, where the flags do not say; 0 = not known
   */
  MegatronConfig(MegatronFlags flags, int world, int architecture, Model named, int tokens) {
    this.flags = flags;
    this.world = world;
    this.architecture = architecture;
    this.named = named;
    tp = Math.max(1, flags.integer("--tensor-model-parallel-size", 1));
    pp = Math.max(1, flags.integer("--pipeline-model-parallel-size", 1));
    cp = Math.max(1, flags.integer("--context-parallel-size", 1));
    int shards = flags.integer("--tensor-parallel-num-weight-shards", tp);
    gtp = shards >= tp && shards % tp == 0 ? shards / tp : 1;
    ep = Math.max(1, flags.integer("--expert-model-parallel-size", 1));
    boolean shaped = flags.has("--num-layers") || flags.has("--hidden-size");
    experts = flags.integer("--num-experts", named == null || shaped ? 0 : named.experts());
    int etpDefault = tp;
    etp = Math.max(1, flags.integer("--expert-tensor-parallel-size", etpDefault));
    String pattern = pattern();
    layers =
        pattern.isEmpty()
            ? flags.integer("--num-layers", named == null ? 0 : named.layerCount())
            : (int) pattern.replaceAll("/.*", "").chars().filter(c -> c != '|').count();
    heads = flags.integer("--num-attention-heads", 0);
    sequence = flags.integer("--seq-length", tokens);
    microBatch = Math.max(1, flags.integer("--micro-batch-size", 1));
    long model = (long) tp * pp * cp * gtp;
    samples = world % model == 0 ? (int) (world / (model / gtp)) : 0;
    globalBatch = flags.integer("--global-batch-size", Math.max(1, samples) * microBatch);
  }

  boolean has(String flag) {
    return flags.has(flag);
  }

  boolean moe() {
    return experts > 0;
  }

  /** Data-parallel ranks with equal weights; 0 when the world does not divide. */
  int dp() {
    return samples / gtp;
  }

  /** Micro-batches of a step; 0 when it does not divide. */
  int microBatches() {
    return samples > 0 && globalBatch % (samples * microBatch) == 0
        ? globalBatch / (samples * microBatch)
        : 0;
  }

  String layout() {
    return flags.text("--pipeline-model-parallel-layout", "");
  }

  boolean firstLast() {
    return has("--decoder-first-pipeline-num-layers") || has("--decoder-last-pipeline-num-layers");
  }

  /** Symbols of single-mixer layers, MTP layers left out; empty for other models. */
  String pattern() {
    return flags.text("--hybrid-layer-pattern", "").replaceAll("/.*", "");
  }

  /** MTP layers: parts of a hybrid pattern after slashes, or the flag. */
  int mtpLayers() {
    int parts =
        (int) flags.text("--hybrid-layer-pattern", "").chars().filter(c -> c == '/').count();
    return parts > 0 ? parts : flags.integer("--mtp-num-layers", 0);
  }

  /** Layers that the split counts: with embedding and loss where flags say so. */
  int counted() {
    return layers
        + (has("--account-for-embedding-in-pipeline-split") ? 1 : 0)
        + (has("--account-for-loss-in-pipeline-split") ? 1 : 0);
  }

  /** Virtual stages per rank. */
  int vpp() {
    if (!layout().isEmpty()) {
      return Math.max(1, MegatronLayoutReader.stages(layout()).size() / pp);
    }
    String pattern = pattern();
    if (pattern.indexOf('|') >= 0) {
      return Math.max(1, (int) (pattern.chars().filter(c -> c == '|').count() + 1) / pp);
    }
    int stages = flags.integer("--num-virtual-stages-per-pipeline-rank", 0);
    int per = flags.integer("--num-layers-per-virtual-pipeline-stage", 0);
    if (per > 0) {
      return Math.max(1, counted() / pp / per);
    }
    return Math.max(1, stages);
  }

  /** Layers of each virtual stage; empty when they can't be told. */
  List<Integer> stageLayers() {
    if (!layout().isEmpty()) {
      List<Integer> out = new ArrayList<>();
      for (String s : MegatronLayoutReader.stages(layout())) {
        out.add((int) s.chars().filter(c -> c == 't').count());
      }
      return out;
    }
    String pattern = pattern();
    if (pattern.indexOf('|') >= 0) {
      return Arrays.stream(pattern.split("\\|")).map(String::length).toList();
    }
    int v = vpp();
    int[] rank = ranks();
    if (rank.length == 0 || layers == 0) {
      return List.of();
    }
    List<Integer> out = new ArrayList<>();
    for (int chunk = 0; chunk < v; chunk++) {
      for (int r = 0; r < pp; r++) {
        int extra =
            chunk == 0 && r == 0 && has("--account-for-embedding-in-pipeline-split") ? 1 : 0;
        int tail =
            chunk == v - 1 && r == pp - 1 && has("--account-for-loss-in-pipeline-split") ? 1 : 0;
        out.add(rank[r] / v - extra - tail);
      }
    }
    return out.stream().mapToInt(n -> n).sum() == layers ? out : List.of();
  }

  /** Layers that each rank builds, embedding and loss counted where flags say so. */
  private int[] ranks() {
    int[] rank = new int[pp];
    if (firstLast()) {
      int first = flags.integer("--decoder-first-pipeline-num-layers", -1);
      int last = flags.integer("--decoder-last-pipeline-num-layers", -1);
      int middle = pp - (first >= 0 ? 1 : 0) - (last >= 0 ? 1 : 0);
      int left = layers - Math.max(0, first) - Math.max(0, last);
      if (middle > 0 && (left < 0 || left % middle != 0)) {
        return new int[0];
      }
      Arrays.fill(rank, middle > 0 ? left / middle : 0);
      if (first >= 0) {
        rank[0] = first;
      }
      if (last >= 0) {
        rank[pp - 1] = last;
      }
      return rank;
    }
    if (counted() % pp != 0) {
      return new int[0];
    }
    Arrays.fill(rank, counted() / pp);
    return rank;
  }
}
