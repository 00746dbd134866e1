package dev.meshplan.study;

import dev.meshplan.estimate.LayerSeconds;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Era;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Training;
import java.util.Arrays;

/** Where the layers of a run stand, by the habits of its stack. */
final class RunStages {
  private RunStages() {}

  /**
   * The layout of a run: equal chunks with the empty slots on the last and the first chunk; where
   * the stack balances by time, so that ranks are even, with virtual stages at the end only.
   *
   * @param seconds of each layer kind and the head
   */
  static Layout of(Model model, Training training, Candidate c, LayerSeconds seconds) {
    int pp = c.dims().pp();
    int vpp = c.dims().vpp();
    int chunks = pp * vpp;
    int total = model.layerCount();
    boolean v = c.schedule().shapedLikeV();
    boolean balanced = total % chunks != 0 && balanced(model, training.era());
    int[] layers;
    if (balanced) {
      layers = vpp > 1 ? ending(total, chunks) : balanced(model, pp, seconds);
    } else {
      layers = training.era() == Era.INTERNEVO_2023 ? uniform(total, chunks) : plain(total, chunks);
    }
    return Layout.of(model, pp, vpp, layers, model.mtpLayers(), v);
  }

  private static boolean balanced(Model model, Era era) {
    boolean uneven =
        model.mtpLayers() > 0
            || (model.moe() && !model.layerKinds().get(0).moe())
            || model.distinctKinds().size() > 1;
    return switch (era) {
      case MEGATRON_DEEPSPEED_2022 -> true;
      case MEGATRON_2026B, MEGATRON_2026A, MEGATRON_2025, NEMO_2025, NEMO_2024, TORCH_TE_2025 ->
          uneven;
      default -> false;
    };
  }

  /** Equal shares, what is left over on the last chunks. */
  private static int[] uniform(int total, int chunks) {
    int[] layers = new int[chunks];
    for (int i = 0; i < chunks; i++) {
      layers[i] = total / chunks + (i >= chunks - total % chunks ? 1 : 0);
    }
    return layers;
  }

  private static int[] plain(int total, int chunks) {
    int most = (total + chunks - 1) / chunks;
    int[] layers = new int[chunks];
    Arrays.fill(layers, most);
    int slots = most * chunks - total;
    int last = chunks - 1;
    int first = 0;
    for (int i = 0; i < slots; i++) {
      if (i % 2 == 0) {
        while (layers[last] == 0) {
          last--;
        }
        layers[last]--;
      } else {
        while (layers[first] == 0) {
          first++;
        }
        layers[first]--;
      }
    }
    return layers;
  }

  /** Equal chunks, with all empty slots at the end, beside MTP layers, head and loss. */
  private static int[] ending(int total, int chunks) {
    int most = (total + chunks - 1) / chunks;
    int[] layers = new int[chunks];
    for (int i = 0; i < chunks; i++) {
      layers[i] = Math.max(0, Math.min(most, total - i * most));
    }
    return layers;
  }

  /**
   * Layers that even out the load of the ranks, whole layers at a time; the head and MTP layers
   * stand on the last one.
   */
  private static int[] balanced(Model model, int pp, LayerSeconds seconds) {
    var all = model.layerKinds();
    var kinds = model.distinctKinds();
    double mean = 0;
    for (var kind : all) {
      mean += seconds.layer(kinds.indexOf(kind)) / all.size();
    }
    double[] load = new double[pp];
    int[] count = new int[pp];
    load[pp - 1] = seconds.head() + model.mtpLayers() * seconds.mtp();
    for (int i = 0; i < kinds.size(); i++) {
      if (all.get(0).equals(kinds.get(i)) && seconds.layer(i) < mean) {
        load[0] -= mean - seconds.layer(i);
      }
    }
    for (int i = 0; i < all.size(); i++) {
      int least = 0;
      for (int r = 1; r < pp; r++) {
        if (load[r] < load[least] - 1e-12) {
          least = r;
        }
      }
      load[least] += mean;
      count[least]++;
    }
    return count;
  }
}
