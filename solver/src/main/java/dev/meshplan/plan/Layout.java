package dev.meshplan.plan;

import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Layers on virtual stages, with the counts that estimators need. Virtual stage v runs on rank v
 * mod pp (V-shaped schedules: down and back up). The embedding stands on the first, head, loss and
 * MTP on the last virtual stage.
 */
public final class Layout {
  private final Model model;
  private final int pp;
  private final int vpp;
  private final int[] layers;
  private final int mtpLayers;
  private final boolean shapedLikeV;
  private final List<LayerKind> kinds;
  private final int[] chunkKinds;
  private final int[] rankKinds;
  private final boolean alike;

  private Layout(Model model, int pp, int vpp, int[] layers, int mtpLayers, boolean shapedLikeV) {
    this.model = model;
    this.pp = pp;
    this.vpp = vpp;
    this.layers = layers;
    this.mtpLayers = mtpLayers;
    this.shapedLikeV = shapedLikeV;
    this.kinds = model.distinctKinds();
    List<LayerKind> all = model.layerKinds();
    chunkKinds = new int[pp * vpp * kinds.size()];
    rankKinds = new int[pp * kinds.size()];
    int next = 0;
    for (int v = 0; v < pp * vpp; v++) {
      for (int i = 0; i < layers[v]; i++) {
        int kind = kinds.indexOf(all.get(next++));
        chunkKinds[v * kinds.size() + kind]++;
        rankKinds[rank(v) * kinds.size() + kind]++;
      }
    }
    if (next != all.size()) {
      throw new IllegalArgumentException(
          "stages hold " + next + " layers, the model has " + all.size());
    }
    alike = stagesAlike();
  }

  /** All stages but the first and the last hold the same; those hold no more layers. */
  private boolean stagesAlike() {
    int last = pp * vpp - 1;
    for (int v = 2; v < last; v++) {
      for (int k = 0; k < kinds.size(); k++) {
        if (chunkCount(v, k) != chunkCount(1, k)) {
          return false;
        }
      }
    }
    return last < 2 || (layers[0] <= layers[1] && layers[last] <= layers[1]);
  }

  /**
   * A layout with the given layers per virtual stage.
   *
   * @param layers layers of virtual stage 0, 1, ... pp x vpp - 1
   * @param mtpLayers MTP layers on the last virtual stage
   * @param shapedLikeV whether odd chunks run back up the ranks
   */
  public static Layout of(
      Model model, int pp, int vpp, int[] layers, int mtpLayers, boolean shapedLikeV) {
    return new Layout(model, pp, vpp, layers.clone(), mtpLayers, shapedLikeV);
  }

  /**
   * Layers spread as evenly as counts allow; places stay free on the last stage, which already
   * holds the head, and on the first, which holds the embedding. Virtual stages between them are
   * alike, because ranks wait for those that differ.
   */
  public static Layout even(Model model, int pp, int vpp, int mtpLayers) {
    int n = pp * vpp;
    int total = model.layerCount();
    int most = (total + n - 1) / n;
    int[] layers = new int[n];
    Arrays.fill(layers, vpp > 1 ? most : total / n);
    if (vpp > 1) {
      int free = most * n - total;
      int first = Math.min(most, free / 2);
      layers[0] -= first;
      for (int v = n - 1, left = free - first; left > 0; v--) {
        int less = Math.min(left, most);
        layers[v] -= less;
        left -= less;
      }
    } else {
      for (int i = 0; i < total % n; i++) {
        layers[n > 2 ? 1 + i % (n - 1) : i]++;
      }
    }
    return new Layout(model, pp, vpp, layers, mtpLayers, false);
  }

  /** The layout of a finished plan. */
  public static Layout of(Model model, Plan plan) {
    int[] layers = plan.stages().stream().mapToInt(Stage::layers).toArray();
    int mtp = plan.stages().stream().mapToInt(Stage::mtpLayers).sum();
    return new Layout(
        model, plan.dims().pp(), plan.dims().vpp(), layers, mtp, plan.schedule().shapedLikeV());
  }

  public Model model() {
    return model;
  }

  public int pp() {
    return pp;
  }

  public int vpp() {
    return vpp;
  }

  public int mtpLayers() {
    return mtpLayers;
  }

  /** The model's distinct layer kinds; counts below are by index in this list. */
  public List<LayerKind> kinds() {
    return kinds;
  }

  public int[] layers() {
    return layers.clone();
  }

  /**
   * Whether all virtual stages hold the same layers, but for fewer on the first (embedding) and the
   * last (head, loss, MTP): ranks then hardly wait for each other.
   */
  public boolean alike() {
    return alike;
  }

  /** Pipeline rank of a virtual stage. */
  public int rank(int virtualStage) {
    int r = virtualStage % pp;
    return shapedLikeV && (virtualStage / pp) % 2 == 1 ? pp - 1 - r : r;
  }

  /** The rank that holds head, loss and MTP. */
  public int lastRank() {
    return rank(pp * vpp - 1);
  }

  /** Layers of a kind on a virtual stage. */
  public int chunkCount(int virtualStage, int kind) {
    return chunkKinds[virtualStage * kinds.size() + kind];
  }

  /** Layers of a kind on a rank. */
  public int rankCount(int rank, int kind) {
    return rankKinds[rank * kinds.size() + kind];
  }

  /** Layers on a rank. */
  public int rankLayers(int rank) {
    int sum = 0;
    for (int k = 0; k < kinds.size(); k++) {
      sum += rankKinds[rank * kinds.size() + k];
    }
    return sum;
  }

  /** The stages in order of the forward pass. */
  public List<Stage> stages() {
    List<Stage> stages = new ArrayList<>();
    int first = 0;
    for (int v = 0; v < pp * vpp; v++) {
      boolean last = v == pp * vpp - 1;
      stages.add(new Stage(rank(v), v / pp, first, layers[v], v == 0, last, last ? mtpLayers : 0));
      first += layers[v];
    }
    return stages;
  }
}
