package dev.meshplan.study;

import dev.meshplan.communication.Collective;
import dev.meshplan.communication.CollectiveCost;
import dev.meshplan.communication.Communication;
import dev.meshplan.communication.Fabric;
import dev.meshplan.communication.GradientTraffic;
import dev.meshplan.communication.Group;
import dev.meshplan.config.Errors;
import dev.meshplan.config.InputError;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.plan.Catalog;
import java.util.ArrayList;
import java.util.List;

/** A machine by name, and the answers to what a collective costs on it. */
public final class CollectiveQuestion {
  private static final int STEPS_OF_TWO = 25;

  private final SystemSpec system;
  private final Gpu gpu;
  private final Communication communication;

  private CollectiveQuestion(SystemSpec system, Gpu gpu, Network network) {
    this.system = system;
    this.gpu = gpu;
    this.communication = new Communication(Fabric.of(system, gpu, network));
  }

  /**
   * Finds the machine.
   *
   * @param networkId empty = the system's usual one
   * @throws dev.meshplan.config.InputException with the nearest names
   */
  public static CollectiveQuestion on(Catalog catalog, String systemId, String networkId) {
    Errors errors = new Errors();
    SystemSpec system =
        catalog.systems().get(systemId, errors, m -> errors.add(wrong("--system", systemId, m)));
    errors.throwIfAny();
    Gpu gpu =
        catalog
            .gpus()
            .get(system.gpu(), errors, m -> errors.add(wrong("--system", system.gpu(), m)));
    String name = networkId.isEmpty() ? system.network() : networkId;
    Network network =
        name.isEmpty()
            ? null
            : catalog.networks().get(name, errors, m -> errors.add(wrong("--network", name, m)));
    errors.throwIfAny();
    return new CollectiveQuestion(system, gpu, network);
  }

  private static InputError wrong(String flag, String value, String message) {
    return new InputError("command line", 0, flag, value, message);
  }

  public SystemSpec system() {
    return system;
  }

  public Gpu gpu() {
    return gpu;
  }

  public Communication communication() {
    return communication;
  }

  /**
   * The group that so many GPUs make, whole domains filled one after the other.
   *
   * @param perDomain at most that many in one domain; 0 = as many as fit
   */
  public Group group(int gpus, int perDomain) {
    int most = perDomain > 0 ? Math.min(perDomain, system.domain().size()) : system.domain().size();
    return Group.of(gpus, Math.min(gpus, most));
  }

  /** One answer per size, for a group or, where they are given, for GPUs by number. */
  public List<CollectiveCost> costs(
      Collective c, List<Double> sizes, Group g, int[] ranks, boolean registered) {
    List<CollectiveCost> costs = new ArrayList<>();
    for (double bytes : sizes) {
      costs.add(
          ranks.length > 0
              ? communication.cost(c, bytes, ranks, registered)
              : communication.cost(c, bytes, g, registered));
    }
    return costs;
  }

  /** 1 KiB to 16 GiB by factors of two. */
  public static List<Double> allSizes() {
    List<Double> sizes = new ArrayList<>();
    for (int i = 0; i < STEPS_OF_TWO; i++) {
      sizes.add(1024 * Math.pow(2, i));
    }
    return sizes;
  }

  /**
   * One way of exchanging gradients.
   *
   * @param gradientBytes all gradients of one rank
   * @param wireBytes what one rank sends
   * @param nominalSeconds {@code wireBytes} over the nominal bandwidth of the slowest link, no
   *     delay
   * @param seconds the estimator's time, nothing overlapped
   */
  public record GradientLine(
      GradientTraffic.Format format,
      GradientTraffic.Method method,
      double gradientBytes,
      double wireBytes,
      double nominalSeconds,
      double seconds) {}

  /** All variants of the gradient exchange of a model with so many parameters per rank. */
  public List<GradientLine> gradients(double parameters, Group g) {
    Network network = communication.fabric().network();
    double nominal =
        g.domains() > 1 && network != null ? network.portBandwidth() : system.domain().bandwidth();
    List<GradientLine> lines = new ArrayList<>();
    for (GradientTraffic.Format f : GradientTraffic.Format.values()) {
      for (GradientTraffic.Method m : GradientTraffic.Method.values()) {
        GradientTraffic t = new GradientTraffic(parameters, f, m);
        lines.add(
            new GradientLine(
                f,
                m,
                t.gradientBytes(),
                t.wireBytes(g),
                t.wireBytes(g) / nominal,
                t.seconds(communication, g)));
      }
    }
    return lines;
  }
}
