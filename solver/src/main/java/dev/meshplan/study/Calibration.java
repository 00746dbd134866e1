package dev.meshplan.study;

import dev.meshplan.communication.Collective;
import dev.meshplan.communication.Communication;
import dev.meshplan.communication.Fabric;
import dev.meshplan.communication.Group;
import dev.meshplan.communication.LinkParameter;
import dev.meshplan.communication.NetworkParameter;
import dev.meshplan.config.InputException;
import dev.meshplan.config.Keyed;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Known;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.units.Basis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Fits a machine's constants to its own measurements: each is moved up and down in ever smaller
 * steps while the mean logarithmic error falls.
 */
public final class Calibration {
  private static final double[] STEPS = {1.6, 1.25, 1.1, 1.04, 1.015};
  private static final int ROUNDS = 12;
  private static final double GAIN = 1e-6;
  private static final double INERTIA = 0.002;

  private final SystemSpec system;
  private final Gpu gpu;
  private final Network network;
  private final List<Point> points;

  private Calibration(SystemSpec system, Gpu gpu, Network network, List<Point> points) {
    this.system = system;
    this.gpu = gpu;
    this.network = network;
    this.points = points;
  }

  private record Point(Collective collective, double bytes, Group group, double seconds) {}

  /** Absolute relative errors of one test, with the old constants and with the fitted ones. */
  public record Line(
      Collective collective,
      int ranks,
      int rows,
      double medianBefore,
      double p90Before,
      double medianAfter,
      double p90After) {}

  /** A constant that moved. */
  public record Moved(String key, double before, Basis basis, double after) {}

  /**
   * What came out.
   *
   * @param link constants for {@code domain.collectives} of the system
   * @param network constants for {@code collectives} of the network; empty when no test crossed
   */
  public record Result(
      List<Line> tests, List<Moved> link, List<Moved> network, String system, String networkId) {}

  /**
   * Fits.
   *
   * @param network what joins the domains; null = nothing
   * @throws InputException when the tests don't fit the machine
   * @throws dev.meshplan.hardware.NoCostModel when the machine has no cost model to start from
   */
  public static Result fit(List<NcclLog.Test> tests, SystemSpec system, Gpu gpu, Network network) {
    List<Point> points = new ArrayList<>();
    List<List<Point>> byTest = new ArrayList<>();
    for (NcclLog.Test t : tests) {
      int perDomain = Math.min(t.ranks(), system.domain().size());
      if (t.nodes() > 1 && t.ranks() % t.nodes() == 0 && system.nodesPerDomain() == 1) {
        perDomain = Math.min(perDomain, t.ranks() / t.nodes());
      }
      List<Point> own = new ArrayList<>();
      for (NcclLog.Row r : t.rows()) {
        own.add(new Point(t.collective(), r.bytes(), Group.of(t.ranks(), perDomain), r.seconds()));
      }
      byTest.add(own);
      points.addAll(own);
    }
    return new Calibration(system, gpu, network, points).result(byTest);
  }

  private Result result(List<List<Point>> byTest) {
    Map<String, Known> link = new LinkedHashMap<>();
    Map<String, Known> net = new LinkedHashMap<>();
    Communication before = machine(link, net);
    for (Keyed p : parameters(before)) {
      Known k = value(before, p);
      if (k.known() && k.value() > 0) {
        (p instanceof LinkParameter ? link : net).put(p.key(), k);
      }
    }
    Map<String, Known> startLink = new LinkedHashMap<>(link);
    Map<String, Known> startNet = new LinkedHashMap<>(net);
    search(link, net);
    Communication after = machine(link, net);
    List<Line> lines = new ArrayList<>();
    for (List<Point> test : byTest) {
      double[] b = errors(before, test);
      double[] a = errors(after, test);
      lines.add(
          new Line(
              test.get(0).collective(),
              test.get(0).group().size(),
              test.size(),
              AccuracySummary.quantile(b, 0.5),
              AccuracySummary.quantile(b, 0.9),
              AccuracySummary.quantile(a, 0.5),
              AccuracySummary.quantile(a, 0.9)));
    }
    return new Result(
        lines,
        moved(startLink, link),
        moved(startNet, net),
        system.id(),
        network == null ? "" : network.id());
  }

  private static List<Moved> moved(Map<String, Known> start, Map<String, Known> end) {
    List<Moved> moved = new ArrayList<>();
    end.forEach(
        (key, k) -> {
          Known s = start.get(key);
          if (s.value() != k.value()) {
            moved.add(new Moved(key, s.value(), s.basis(), k.value()));
          }
        });
    return moved;
  }

  private void search(Map<String, Known> link, Map<String, Known> net) {
    Map<String, Known> start = new LinkedHashMap<>(link);
    start.putAll(net);
    double best = loss(machine(link, net));
    for (double step : STEPS) {
      boolean better = true;
      for (int round = 0; better && round < ROUNDS; round++) {
        better = false;
        for (Map<String, Known> table : List.of(link, net)) {
          for (String key : List.copyOf(table.keySet())) {
            for (double factor : new double[] {step, 1 / step}) {
              Known old = table.get(key);
              double moved = old.value() * factor;
              if (physical(key, moved)) {
                table.put(key, new Known(moved, Basis.MEASURED));
                double now =
                    loss(machine(link, net)) + distance(start, link) + distance(start, net);
                if (now < best - GAIN) {
                  best = now;
                  better = true;
                } else {
                  table.put(key, old);
                }
              }
            }
          }
        }
      }
    }
  }

  /** Measurements of a few sizes leave some constants open: those stay where they were. */
  private static double distance(Map<String, Known> start, Map<String, Known> now) {
    double sum = 0;
    for (Map.Entry<String, Known> e : now.entrySet()) {
      sum += Math.abs(StrictMath.log(e.getValue().value() / start.get(e.getKey()).value()));
    }
    return INERTIA * sum;
  }

  /** No link carries more than its nominal bandwidth; copies run in memory. */
  private static boolean physical(String key, double value) {
    return !key.endsWith("_share") || key.contains("copy") || value <= 1;
  }

  private double loss(Communication c) {
    double sum = 0;
    for (Point p : points) {
      sum +=
          Math.abs(StrictMath.log(c.seconds(p.collective(), p.bytes(), p.group()) / p.seconds()));
    }
    return sum / points.size();
  }

  private static double[] errors(Communication c, List<Point> points) {
    return points.stream()
        .mapToDouble(
            p -> Math.abs(c.seconds(p.collective(), p.bytes(), p.group()) / p.seconds() - 1))
        .sorted()
        .toArray();
  }

  /** The constants that the measured collectives depend on. */
  private List<Keyed> parameters(Communication c) {
    List<Keyed> keys = new ArrayList<>();
    boolean across = points.stream().anyMatch(p -> crosses(p, c));
    for (Collective kind : Collective.values()) {
      if (points.stream().anyMatch(p -> p.collective() == kind && !crosses(p, c))) {
        Arrays.stream(LinkParameter.values()).filter(p -> belongs(p, kind)).forEach(keys::add);
      }
    }
    if (across) {
      keys.addAll(network(points.stream().filter(p -> crosses(p, c)).toList()));
    }
    return keys;
  }

  private static boolean crosses(Point p, Communication c) {
    return p.group().domains() > 1 && c.crosses(p.group());
  }

  private static boolean belongs(LinkParameter p, Collective kind) {
    String key = p.key();
    if (key.equals("nvls_ranks") || key.equals("send_channels") || key.equals("nvls_rack_share")) {
      return false;
    }
    return switch (kind) {
      case ALL_REDUCE -> key.startsWith("all_reduce_") || key.startsWith("nvls_");
      case ALL_GATHER, BROADCAST -> key.startsWith("all_gather_");
      case REDUCE_SCATTER -> key.startsWith("reduce_scatter_");
      case ALL_TO_ALL -> key.startsWith("all_to_all_");
      case SEND_RECV -> key.startsWith("send_");
    };
  }

  private static List<NetworkParameter> network(List<Point> across) {
    List<NetworkParameter> keys = new ArrayList<>();
    for (Point p : across) {
      List<NetworkParameter> own =
          switch (p.collective()) {
            case ALL_REDUCE ->
                List.of(
                    NetworkParameter.TREE_HOP_US,
                    NetworkParameter.TREE_LL_GBPS,
                    NetworkParameter.RING_HOP_US,
                    NetworkParameter.RING_SHARE,
                    NetworkParameter.TREE_SHARE,
                    NetworkParameter.NVLS_TREE_BASE_US,
                    NetworkParameter.NVLS_TREE_RANK_US,
                    NetworkParameter.RAMP_US);
            case ALL_GATHER, REDUCE_SCATTER, BROADCAST ->
                List.of(
                    NetworkParameter.TREE_HOP_US,
                    NetworkParameter.RING_LL_GBPS,
                    NetworkParameter.RING_HOP_US,
                    NetworkParameter.GATHER_SHARE,
                    NetworkParameter.RAMP_US,
                    NetworkParameter.RAMP_MIB);
            case ALL_TO_ALL ->
                List.of(
                    NetworkParameter.ALL_TO_ALL_BASE_US,
                    NetworkParameter.ALL_TO_ALL_RAMP_US,
                    NetworkParameter.ALL_TO_ALL_SHARE);
            case SEND_RECV ->
                List.of(
                    NetworkParameter.SEND_BASE_US,
                    NetworkParameter.SEND_RAMP_US,
                    NetworkParameter.SEND_SHARE);
          };
      own.stream().filter(k -> !keys.contains(k)).forEach(keys::add);
    }
    return keys;
  }

  private Known value(Communication c, Keyed p) {
    if (p instanceof NetworkParameter n) {
      return c.fabric().constant(n);
    }
    int inside =
        points.stream().filter(q -> !crosses(q, c)).mapToInt(q -> q.group().size()).max().orElse(2);
    return c.fabric().constant((LinkParameter) p, inside);
  }

  private Communication machine(Map<String, Known> link, Map<String, Known> net) {
    return new Communication(
        Fabric.of(
            system.withCollectives(merged(system.domain().collectives(), link)),
            gpu,
            network == null ? null : network.withCollectives(merged(network.collectives(), net))));
  }

  private static Map<String, Known> merged(Map<String, Known> given, Map<String, Known> fitted) {
    Map<String, Known> all = new LinkedHashMap<>(given);
    all.putAll(fitted);
    return all;
  }
}
