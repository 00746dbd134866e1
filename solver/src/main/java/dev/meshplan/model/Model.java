package dev.meshplan.model;

import dev.meshplan.config.Keyed;
import java.util.ArrayList;
import java.util.List;

/**
 * A language model's shape.
 *
 * @param id the file name without {@code .yaml}
 * @param aliases other names of the same shape
 * @param family as the publisher names it
 * @param hidden elements of the residual stream
 * @param vocabulary tokens before padding
 * @param tiedEmbeddings one matrix for embedding and head
 * @param positions how positions enter
 * @param maxSequence longest trained sequence, tokens; 0 = unknown
 * @param norm kind of the norms
 * @param normsPerLayer norms of hidden width per layer (2 usual, 4 with post-norms, 1 single
 *     mixers)
 * @param embeddingNorm a norm after the embedding
 * @param parallelBlock attention and MLP of a layer read the same residual, and their outputs are
 *     added in one sum (GPT-J, Falcon)
 * @param layers ordered groups
 * @param mtpLayers multi-token-prediction layers, each a copy of the last layer's kind
 * @param published what the publisher says of the size
 * @param notes mismatches and oddities, for people
 * @param sources where the shape is published
 */
public record Model(
    String id,
    List<String> aliases,
    String family,
    int hidden,
    int vocabulary,
    boolean tiedEmbeddings,
    Positions positions,
    int maxSequence,
    Norm norm,
    int normsPerLayer,
    boolean embeddingNorm,
    boolean parallelBlock,
    List<LayerGroup> layers,
    int mtpLayers,
    Published published,
    String notes,
    List<String> sources) {

  /** How positions enter the model; only {@code LEARNED} has parameters. */
  public enum Positions implements Keyed {
    ROPE,
    LEARNED,
    ALIBI,
    NONE
  }

  /** RMSNorm has one vector, LayerNorm two, LayerNorm without bias one. */
  public enum Norm implements Keyed {
    RMSNORM(1),
    LAYERNORM(2),
    LAYERNORM_NO_BIAS(1);

    private final int vectors;

    Norm(int vectors) {
      this.vectors = vectors;
    }

    public int vectors() {
      return vectors;
    }
  }

  /** What a published active count includes. */
  public enum ActiveConvention implements Keyed {
    ALL,
    WITHOUT_INPUT_EMBEDDING,
    WITHOUT_EMBEDDINGS
  }

  /**
   * The publisher's own figures.
   *
   * @param total parameters; 0 = none published
   * @param active parameters per token; 0 = none published
   * @param convention what {@code active} counts
   * @param withMtp whether {@code total} includes MTP layers
   * @param mismatch why our count differs by more than 1%; empty when it does not
   */
  public record Published(
      double total, double active, ActiveConvention convention, boolean withMtp, String mismatch) {}

  public Model {
    aliases = List.copyOf(aliases);
    layers = List.copyOf(layers);
    sources = List.copyOf(sources);
  }

  /** Layers, MTP not counted. */
  public int layerCount() {
    int sum = 0;
    for (LayerGroup g : layers) {
      sum += g.layers();
    }
    return sum;
  }

  /** The kind of every layer, first to last, MTP not counted. */
  public List<LayerKind> layerKinds() {
    List<LayerKind> kinds = new ArrayList<>();
    for (LayerGroup g : layers) {
      for (int i = 0; i < g.repeat(); i++) {
        kinds.addAll(g.pattern());
      }
    }
    return kinds;
  }

  /** The distinct kinds in order of first use. */
  public List<LayerKind> distinctKinds() {
    List<LayerKind> kinds = new ArrayList<>();
    for (LayerGroup g : layers) {
      for (LayerKind k : g.pattern()) {
        if (!kinds.contains(k)) {
          kinds.add(k);
        }
      }
    }
    return List.copyOf(kinds);
  }

  /** Layers of each distinct kind, in the order of {@link #distinctKinds}. */
  public int[] kindCounts() {
    List<LayerKind> kinds = distinctKinds();
    int[] counts = new int[kinds.size()];
    for (LayerGroup g : layers) {
      for (LayerKind k : g.pattern()) {
        counts[kinds.indexOf(k)] += g.repeat();
      }
    }
    return counts;
  }

  public boolean moe() {
    return distinctKinds().stream().anyMatch(LayerKind::moe);
  }

  /** Most routed experts of any layer; 0 for dense models. */
  public int experts() {
    return distinctKinds().stream()
        .filter(LayerKind::moe)
        .mapToInt(k -> k.feedForward().experts())
        .max()
        .orElse(0);
  }
}
