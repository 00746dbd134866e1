package dev.meshplan.estimate;

import dev.meshplan.plan.Era;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.Training;
import dev.meshplan.plan.Tuning;

/**
 * Bytes per parameter element that a software stack keeps, and which of them it shards. Sources:
 * the optimizers of Megatron-LM, DeepSpeed, PyTorch FSDP and InternEvo; the temporaries of
 * DeepSpeed follow from its structure (an fp32 copy of the own gradient shard), those of InternEvo
 * and what it leaves cached are fitted on that source alone.
 *
 * @param style family of optimizer
 * @param weight of the 16-bit weights; 0 where only the sharded fp32 master exists
 * @param gradient of accumulated gradients
 * @param optimizer master weights and moments
 * @param temporary allocated during the optimizer step, sharded as the optimizer
 * @param cached left by flat copies of the optimizer step in the allocator's cache, sharded as the
 *     optimizer
 * @param shardWeights weights are divided over the shard group
 * @param shardGradients gradients are divided over the shard group
 * @param shardOptimizer master weights and moments are divided over the shard group
 */
record MemoryProfile(
    Style style,
    double weight,
    double gradient,
    double optimizer,
    double temporary,
    double cached,
    boolean shardWeights,
    boolean shardGradients,
    boolean shardOptimizer) {

  /** Families of optimizers that differ in what they keep. */
  enum Style {
    MEGATRON,
    FSDP,
    DEEPSPEED,
    HYBRID_ZERO,
    ADAPTERS
  }

  /** fp32 master, two fp32 moments. */
  private static final double ADAM = 12;

  /**
   * Bytes per weight in 4-bit NormalFloat with double quantization: 4 bits, and 0.127 bits of
   * constants (Dettmers et al. 2023, section 3).
   */
  private static final double NF4 = 4.127 / 8;

  private static final double ZERO_3_BUCKET_ELEMENTS = 1e9;
  private static final double ZERO_3_LIVE_ELEMENTS = 1.05e9;

  /** The profile of a job at a sharding level from 0 to 3. */
  static MemoryProfile of(Training t, int sharding) {
    Style style = style(t, sharding);
    double g = t.gradientType() == GradientType.FP32 ? 4 : 2;
    double o = t.optimizerBytes();
    boolean w = sharding >= 3;
    boolean gr = sharding >= 2;
    boolean op = sharding >= 1;
    return switch (style) {
      case ADAPTERS ->
          new MemoryProfile(style, t.tuning() == Tuning.QLORA ? NF4 : 2, 0, 0, 0, 0, w, gr, op);
      case FSDP ->
          w
              ? new MemoryProfile(style, 0, o >= ADAM ? 4 : g, o, 0, 0, true, true, true)
              : new MemoryProfile(style, 2, g, o, 0, 0, false, gr, op);
      case DEEPSPEED -> new MemoryProfile(style, 2, g, o, sharding <= 1 ? 4 : 0, 0, w, gr, op);
      case HYBRID_ZERO -> new MemoryProfile(style, 2, g, o, 12, w ? 0 : 6, w, gr, op);
      case MEGATRON -> new MemoryProfile(style, 2, g, o, 0, 0, w, gr, op);
    };
  }

  private static Style style(Training t, int sharding) {
    if (t.tuning().adapters()) {
      return Style.ADAPTERS;
    }
    if (t.era() == Era.INTERNEVO_2023) {
      return Style.HYBRID_ZERO;
    }
    boolean zeroBeforeMegatronHadIt = t.era() == Era.MEGATRON_2021 && sharding > 0;
    if (t.framework() == Framework.DEEPSPEED
        || t.era() == Era.MEGATRON_DEEPSPEED_2022
        || zeroBeforeMegatronHadIt) {
      return Style.DEEPSPEED;
    }
    return switch (t.era()) {
      case TORCH_TE_2025, TORCH_2025, TORCH_2023, YAFSDP_2024, XLA_2024 -> Style.FSDP;
      default -> t.framework() == Framework.TORCHTITAN ? Style.FSDP : Style.MEGATRON;
    };
  }

  /** Bytes per element that norms and embeddings take beyond quantized matrices. */
  double unquantized() {
    return weight > 0 && weight < 1 ? 2 - weight : 0;
  }

  double optimizerDivisor(double shards) {
    return shardOptimizer ? shards : 1;
  }

  /**
   * Bytes of weights and gradients gathered for a moment where weights are sharded. Sources: the
   * prefetch of FSDP (two units), the default limits of DeepSpeed ZeRO-3.
   *
   * @param all elements of the rank
   * @param stay whether weights stay gathered after the forward pass
   * @param unit elements of the largest layer
   * @param vocabularyMatrix elements of the embedding or head on the rank
   */
  double gatherBytes(double all, boolean stay, double unit, double vocabularyMatrix) {
    if (style == Style.DEEPSPEED) {
      return 2 * Math.min(ZERO_3_LIVE_ELEMENTS, all) + 2 * Math.min(ZERO_3_BUCKET_ELEMENTS, all);
    }
    double gradients = style == Style.ADAPTERS ? 0 : 2 * unit;
    return stay ? 2 * all + gradients : 4 * unit + gradients + 2 * vocabularyMatrix;
  }
}
