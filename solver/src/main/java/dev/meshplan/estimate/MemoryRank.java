package dev.meshplan.estimate;

import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Training;
import dev.meshplan.units.Quantity;
import java.util.Arrays;

/**
 * The arithmetic of one pipeline rank: fills the lines of the breakdown. Holds scratch space, so
 * that pricing a rank allocates nothing; not for use by two threads.
 */
final class MemoryRank {
  static final double WORKSPACE_BYTES = 0.10 * Quantity.GIB;

  /** Reserved over allocated: measured on 24 pairs, 1.03 to 1.09. */
  static final double RESERVED = 1.05;

  /** The same where whole expert layers are recomputed: two runs show 1.18 and 1.21. */
  static final double RESERVED_MOE_RECOMPUTE = 1.20;

  private final Training training;
  private final MemoryOptions options;
  private final MemoryDevice device;
  private final double usableBytes;
  private double[] chunkBytes = new double[16];
  final double[] lines = new double[MemoryLine.COUNT];

  /** Elements of the last rank filled: matrices and norms with embeddings; experts. */
  double denseElements;

  double expertElements;

  MemoryRank(Training training, MemoryOptions options, MemoryDevice device, double usableBytes) {
    this.training = training;
    this.options = options;
    this.device = device;
    this.usableBytes = usableBytes;
  }

  /** Ranks over which dense states are sharded. */
  static double denseShards(int cp, int dp, MemoryPlan m) {
    return m.shardGroup() > 0 ? Math.min(m.shardGroup(), (double) dp * cp) : (double) dp * cp;
  }

  /** Ranks over which expert states are sharded. */
  static double expertShards(int tp, int cp, int dp, int ep, int etp, MemoryPlan m) {
    return Math.max(1, denseShards(cp, dp, m) * tp / ((double) ep * etp));
  }

  /** Bytes of reading C of the rank; the lines stay readable until the next call. */
  double fill(Candidate c, Layout layout, MemoryShape shape, MemoryProfile profile, int rank) {
    Arrays.fill(lines, 0);
    Dims d = c.dims();
    int kinds = shape.kinds;
    boolean first = rank == layout.rank(0);
    boolean last = rank == layout.lastRank();
    int mtp = last ? layout.mtpLayers() : 0;
    int mask = 0;
    double tensor = 0;
    double replicated = 0;
    double expert = 0;
    double unit = 0;
    double working = 0;
    double transientBytes = 0;
    for (int k = 0; k < kinds; k++) {
      double n = layout.rankCount(rank, k);
      boolean inMtp = mtp > 0 && k == shape.lastKind;
      if (n > 0 || inMtp) {
        mask |= 1 << k;
        working = Math.max(working, shape.working[k]);
        transientBytes = Math.max(transientBytes, shape.transients[k]);
        unit = Math.max(unit, shape.tensor[k] + shape.replicated[k] + shape.expert[k]);
      }
      tensor += n * shape.tensor[k];
      replicated += n * shape.replicated[k];
      expert += n * shape.expert[k];
    }
    tensor += mtp * shape.mtpTensor;
    replicated += mtp * shape.mtpReplicated;
    expert += mtp * shape.expert[shape.lastKind];
    double embeddingElements = embeddings(layout, shape, first, last, mtp);
    replicated += last ? shape.headNorm : 0;
    denseElements = tensor + replicated + embeddingElements;
    expertElements = expert;
    if (last) {
      transientBytes = Math.max(transientBytes, shape.headBytes + mtp * shape.mtpHeadBytes);
    }

    MemoryPlan m = c.memory();
    states(d, m, profile, tensor, layout.rankLayers(rank) + mtp);
    activations(c, layout, shape, rank, mtp);
    lines[MemoryLine.RECOMPUTE_WORKING_SET.ordinal()] = working;
    lines[MemoryLine.TRANSIENT.ordinal()] = transientBytes;
    if (placeholders(profile)) {
      lines[MemoryLine.PLACEHOLDER_GRADIENTS.ordinal()] = shape.placeholderBytes(mask);
    }
    if (profile.shardWeights()) {
      lines[MemoryLine.FSDP_GATHER.ordinal()] =
          profile.gatherBytes(
              denseElements + expertElements,
              options.weightsStayGathered() && d.pp() > 1,
              unit,
              first || last ? shape.headMatrix : 0);
    }
    lines[MemoryLine.PIPELINE_BUFFERS.ordinal()] = d.pp() > 1 ? 2 * shape.residual : 0;
    lines[MemoryLine.WORKSPACE.ordinal()] = WORKSPACE_BYTES;
    return readings(c, shape, profile);
  }

  static double embeddings(Layout layout, MemoryShape shape, boolean first, boolean last, int mtp) {
    double elements = first ? shape.embedding : 0;
    if (last) {
      boolean tied = layout.model().tiedEmbeddings();
      if (!tied || !first) {
        elements += shape.headMatrix;
      }
      if (mtp > 0 && !first && !tied) {
        elements += shape.headMatrix;
      }
    }
    return elements;
  }

  void states(Dims d, MemoryPlan m, MemoryProfile p, double tensorElements, int layers) {
    double ds = denseShards(d.cp(), d.dp(), m);
    double es = expertShards(d.tp(), d.cp(), d.dp(), d.ep(), d.etp(), m);
    double weight = p.weight();
    double copies = 0;
    if (!training.precision().sixteenBit() && !p.shardWeights() && options.transformerEngine()) {
      copies = 2 * MemoryItems.gemmBytes(training.precision());
      if (options.fp8WeightGather()) {
        lines[MemoryLine.WEIGHTS.ordinal()] -= weight * (tensorElements + expertElements);
      }
    }
    double sharded = denseElements / ds + expertElements / es;
    lines[MemoryLine.WEIGHTS.ordinal()] +=
        weight * (p.shardWeights() ? sharded : denseElements + expertElements)
            + p.unquantized() * (denseElements - tensorElements) / (p.shardWeights() ? ds : 1);
    lines[MemoryLine.FP8_WEIGHTS.ordinal()] = copies * (tensorElements + expertElements);
    if (m.secondaryGroup() > 0 && p.shardWeights()) {
      lines[MemoryLine.SECONDARY_WEIGHTS.ordinal()] =
          2 * (denseElements + expertElements) / m.secondaryGroup();
    }
    lines[MemoryLine.MAIN_GRADIENTS.ordinal()] =
        p.gradient() * (p.shardGradients() ? sharded : denseElements + expertElements);
    double own = p.shardOptimizer() ? sharded : denseElements + expertElements;
    lines[MemoryLine.OPTIMIZER.ordinal()] = p.optimizer() * (1 - m.optimizerOffload()) * own;
    lines[MemoryLine.STEP_TEMPORARIES.ordinal()] = p.temporary() * (1 - m.optimizerOffload()) * own;
    lines[MemoryLine.STEP_TEMPORARIES_RESERVED.ordinal()] =
        p.cached() * (1 - m.optimizerOffload()) * own;
    if (p.style() == MemoryProfile.Style.ADAPTERS) {
      lines[MemoryLine.ADAPTERS.ordinal()] = layers * device.adapterBytes(d, p, ds);
    }
  }

  private void activations(Candidate c, Layout layout, MemoryShape shape, int rank, int mtp) {
    int pp = layout.pp();
    int vpp = layout.vpp();
    int m = c.batch().gradientAccumulation();
    if (chunkBytes.length < vpp) {
      chunkBytes = new double[vpp];
    }
    double sum = 0;
    int lastVirtual = pp * vpp - 1;
    for (int chunk = 0; chunk < vpp; chunk++) {
      boolean back = c.schedule().shapedLikeV() && chunk % 2 == 1;
      int v = chunk * pp + (back ? pp - 1 - rank : rank);
      double bytes = (v == 0 ? shape.inputIds : 0) + (v < lastVirtual ? shape.stageOutput : 0);
      for (int k = 0; k < shape.kinds; k++) {
        bytes += layout.chunkCount(v, k) * shape.kept[k];
      }
      if (v == lastVirtual) {
        bytes += mtp * shape.mtpKept;
      }
      chunkBytes[chunk] = bytes;
      sum += bytes;
    }
    lines[MemoryLine.ACTIVATIONS.ordinal()] =
        MemoryInFlight.replayed(c.schedule(), pp, vpp)
            ? MemoryInFlight.peakBytes(pp, vpp, rank, m, device.extraChunks(c.dims()), chunkBytes)
            : sum * MemoryInFlight.count(c.schedule(), pp, rank, m);
  }

  private double readings(Candidate c, MemoryShape shape, MemoryProfile profile) {
    double a = 0;
    for (int i = 0; i < MemoryLine.STEP_TEMPORARIES.ordinal(); i++) {
      a += lines[i];
    }
    double temporaries = lines[MemoryLine.STEP_TEMPORARIES.ordinal()];
    double free =
        lines[MemoryLine.ACTIVATIONS.ordinal()]
            + lines[MemoryLine.RECOMPUTE_WORKING_SET.ordinal()]
            + lines[MemoryLine.TRANSIENT.ordinal()];
    double inStep = Math.max(0, temporaries - free);
    lines[MemoryLine.STEP_TEMPORARIES.ordinal()] = inStep;
    a += inStep;
    double cached = lines[MemoryLine.STEP_TEMPORARIES_RESERVED.ordinal()];
    return a + reserved(c, shape, profile, a, temporaries - inStep + cached);
  }

  /**
   * Fills the lines beyond reading A. Blocks that the allocator only caches (left by temporaries,
   * or by fragments beyond the usual 5%) are freed before the device runs out, so they count only
   * while there is room.
   */
  private double reserved(
      Candidate c, MemoryShape shape, MemoryProfile profile, double a, double later) {
    double firm = a * (RESERVED - 1);
    double communication = device.communicationBytes(c.dims(), shape.tokens);
    double outside =
        MemoryDevice.CONTEXT_BYTES
            + communication
            + device.unexplainedBytes(profile, firm, communication);
    double room = Math.max(0, usableBytes - outside - a - firm);
    double kept = Math.min(later, room);
    double cached = (a + later) * (reservedFactor(c) - 1) - firm;
    double slack = firm + Math.max(0, Math.min(cached, room - kept));
    double unexplained = device.unexplainedBytes(profile, slack, communication);
    lines[MemoryLine.STEP_TEMPORARIES_RESERVED.ordinal()] = kept;
    lines[MemoryLine.RESERVED_SLACK.ordinal()] = slack;
    lines[MemoryLine.CONTEXT.ordinal()] = MemoryDevice.CONTEXT_BYTES;
    lines[MemoryLine.COMMUNICATION.ordinal()] = communication;
    lines[MemoryLine.UNEXPLAINED.ordinal()] = unexplained;
    return kept + slack + MemoryDevice.CONTEXT_BYTES + communication + unexplained;
  }

  static double reservedFactor(Candidate c) {
    int modules = MemoryRecompute.modules(c.memory().recompute());
    return (modules >> Module.MOE.ordinal() & 1) != 0 ? RESERVED_MOE_RECOMPUTE : RESERVED;
  }

  boolean placeholders(MemoryProfile profile) {
    return training.gradientFusion()
        && options.transformerEngine()
        && profile.style() == MemoryProfile.Style.MEGATRON;
  }
}
