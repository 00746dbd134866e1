package dev.meshplan.hardware;

import dev.meshplan.config.Keyed;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One accelerator.
 *
 * @param id file name without {@code .yaml}
 * @param aliases other names
 * @param name as sold
 * @param vendor maker
 * @param architecture generation, decides kernels, tiles and capability limits
 * @param year first shipped; 0 = unknown
 * @param status available, announced, old, export variant ...
 * @param memoryBytes the label
 * @param usableMemoryBytes what a process can use; the only one that rules read
 * @param memoryBandwidth bytes per second; NaN = not published
 * @param peaks dense FLOP per second by precision; a missing precision is not supported
 * @param efficiency what kernels achieve
 * @param power watts
 * @param sms streaming multiprocessors; 0 = unknown (then GEMMs are not quantised into waves)
 * @param sources where the numbers are published
 * @param notes for people
 */
public record Gpu(
    String id,
    List<String> aliases,
    String name,
    String vendor,
    Architecture architecture,
    int year,
    String status,
    double memoryBytes,
    Known usableMemoryBytes,
    double memoryBandwidth,
    Map<Precision, Double> peaks,
    Efficiency efficiency,
    Power power,
    int sms,
    List<String> sources,
    String notes) {

  /** Generations that differ in kernels or capability. */
  public enum Architecture implements Keyed {
    PASCAL(21.2),
    VOLTA(125),
    TURING(114),
    AMPERE(312),
    ADA(362),
    HOPPER(989),
    BLACKWELL(2500),
    RUBIN(4000),
    CDNA2(383),
    CDNA3(1307),
    CDNA4(2500),
    GAUDI(1677),
    TPU(2307),
    TRAINIUM(671),
    ASCEND(752),
    OTHER(Double.NaN);

    private final double mostDense16;

    Architecture(double mostDense16Tera) {
      this.mostDense16 = mostDense16Tera * Quantity.TERA;
    }

    /** The highest dense 16-bit peak of the generation in the catalog, FLOP/s; NaN = unknown. */
    double mostDense16() {
      return mostDense16;
    }

    /**
     * Whether the tensor cores have the format: no fp8 before Ada, block formats from Blackwell.
     */
    public boolean has(Precision precision) {
      return switch (precision) {
        case FP16 -> this != TPU;
        case BF16 -> !beforeAmpere();
        case FP8 -> !beforeAmpere() && this != AMPERE && this != CDNA2;
        case MXFP8, NVFP4 -> blackwell() || this == OTHER;
      };
    }

    /** NVIDIA generations without kernels of fused attention in Transformer Engine. */
    public boolean beforeAmpere() {
      return this == PASCAL || this == VOLTA || this == TURING;
    }

    /** Major compute capability of NVIDIA generations; that of Hopper where there is none. */
    public int computeCapability() {
      return switch (this) {
        case PASCAL -> 6;
        case VOLTA, TURING -> 7;
        case AMPERE, ADA -> 8;
        case BLACKWELL -> 10;
        case RUBIN -> 11;
        default -> 9;
      };
    }

    public boolean atLeastHopper() {
      return this == HOPPER || this == BLACKWELL || this == RUBIN;
    }

    public boolean blackwell() {
      return this == BLACKWELL || this == RUBIN;
    }

    public boolean nvidia() {
      return ordinal() <= RUBIN.ordinal();
    }
  }

  /**
   * Fractions of the dense peak that kernels reach.
   *
   * @param gemm by precision: the asymptote of large M and K, sustained clock included
   * @param attention fused attention, newest kernel, of the 16-bit peak at head size 128
   * @param attentionFlash2 the same with FlashAttention-2
   * @param kHalf K at which a GEMM loses half by filling its pipeline (k0), elements of 16 bit
   * @param mHalf M for the same (m0)
   * @param memory share of the memory bandwidth that streams reach
   * @param bestGemm best measured 16-bit GEMM as a share of the peak; unknown = NaN
   */
  public record Efficiency(
      Map<Precision, Known> gemm,
      Known attention,
      Known attentionFlash2,
      Known kHalf,
      Known mHalf,
      Known memory,
      Known bestGemm) {}

  /** Watts of one GPU: idle, typical training load, peak (TDP). */
  public record Power(Known idle, Known typical, Known peak) {}

  /**
   * What nobody published of this GPU, by the file's keys: it is usable only where that is not
   * needed.
   */
  public List<String> unknown() {
    List<String> keys = new ArrayList<>();
    if (Double.isNaN(memoryBandwidth)) {
      keys.add("memory_bandwidth");
    }
    if (peaks.isEmpty()) {
      keys.add("peak");
    } else if (Double.isNaN(peak16())) {
      keys.add("peak.bf16");
    }
    if (!power.peak().known()) {
      keys.add("power.peak");
    }
    return keys;
  }

  /** Dense peak, FLOP/s; NaN when the GPU has no such format. */
  public double peak(Precision precision) {
    return peaks.getOrDefault(precision, Double.NaN);
  }

  public boolean supports(Precision precision) {
    return peaks.containsKey(precision);
  }

  /** The 16-bit peak that attention, head and router use. */
  public double peak16() {
    return peaks.getOrDefault(Precision.BF16, peaks.getOrDefault(Precision.FP16, Double.NaN));
  }
}
