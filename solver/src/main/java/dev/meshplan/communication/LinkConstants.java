package dev.meshplan.communication;

import static dev.meshplan.communication.LinkParameter.*;
import static dev.meshplan.units.Basis.ASSUMED;
import static dev.meshplan.units.Basis.DERIVED;
import static dev.meshplan.units.Basis.FITTED;
import static dev.meshplan.units.Basis.FITTED_ON_ONE_SOURCE;

import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.units.Basis;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Constants per link generation, half precision. Fitted on the measured set (public nccl-tests,
 * rccl-tests and kernel benchmarks, listed in the test resources); what one publisher alone knows
 * is marked so. A generation without a row takes the nearest one of its family, scaled by
 * bandwidth, marked assumed. Kernels on symmetric memory: the times measured by their authors that
 * NCCL 2.27 carries (github NVIDIA/nccl@7e809ce src/symmetric.cc).
 */
final class LinkConstants {
  private static final Pattern GENERATION = Pattern.compile("([a-z-]+?)([0-9]+)?");

  /** Ampere. */
  private static final Constants<LinkParameter> NVLINK3 =
      row("nvlink3")
          .with(FITTED_ON_ONE_SOURCE, ALL_REDUCE_LL_BASE_US, 10.68, 0.798, 0.341)
          .with(FITTED_ON_ONE_SOURCE, ALL_REDUCE_LL128_BASE_US, 26, 0.964, 0.553)
          .with(FITTED_ON_ONE_SOURCE, ALL_REDUCE_SIMPLE_BASE_US, 67, 1.61)
          .with(FITTED, ALL_REDUCE_SIMPLE_SHARE, 0.735)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_LL_BASE_US, 10.57, 0.722, 0.228)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_LL128_BASE_US, 22.5, 0.779, 0.490)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_SIMPLE_BASE_US, 40, 4.0, 0.732)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_LL_BASE_US, 10.46, 0.640, 0.275)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_LL128_BASE_US, 22.5, 1.235, 0.549)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_SIMPLE_BASE_US, 32.8, 3.18, 0.748)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_COPY_SHARE, 1.74, 2.33)
          .with(ASSUMED, GATHER_FILL_US, 0, 16)
          .with(FITTED_ON_ONE_SOURCE, ALL_TO_ALL_FLOOR_US, 10, 12.65, 0.181, 0.647, 2.63, 15, 0.38)
          .with(ASSUMED, SEND_BASE_US, 10)
          .with(FITTED_ON_ONE_SOURCE, SEND_SHARE, 0.65, 0.0458, 8)
          .with(ASSUMED, CUSTOM_BASE_US, 4, 0.15, 0.64, 16, 0.60)
          .with(ASSUMED, EXPERT_BASE_US, 11, 0.06, 0.60, 0.55, 0.60, 0.60, 0.55);

  /** Hopper. */
  private static final Constants<LinkParameter> NVLINK4 =
      row("nvlink4")
          .with(FITTED, ALL_REDUCE_LL_BASE_US, 4.95, 0.882, 0.294)
          .with(FITTED, ALL_REDUCE_LL128_BASE_US, 13.6, 0.963, 0.619)
          .with(FITTED, ALL_REDUCE_SIMPLE_BASE_US, 38.2, 1.36)
          .with(FITTED_ON_ONE_SOURCE, ALL_REDUCE_SIMPLE_SHARE, 0.784)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_LL_BASE_US, 5.19, 0.838, 0.302)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_LL128_BASE_US, 17.2, 1.05, 0.704)
          .with(FITTED, ALL_GATHER_SIMPLE_BASE_US, 26.5, 1.89)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_SIMPLE_SHARE, 0.813)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_LL_BASE_US, 5.15, 0.798, 0.368)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_LL128_BASE_US, 14.2, 0.958, 0.762)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_SIMPLE_BASE_US, 26.35, 2.11, 0.835)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_COPY_SHARE, 1.95, 1.50)
          .with(ASSUMED, GATHER_FILL_US, 0, 16)
          .with(FITTED, NVLS_BASE_US, 17.65, 0.682)
          .with(ASSUMED, NVLS_RACK_SHARE, 0.545)
          .with(FITTED, NVLS_RANK_US, 9.4, 10.4, 5)
          .with(FITTED_ON_ONE_SOURCE, ALL_TO_ALL_FLOOR_US, 6.4, 5.85, 0.728, 0.646, 3.36, 9.9, 0.09)
          .with(DERIVED, SEND_BASE_US, 7, 0.70, 0.034, 4)
          .with(FITTED_ON_ONE_SOURCE, CUSTOM_BASE_US, 2.59, 0.101, 0.650, 16.1, 0.635)
          .with(FITTED_ON_ONE_SOURCE, EXPERT_BASE_US, 15, 0.1)
          .with(FITTED, EXPERT_DISPATCH_SHARE, 0.74, 0.70, 0.73)
          .with(FITTED_ON_ONE_SOURCE, EXPERT_HYBRID_DISPATCH_SHARE, 0.74, 0.70)
          .with(FITTED_ON_ONE_SOURCE, SYMMETRIC_LL_BASE_US, 4.5, 0.27, 6.8, 0.73, 0.69);

  /** Blackwell. */
  private static final Constants<LinkParameter> NVLINK5 =
      row("nvlink5")
          .with(FITTED, ALL_REDUCE_LL_BASE_US, 8.2, 1.32, 0.306)
          .with(FITTED_ON_ONE_SOURCE, ALL_REDUCE_LL128_BASE_US, 20.4, 3.11, 0.638)
          .with(FITTED, ALL_REDUCE_SIMPLE_BASE_US, 59, 1.46, 0.751)
          .with(FITTED, ALL_GATHER_LL_BASE_US, 8.7, 1.21)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_LL_SHARE, 0.265)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_LL128_BASE_US, 16.4, 1.15, 0.371)
          .with(FITTED, ALL_GATHER_SIMPLE_BASE_US, 16.6, 4.5)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_SIMPLE_SHARE, 0.802)
          .with(FITTED, REDUCE_SCATTER_LL_BASE_US, 8.5, 1.17)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_LL_SHARE, 0.288)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_LL128_BASE_US, 13.7, 1.15, 0.366)
          .with(FITTED, REDUCE_SCATTER_SIMPLE_BASE_US, 13.6, 4.65)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_SIMPLE_SHARE, 0.802)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_COPY_SHARE, 1.345)
          .with(FITTED_ON_ONE_SOURCE, GATHER_FILL_US, 130, 16)
          .with(FITTED, REDUCE_SCATTER_COPY_SHARE, 1.077)
          .with(FITTED, NVLS_BASE_US, 26.4, 0.58, 0.483, 8.0, 9.2, 6)
          .with(FITTED_ON_ONE_SOURCE, ALL_TO_ALL_FLOOR_US, 9.0, 9.33, 0.563, 0.620, 0.786, 11, 0.09)
          .with(FITTED_ON_ONE_SOURCE, SEND_BASE_US, 9.5, 0.72, 0.0236, 4)
          .with(FITTED_ON_ONE_SOURCE, CUSTOM_BASE_US, 4.2, 0.167, 0.638, 14.1, 0.50)
          .with(FITTED, EXPERT_BASE_US, 11)
          .with(FITTED_ON_ONE_SOURCE, EXPERT_RANK_US, 0.06, 0.55, 0.47)
          .with(ASSUMED, EXPERT_LOW_LATENCY_SHARE, 0.6)
          .with(FITTED_ON_ONE_SOURCE, EXPERT_HYBRID_DISPATCH_SHARE, 0.66, 0.63)
          .with(FITTED_ON_ONE_SOURCE, SYMMETRIC_LL_BASE_US, 9, 0.19, 14, 0.66, 0.58);

  /** Infinity Fabric, a mesh of single links. All-gather and the rest derived from all-reduce. */
  private static final Constants<LinkParameter> XGMI =
      row("xgmi")
          .with(FITTED_ON_ONE_SOURCE, ALL_REDUCE_LL_BASE_US, 8.9, 0.34, 0.231)
          .with(FITTED_ON_ONE_SOURCE, ALL_REDUCE_LL128_BASE_US, 9.6, 0.776, 0.507)
          .with(FITTED_ON_ONE_SOURCE, ALL_REDUCE_SIMPLE_BASE_US, 21.8, 2.78)
          .with(FITTED, ALL_REDUCE_SIMPLE_SHARE, 0.706)
          .with(DERIVED, ALL_GATHER_LL_BASE_US, 8.9, 0.34, 0.231, 9.6, 0.776, 0.507)
          .with(DERIVED, ALL_GATHER_SIMPLE_BASE_US, 21.8, 2.78, 0.706)
          .with(DERIVED, REDUCE_SCATTER_LL_BASE_US, 8.9, 0.34, 0.231, 9.6, 0.776, 0.507)
          .with(DERIVED, REDUCE_SCATTER_SIMPLE_BASE_US, 21.8, 2.78, 0.706)
          .with(ASSUMED, ALL_GATHER_COPY_SHARE, 2.0, 2.0)
          .with(ASSUMED, GATHER_FILL_US, 0, 16)
          .with(ASSUMED, ALL_TO_ALL_FLOOR_US, 12, 14, 0.6, 0.72, 3.0, 10, 0.1)
          .with(ASSUMED, SEND_BASE_US, 10, 0.74, 0.05, 16)
          .with(ASSUMED, CUSTOM_BASE_US, 5, 0.3, 0.6, 16, 0.6)
          .with(ASSUMED, EXPERT_BASE_US, 15, 0.1, 0.6, 0.55, 0.6, 0.6, 0.55);

  /** PCIe with direct writes between GPUs; shares are of the slot's rate. */
  private static final Constants<LinkParameter> PCIE =
      row("pcie")
          .with(FITTED_ON_ONE_SOURCE, ALL_REDUCE_LL_BASE_US, 4.55, 0.694, 0.330)
          .with(ASSUMED, ALL_REDUCE_LL128_BASE_US, 12, 1.2, 0.50)
          .with(FITTED_ON_ONE_SOURCE, ALL_REDUCE_SIMPLE_BASE_US, 20.7, 1.0, 0.65)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_LL_BASE_US, 5.3, 0.725, 0.324)
          .with(ASSUMED, ALL_GATHER_LL128_BASE_US, 12, 1.2, 0.50)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_SIMPLE_BASE_US, 17.8, 1.0, 0.633)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_LL_BASE_US, 5.2, 0.712, 0.321)
          .with(ASSUMED, REDUCE_SCATTER_LL128_BASE_US, 12, 1.2, 0.50)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_SIMPLE_BASE_US, 17.5, 1.0, 0.611)
          .with(ASSUMED, ALL_GATHER_COPY_SHARE, 20, 20)
          .with(ASSUMED, GATHER_FILL_US, 0, 16)
          .with(FITTED_ON_ONE_SOURCE, ALL_TO_ALL_FLOOR_US, 8, 10.5, 0.5, 0.69, 20, 6, 0.06)
          .with(ASSUMED, SEND_BASE_US, 10, 0.75, 0.4, 4)
          .with(ASSUMED, CUSTOM_BASE_US, 5, 0.3, 0.6, 16, 0.6)
          .with(ASSUMED, EXPERT_BASE_US, 15, 0.2, 0.6, 0.55, 0.6, 0.6, 0.55);

  /** Through host memory: shares are of what one transfer gets there. */
  private static final Constants<LinkParameter> HOST =
      row("host")
          .with(FITTED_ON_ONE_SOURCE, ALL_REDUCE_LL_BASE_US, 4.5, 1.19)
          .with(FITTED, ALL_REDUCE_LL_SHARE, 0.99)
          .with(FITTED_ON_ONE_SOURCE, ALL_REDUCE_LL128_BASE_US, 4.5, 1.19)
          .with(FITTED, ALL_REDUCE_LL128_SHARE, 0.99)
          .with(ASSUMED, ALL_REDUCE_SIMPLE_BASE_US, 20.3, 2.0)
          .with(FITTED, ALL_REDUCE_SIMPLE_SHARE, 0.995)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_LL_BASE_US, 5.1, 0.92, 0.69)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_LL128_BASE_US, 5.1, 0.92, 0.69)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_SIMPLE_BASE_US, 14, 2.9, 0.92)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_LL_BASE_US, 4.8, 1.02, 0.66)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_LL128_BASE_US, 4.8, 1.02, 0.66)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_SIMPLE_BASE_US, 22.6, 4.0, 0.98)
          .with(ASSUMED, ALL_GATHER_COPY_SHARE, 100, 100)
          .with(ASSUMED, GATHER_FILL_US, 0, 16)
          .with(ASSUMED, ALL_TO_ALL_FLOOR_US, 9)
          .with(FITTED_ON_ONE_SOURCE, ALL_TO_ALL_BASE_US, 10, 0.5, 0.9)
          .with(ASSUMED, ALL_TO_ALL_COPY_SHARE, 100, 3, 0.1)
          .with(ASSUMED, SEND_BASE_US, 15, 0.95, 0.5, 4)
          .with(ASSUMED, CUSTOM_BASE_US, 10, 0.5, 0.6, 16, 0.6)
          .with(ASSUMED, EXPERT_BASE_US, 20, 0.3, 0.6, 0.6, 0.6, 0.6, 0.6);

  /** The same wires driven by oneCCL, which starts more slowly. */
  private static final Constants<LinkParameter> PCIE_ONECCL =
      PCIE.as("pcie-oneccl", ASSUMED)
          .with(FITTED_ON_ONE_SOURCE, ALL_REDUCE_LL_BASE_US, 12.45, 0.80, 0.594)
          .with(FITTED_ON_ONE_SOURCE, ALL_REDUCE_LL128_BASE_US, 12.45, 0.80, 0.594)
          .with(ASSUMED, ALL_REDUCE_SIMPLE_BASE_US, 15.8, 2.0)
          .with(FITTED_ON_ONE_SOURCE, ALL_REDUCE_SIMPLE_SHARE, 0.596)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_LL_BASE_US, 12.1, 1.0, 0.594)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_LL128_BASE_US, 12.1, 1.0, 0.594)
          .with(ASSUMED, ALL_GATHER_SIMPLE_BASE_US, 15.6, 2.0)
          .with(FITTED_ON_ONE_SOURCE, ALL_GATHER_SIMPLE_SHARE, 0.596)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_LL_BASE_US, 12.6, 0.65, 0.594)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_LL128_BASE_US, 12.6, 0.65, 0.594)
          .with(ASSUMED, REDUCE_SCATTER_SIMPLE_BASE_US, 15.6, 2.0)
          .with(FITTED_ON_ONE_SOURCE, REDUCE_SCATTER_SIMPLE_SHARE, 0.596);

  /** First NVLink generations, without a switch: Ampere's delays, the share of one DGX-1. */
  private static final Constants<LinkParameter> NVLINK2 =
      NVLINK3
          .as("nvlink2", ASSUMED)
          .with(ALL_REDUCE_SIMPLE_SHARE, 0.90, FITTED_ON_ONE_SOURCE)
          .with(ALL_GATHER_SIMPLE_SHARE, 0.90, DERIVED)
          .with(REDUCE_SCATTER_SIMPLE_SHARE, 0.90, DERIVED);

  /** NVLink bridges between two cards. */
  private static final Constants<LinkParameter> BRIDGE =
      NVLINK3
          .as("bridge", DERIVED)
          .with(ALL_REDUCE_SIMPLE_SHARE, 0.85, FITTED_ON_ONE_SOURCE)
          .with(ALL_GATHER_SIMPLE_SHARE, 0.85, DERIVED)
          .with(REDUCE_SCATTER_SIMPLE_SHARE, 0.85, DERIVED);

  private static final List<Constants<LinkParameter>> NVLINK =
      List.of(NVLINK2.as("nvlink1", ASSUMED), NVLINK2, NVLINK3, NVLINK4, NVLINK5);

  private LinkConstants() {}

  private static Constants<LinkParameter> row(String name) {
    return new Constants<>(name, LinkParameter.class);
  }

  /** Constants of direct PCIe writes. */
  static Constants<LinkParameter> pcie(boolean oneCcl) {
    return oneCcl ? PCIE_ONECCL : PCIE;
  }

  /** Constants of transfers through host memory. */
  static Constants<LinkParameter> host() {
    return HOST;
  }

  /** What starting a collective takes on a GPU that has no neighbour in its domain. */
  static Constants<LinkParameter> alone() {
    return NVLINK4.as("alone", DERIVED);
  }

  /** Constants of a bridge between two cards. */
  static Constants<LinkParameter> bridge() {
    return BRIDGE;
  }

  /**
   * The row of a link name such as nvlink4, xgmi, pcie5, ici.
   *
   * @throws NoCostModel for a family without any row
   */
  static Constants<LinkParameter> of(String link) {
    Matcher m = GENERATION.matcher(link);
    String family = m.matches() ? m.group(1) : link;
    int generation = m.matches() && m.group(2) != null ? Integer.parseInt(m.group(2)) : 0;
    return switch (family) {
      case "nvlink" -> {
        Constants<LinkParameter> c =
            NVLINK.get(Math.max(0, Math.min(NVLINK.size(), generation) - 1));
        yield generation > NVLINK.size() ? c.as(link, ASSUMED) : c;
      }
      case "xgmi" -> XGMI;
      case "pcie" -> PCIE;
      case "ici", "neuronlink", "roce", "ualink" -> XGMI.as(link, ASSUMED);
      default ->
          throw new NoCostModel(
              "no cost model yet for the link "
                  + link
                  + ": known are nvlink1 to nvlink5 (later ones by the last), xgmi, pcie, ici,"
                  + " neuronlink, roce and ualink; measured constants can stand under domain.collectives.");
    };
  }

  /** How much a link's row is worth when nobody measured that very link. */
  static Basis basis(Constants<LinkParameter> row) {
    return row.basis(ALL_REDUCE_SIMPLE_SHARE);
  }
}
