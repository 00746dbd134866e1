package dev.meshplan.plan;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.SystemSpec;

/** The hardware of one pool, resolved. */
public record Machine(Pool pool, SystemSpec system, Gpu gpu, Network network) {
  /** Bytes per second of scale-out per GPU, one way; infinite where nothing joins the domains. */
  public double scaleOutBandwidth() {
    return network == null ? Double.POSITIVE_INFINITY : network.perGpuBandwidth(system);
  }
}
