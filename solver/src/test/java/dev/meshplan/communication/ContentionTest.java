package dev.meshplan.communication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Errors;
import dev.meshplan.config.YamlReader;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.plan.Catalog;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whoever shares a wire: groups by shape and groups by GPU number are counted alike. */
class ContentionTest {
  private static final double BIG = 4 * Quantity.GIB;

  /** Closed forms of a group's shape against the transfers counted one by one on the graph. */
  @ParameterizedTest
  @CsvSource({
    "hgx-h100, 8, 2, 0, 1, true, true",
    "hgx-h100, 8, 8, 4, 1, true, true",
    "hgx-h100, 8, 8, 4, 3, true, true",
    "hgx-h100, 8, 8, 4, 3, true, false",
    "hgx-h100, 8, 4, 4, 3, true, false",
    "hgx-h100, 8, 8, 16, 3, false, true",
    "hgx-h100, 8, 8, 8, 4, false, false",
    "hgx-h100, 8, 6, 1, 4, true, true",
    "dgx-1-v100, 8, 4, 2, 1, true, true",
    "mi300x-8, 8, 5, 2, 3, true, false",
    "gb200-nvl72, 72, 3, 36, 2, true, true",
  })
  void theShapeOfAGroupSaysWhatTheGraphCounts(
      String system,
      int together,
      int domains,
      int leafRadix,
      double oversubscription,
      boolean rails,
      boolean pxn) {
    Fabric fabric =
        Fabric.of(
            Machines.system(system),
            Machines.gpu(system),
            network(leafRadix, oversubscription, rails, pxn));
    int n = together * domains;
    AcrossDomains.Nics counted = fabric.across(IntStream.range(0, n).toArray()).nics();
    AcrossDomains.Nics closed =
        new Communication(fabric)
            .across(Group.of(n, together), fabric.wire(Group.of(n, together), together), together)
            .nics();
    assertEquals(1, closed.exchange() / counted.exchange(), 1e-9, closed + " " + counted);
    assertEquals(1, closed.ring() / counted.ring(), 1e-9, closed + " " + counted);
  }

  @Test
  void twoGpusOnOneNicGetHalfOfItAndOnTwoNicsAllOfThem() {
    Communication v100 = Machines.of("dgx-1-v100", "ib-edr-100g");
    double shared = v100.cost(Collective.ALL_TO_ALL, BIG, new int[] {0, 1, 8, 9}, false).seconds();
    double apart = v100.cost(Collective.ALL_TO_ALL, BIG, new int[] {0, 2, 8, 10}, false).seconds();
    assertEquals(2, shared / apart, 0.02);
  }

  @Test
  void groupsOfTheSameGpusInEveryNodeShareTheNodesNics() {
    Communication v100 = Machines.of("dgx-1-v100", "ib-edr-100g");
    double alone = v100.seconds(Collective.ALL_GATHER, BIG, new Group(4, 1, 0, 1));
    double eight = v100.seconds(Collective.ALL_GATHER, BIG, new Group(4, 1, 0, 8));
    assertEquals(2, eight / alone, 0.05);
  }

  @Test
  void aMessageToAnotherRailCrossesTheSpineUnlessThePeerGpuTakesIt() {
    int[] crooked = {0, 9};
    int[] straight = {0, 8};
    Communication spine = machine("hgx-h100", network(4, 8, true, false));
    Communication peer = machine("hgx-h100", network(4, 8, true, true));
    double along = spine.cost(Collective.SEND_RECV, BIG, straight, false).seconds();
    assertEquals(2, spine.cost(Collective.SEND_RECV, BIG, crooked, false).seconds() / along, 0.02);
    assertEquals(1, peer.cost(Collective.SEND_RECV, BIG, crooked, false).seconds() / along, 0.02);
  }

  @Test
  void anExchangeThatMustReachOtherRailsPaysForAThinSpineAndWithPxnDoesNot() {
    Group g = Group.of(32, 8);
    double pxn =
        machine("hgx-h100", network(4, 4, true, true)).seconds(Collective.ALL_TO_ALL, BIG, g);
    double none =
        machine("hgx-h100", network(4, 4, true, false)).seconds(Collective.ALL_TO_ALL, BIG, g);
    assertEquals(4 * 7.0 / 8, none / pxn, 0.02);
  }

  @Test
  void aRingCrossesEachLeafOnceAndSuffersOnlyWhereThatIsTooMuch() {
    Group g = Group.of(64, 8);
    double wide =
        machine("hgx-h100", network(4, 4, true, true)).seconds(Collective.ALL_GATHER, BIG, g);
    double even =
        machine("hgx-h100", network(0, 1, true, true)).seconds(Collective.ALL_GATHER, BIG, g);
    double thin =
        machine("hgx-h100", network(1, 4, true, true)).seconds(Collective.ALL_GATHER, BIG, g);
    assertEquals(1, wide / even, 1e-9);
    assertTrue(thin > 3.5 * even);
  }

  @Test
  void cardsOfTwoSocketsMeetOnTheSlowPathHoweverTheyAreNamed() {
    Communication a40 = Machines.of("a40-pcie-8", "single-node");
    double ranks =
        a40.cost(Collective.ALL_REDUCE, BIG, new int[] {0, 1, 6, 7}, false).busBandwidth();
    assertEquals(1.4e9, ranks, 0.1e9);
    double shape = a40.cost(Collective.ALL_REDUCE, BIG, new Group(4, 1, 4, 0)).busBandwidth();
    assertEquals(ranks, shape, 0.01e9);
    double pair = a40.cost(Collective.ALL_REDUCE, BIG, new Group(2, 1, 2, 0)).busBandwidth();
    assertEquals(3.9e9, pair, 0.1e9);
  }

  @Test
  void twoMeshesOfOneNodeMeetOverPcie() {
    Communication nvl = Machines.of("h200-nvl-4", "ndr-400g");
    double four = nvl.cost(Collective.ALL_REDUCE, BIG, Group.of(4, 4)).busBandwidth();
    double eight = nvl.cost(Collective.ALL_REDUCE, BIG, new Group(8, 4, 8, 0)).busBandwidth();
    double ranks =
        nvl.cost(Collective.ALL_REDUCE, BIG, IntStream.range(0, 8).toArray(), false).busBandwidth();
    assertEquals(ranks, eight, 1e-6 * eight);
    assertTrue(four > 20 * eight, four + " " + eight);
  }

  /** Every machine of the catalog, every collective, whole and partial groups in every spread. */
  @Test
  void everyGroupOfEveryMachineIsPricedByItsBytesOrRefusedByName() {
    Catalog catalog = Catalog.open(null);
    int priced = 0;
    for (SystemSpec s : catalog.systems().all().values()) {
      Gpu gpu = catalog.gpus().all().get(catalog.gpus().id(s.gpu()));
      Communication c = new Communication(Fabric.of(s, gpu, Machines.network("roce-400g")));
      int size = Math.min(s.domain().size(), 72);
      for (int n : new int[] {2, 3, 4, 6, 8, 16, 24, 72, 144}) {
        for (int perDomain : new int[] {1, 2, 3, 8, size}) {
          if (perDomain <= Math.min(n, size)) {
            priced += growsWithBytes(c, Group.of(n, perDomain), s.id());
            priced +=
                growsWithBytes(c, new Group(n, perDomain, Math.min(n, s.gpusPerNode()), 0), s.id());
          }
        }
      }
    }
    assertTrue(priced > 10_000, priced + " priced");
  }

  private static int growsWithBytes(Communication c, Group g, String system) {
    int priced = 0;
    for (Collective kind : Collective.values()) {
      double before = 0;
      try {
        for (double bytes = 64; bytes < 64 * Quantity.GIB; bytes *= 37) {
          double now = c.seconds(kind, bytes, g);
          assertTrue(
              now > before && now < 1e4, system + " " + kind + " " + g + " " + bytes + " " + now);
          before = now;
          priced++;
        }
      } catch (NoCostModel e) {
        assertTrue(e.getMessage().length() > 20);
      }
    }
    return priced;
  }

  @Test
  void ringsOfACubeMeshFollowItsLinks() {
    Communication v100 = Machines.of("dgx-1-v100", "ib-edr-100g");
    List<Double> rates = new ArrayList<>();
    for (int[] ranks : new int[][] {{0, 1, 2, 3}, {0, 1, 4, 5}, {0, 3}, {0, 1}, {0, 5}}) {
      rates.add(v100.cost(Collective.ALL_REDUCE, BIG, ranks, false).busBandwidth() / Quantity.GIGA);
    }
    assertEquals(2, rates.get(0) / rates.get(1), 0.02);
    assertEquals(2, rates.get(2) / rates.get(3), 0.02);
    assertTrue(rates.get(4) < 2, "over the sockets: " + rates);
  }

  private static Communication machine(String system, Network network) {
    return new Communication(Fabric.of(Machines.system(system), Machines.gpu(system), network));
  }

  private static Network network(
      int leafRadix, double oversubscription, boolean rails, boolean pxn) {
    String text =
        """
        id: made-up
        name: made up
        kind: infiniband
        port_bandwidth: 400 Gb/s
        oversubscription: %s
        rail_optimised: %s
        pxn: %s
        sources: [made up]
        """
            .formatted(oversubscription, rails, pxn);
    String leaf = leafRadix == 0 ? "" : "leaf_radix: " + leafRadix + "\n";
    return Network.read(YamlReader.parse("x.yaml", leaf + text, new Errors()));
  }
}
