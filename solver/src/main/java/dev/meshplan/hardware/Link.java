package dev.meshplan.hardware;

import dev.meshplan.config.Keyed;
import dev.meshplan.units.Quantity;
import java.util.Arrays;

/**
 * Generation of a scale-up link, with what one GPU carries over all its links, one way. Sources:
 * ml-engineering@744d01e (network) for NVLink, PCIe, Infinity Fabric, Gaudi, ICI and NeuronLink,
 * the UALink 1.0 and Helios announcements.
 */
public enum Link implements Keyed {
  NVLINK1(4, 80),
  NVLINK2(6, 150),
  NVLINK3(12, 300),
  NVLINK4(18, 450),
  NVLINK5(18, 900),
  NVLINK6(0, 1800),
  /** An NVLink chiplet beside a custom accelerator: no figure of its own is published. */
  NVLINK_FUSION(0),
  /** Chip to chip, Grace or Vera to its GPU. */
  C2C(0, 450, 900),
  PCIE3(0),
  PCIE4(0, 32),
  PCIE5(0, 64),
  PCIE6(0, 128),
  /** AMD Infinity Fabric; MI250X, MI300X and MI325X, MI350X and MI355X. */
  XGMI(7, 350, 448, 535.5),
  UALINK(0, 1800),
  /** Ethernet on the accelerator itself (Gaudi 2, Gaudi 3). */
  ROCE(21, 262.5, 525),
  ICI(0, 600),
  NEURONLINK3(0, 640),
  NEURONLINK4(0),
  HCCS(0),
  UB(0),
  /** No scale-up link and no peer-to-peer: MIG slices, single GPUs. */
  NONE(0),
  /** Something else: placed and described, but without a cost model. */
  OTHER(0);

  private final int links;
  private final double[] oneWayGigabytes;

  Link(int links, double... oneWayGigabytes) {
    this.links = links;
    this.oneWayGigabytes = oneWayGigabytes;
  }

  /** Links of one GPU; 0 = not counted in links. */
  public int links() {
    return links;
  }

  /** The most that one GPU carries, bytes per second one way, all links; NaN = not published. */
  public double oneWay() {
    return Arrays.stream(oneWayGigabytes).max().orElse(Double.NaN) * Quantity.GIGA;
  }

  /** One link, bytes per second one way; NaN when links are not counted. */
  public double oneLink() {
    return links == 0 ? Double.NaN : oneWay() / links;
  }

  /** The one-way figure of which this bandwidth is the sum of both directions, or NaN. */
  double halfOf(double bandwidth) {
    return Arrays.stream(oneWayGigabytes)
        .map(g -> g * Quantity.GIGA)
        .filter(w -> Math.abs(bandwidth / w / 2 - 1) < 0.02)
        .findFirst()
        .orElse(Double.NaN);
  }

  public boolean nvlink() {
    return ordinal() <= NVLINK_FUSION.ordinal();
  }

  public boolean pcie() {
    return ordinal() >= PCIE3.ordinal() && ordinal() <= PCIE6.ordinal();
  }
}
