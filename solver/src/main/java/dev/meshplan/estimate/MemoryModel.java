package dev.meshplan.estimate;

import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Layout;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.MemoryTerm;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.StageMemory;
import dev.meshplan.plan.Training;
import java.util.ArrayList;
import java.util.List;

/**
 * Peak memory of every pipeline rank of a plan, from first principles, in three readings: A what
 * live tensors take (allocator peak), B what the caching allocator holds (reserved), C what the
 * device shows (with context and communication buffers), which is what must fit.
 *
 * <p>Remembers the weights of layers by degrees, so one instance belongs to one thread.
 */
public final class MemoryModel {
  private static final int SLOTS = 1 << 12;

  private final Model model;
  private final Training training;
  private final Machine machine;
  private final MemoryOptions options;
  private final MemoryDevice device;
  private final InFlightCounts inFlight = new InFlightCounts();
  private final MemoryRank arithmetic;
  private final MemoryFloor floor;
  private final MemoryProfile[] profiles = new MemoryProfile[4];
  private final List<LayerKind> kinds;
  private final long[] keys = new long[3 * SLOTS];
  private final MemoryShape[] shapes = new MemoryShape[SLOTS];

  /** The memory model of a job, with what it does not state taken from its era. */
  public MemoryModel(Model model, Training training, Machine machine) {
    this(model, training, machine, MemoryOptions.of(training));
  }

  /** The memory model of a job with these settings. */
  public MemoryModel(Model model, Training training, Machine machine, MemoryOptions stated) {
    MemoryOptions options =
        training.unfusedAttention(machine.gpu()) ? stated.withUnfusedAttention() : stated;
    this.model = model;
    this.training = training;
    this.machine = machine;
    this.options = options;
    this.device = new MemoryDevice(model, training, options);
    this.arithmetic =
        new MemoryRank(training, options, device, machine.gpu().usableMemoryBytes().value());
    this.kinds = model.distinctKinds();
    floor =
        new MemoryFloor(arithmetic, device, options, model.kindCounts(), model.tiedEmbeddings());
    for (int i = 0; i < profiles.length; i++) {
      profiles[i] = MemoryProfile.of(training, i);
    }
  }

  /**
   * Device reading (C) of the worst rank.
   *
   * @return bytes per GPU
   */
  public double worstDeviceBytes(Candidate c, Layout layout) {
    MemoryShape shape = shape(c);
    MemoryProfile profile = profile(c);
    double worst = 0;
    boolean falling = !c.schedule().shapedLikeV();
    for (int rank = 0; rank < layout.pp(); rank++) {
      if (falling && rank > 1 && rank < layout.pp() - 1 && sameLayers(layout, rank)) {
        continue;
      }
      worst = Math.max(worst, arithmetic.fill(c, layout, shape, profile, rank));
    }
    return worst;
  }

  /** Whether a rank holds what the one before holds: then it holds as many or fewer in flight. */
  private boolean sameLayers(Layout layout, int rank) {
    for (int v = rank; v < layout.pp() * layout.vpp(); v += layout.pp()) {
      for (int k = 0; k < kinds.size(); k++) {
        if (layout.chunkCount(v, k) != layout.chunkCount(v - 1, k)) {
          return false;
        }
      }
    }
    return true;
  }

  /**
   * Device reading (C) of one pipeline rank.
   *
   * @return bytes per GPU
   */
  public double deviceBytes(Candidate c, Layout layout, int rank) {
    return arithmetic.fill(c, layout, shape(c), profile(c), rank);
  }

  /** The rank with the largest device reading; the lowest of equals. */
  public int worstRank(Candidate c, Layout layout) {
    int worst = 0;
    double most = -1;
    for (int rank = 0; rank < layout.pp(); rank++) {
      double bytes = deviceBytes(c, layout, rank);
      if (bytes > most) {
        most = bytes;
        worst = rank;
      }
    }
    return worst;
  }

  /** Readings A, B and C of every rank, bytes per GPU. */
  public List<StageMemory> stages(Candidate c, Layout layout) {
    List<StageMemory> stages = new ArrayList<>();
    for (int rank = 0; rank < layout.pp(); rank++) {
      double device = deviceBytes(c, layout, rank);
      double a = 0;
      double b = 0;
      for (MemoryLine line : MemoryLine.values()) {
        double bytes = arithmetic.lines[line.ordinal()];
        a += line.reading() == MemoryLine.Reading.A ? bytes : 0;
        b += line.reading() != MemoryLine.Reading.C ? bytes : 0;
      }
      stages.add(new StageMemory(rank, a, b, device));
    }
    return stages;
  }

  /**
   * The lines of one rank that are not zero; those of reading A come first and add up to A, all add
   * up to C.
   */
  public List<MemoryTerm> terms(Candidate c, Layout layout, int rank) {
    deviceBytes(c, layout, rank);
    MemoryWords words = new MemoryWords(this, c, layout, rank, arithmetic);
    List<MemoryTerm> terms = new ArrayList<>();
    for (MemoryLine line : MemoryLine.values()) {
      double bytes = arithmetic.lines[line.ordinal()];
      if (bytes != 0) {
        terms.add(new MemoryTerm(line.key(), rank, bytes, words.of(line), line.basis()));
      }
    }
    return terms;
  }

  /** The tensors that one layer of a kind keeps with nothing recomputed, bytes per micro-batch. */
  public List<MemoryItem> items(Candidate c, LayerKind kind) {
    return shape(c).items.get(kinds.indexOf(kind));
  }

  /** Verdict on the worst rank against the machine's usable memory. */
  public MemoryVerdict verdict(Candidate c, Layout layout) {
    return MemoryVerdict.of(worstDeviceBytes(c, layout), machine.gpu().usableMemoryBytes().value());
  }

  /**
   * Host memory that offloaded optimizer states take on the fullest node.
   *
   * @return bytes per node; 0 without offload
   */
  public double hostBytesPerNode(Candidate c, Layout layout) {
    double share = c.memory().optimizerOffload();
    if (share <= 0) {
      return 0;
    }
    Dims d = c.dims();
    MemoryProfile p = profile(c);
    double ds = p.optimizerDivisor(MemoryRank.denseShards(d.cp(), d.dp(), c.memory()));
    double es =
        p.optimizerDivisor(
            MemoryRank.expertShards(d.tp(), d.cp(), d.dp(), d.ep(), d.etp(), c.memory()));
    double[] perGpu = new double[layout.pp()];
    for (int rank = 0; rank < layout.pp(); rank++) {
      deviceBytes(c, layout, rank);
      perGpu[rank] =
          share * p.optimizer() * (arithmetic.denseElements / ds + arithmetic.expertElements / es);
    }
    return fullestNode(perGpu, (long) d.tp() * d.cp() * d.dp(), machine.system().gpusPerNode());
  }

  /** Largest sum over the GPUs of one node, where ranks of a stage are neighbours. */
  private static double fullestNode(double[] perGpu, long stageGpus, int nodeGpus) {
    double worst = 0;
    for (long first = 0; first < stageGpus * perGpu.length; first += nodeGpus) {
      double sum = 0;
      for (long g = first; g < Math.min(first + nodeGpus, stageGpus * perGpu.length); g++) {
        sum += perGpu[(int) (g / stageGpus)];
      }
      worst = Math.max(worst, sum);
    }
    return worst;
  }

  /**
   * A lower bound of the worst rank's device reading over every layout and number of virtual stages
   * of a candidate; with full recompute also over every recompute and larger micro-batch.
   *
   * @return bytes per GPU
   */
  public double floorBytes(Candidate c) {
    return floor.bytes(c, shape(c), profile(c));
  }

  /**
   * Linear pieces of every rank's device reading, for a solver that places the layers.
   *
   * @param any a layout with the candidate's degrees and MTP layers; where its layers stand is not
   *     read
   */
  public MemorySplit split(Candidate c, Layout any) {
    return MemorySplit.of(
        training,
        options,
        device,
        inFlight,
        shape(c),
        profile(c),
        c,
        any,
        machine.gpu().usableMemoryBytes().value());
  }

  /** Micro-batches in flight of each chunk of a rank at its peak, for print. */
  public double[] inFlight(Candidate c, Layout layout, int rank) {
    return MemoryInFlight.atPeak(
        c.schedule(),
        layout,
        rank,
        c.batch().gradientAccumulation(),
        device.extraChunks(c.dims()),
        shape(c).kept);
  }

  Training training() {
    return training;
  }

  MemoryProfile profile(Candidate c) {
    return profiles[c.memory().sharding()];
  }

  MemoryShape shape(Candidate c) {
    Dims d = c.dims();
    return shape(
        profile(c).style(),
        d.tp(),
        d.cp(),
        d.ep(),
        d.etp(),
        c.batch().microBatch(),
        c.memory().recompute());
  }

  private MemoryShape shape(
      MemoryProfile.Style style, int tp, int cp, int ep, int etp, int microBatch, Recompute r) {
    long mask = 0;
    for (int i = 0; i < r.modules().size(); i++) {
      mask |= 1L << r.modules().get(i).ordinal();
    }
    long k0 = (long) tp << 40 | (long) cp << 20 | ep;
    long k1 = (long) etp << 40 | (long) microBatch << 16 | mask << 2 | r.granularity().ordinal();
    k1 |= (long) style.ordinal() << 12;
    long k2 = r.full() ? Double.doubleToRawLongBits(r.share()) : 0;
    long hash = (k0 * 31 + k1) * 0x9E3779B97F4A7C15L + k2;
    int slot = (int) (hash >>> 40) & SLOTS - 1;
    MemoryShape found = shapes[slot];
    int at = 3 * slot;
    if (found != null && keys[at] == k0 && keys[at + 1] == k1 && keys[at + 2] == k2) {
      return found;
    }
    found = new MemoryShape(model, training, options, style, tp, cp, ep, etp, microBatch, r);
    shapes[slot] = found;
    keys[at] = k0;
    keys[at + 1] = k1;
    keys[at + 2] = k2;
    return found;
  }
}
