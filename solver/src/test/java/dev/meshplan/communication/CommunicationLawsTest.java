package dev.meshplan.communication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.config.YamlReader;
import dev.meshplan.hardware.Known;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.hardware.SystemReader;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.plan.Catalog;
import dev.meshplan.units.Basis;
import dev.meshplan.units.Quantity;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class CommunicationLawsTest {
  private static final double NDR = 50 * Quantity.GIGA;
  private static final List<String> SYSTEMS =
      List.of(
          "hgx-a100-80",
          "hgx-h100",
          "hgx-h800",
          "hgx-b200",
          "gb200-nvl72",
          "mi300x-8",
          "dgx-1-v100",
          "l40s-pcie-8");
  private static final List<String> NETWORKS =
      List.of("ndr-400g", "roce-400g", "efa-p5-100g-x32", "tcpxo-200g", "ib-hdr-200g-x4");
  private static final List<Group> GROUPS =
      List.of(
          Group.of(2, 2),
          Group.of(8, 8),
          Group.of(2, 1),
          Group.of(16, 8),
          Group.of(32, 1),
          Group.of(256, 8));

  @ParameterizedTest
  @EnumSource(Collective.class)
  void aGroupOfOneIsFree(Collective c) {
    Communication h100 = Machines.of("hgx-h100", "ndr-400g");
    assertEquals(0, h100.seconds(c, Quantity.GIB, Group.of(1, 1)));
    assertEquals(0, h100.cost(c, Quantity.GIB, Group.of(1, 1)).seconds());
  }

  @ParameterizedTest
  @EnumSource(Collective.class)
  void moreBytesNeverTakeLess(Collective c) {
    for (String system : SYSTEMS) {
      for (String network : NETWORKS) {
        Communication machine = Machines.of(system, network);
        for (Group asked : GROUPS) {
          Group g = onMachine(asked, machine);
          double before = 0;
          for (double bytes = 64; bytes < 64 * Quantity.GIB; bytes *= 1.37) {
            double now = machine.seconds(c, bytes, g);
            assertTrue(now >= before, system + " " + network + " " + c + " " + g + " " + bytes);
            assertTrue(now > 0 && Double.isFinite(now));
            before = now;
          }
        }
      }
    }
  }

  /** Inside: wire bytes over the links. Across: what must leave a domain over its NICs. */
  @ParameterizedTest
  @EnumSource(Collective.class)
  void nothingIsFasterThanItsWiresUnlessTheSwitchReduces(Collective c) {
    for (String system : SYSTEMS) {
      for (String network : NETWORKS) {
        Communication machine = Machines.of(system, network);
        for (Group asked : GROUPS) {
          Group g = onMachine(asked, machine);
          for (double bytes : new double[] {1024, Quantity.MIB, Quantity.GIB}) {
            CollectiveCost cost = machine.cost(c, bytes, g);
            double least = leastSeconds(c, bytes, g, machine, cost.algorithm().startsWith("NVLS"));
            assertTrue(
                cost.seconds() >= least * 0.999999, system + " " + network + " " + cost + least);
          }
        }
      }
    }
  }

  private static Group onMachine(Group asked, Communication machine) {
    return Group.of(
        asked.size(), Math.min(asked.perDomain(), machine.fabric().system().domain().size()));
  }

  private static double leastSeconds(
      Collective c, double bytes, Group g, Communication machine, boolean reducedInSwitch) {
    Fabric fabric = machine.fabric();
    int together = fabric.together(g);
    double least = 0;
    if (together > 1 && !reducedInSwitch) {
      least = c.wireBytes(bytes, together) / (g.size() > together ? g.domains() : 1);
      least = least / fabric.wire(g, together).bandwidth();
      if (g.size() > together && c == Collective.SEND_RECV) {
        least = 0;
      }
    }
    if (together < g.size()) {
      int k = (g.size() + together - 1) / together;
      double nics = together * fabric.nicBandwidth(g);
      double leaving =
          switch (c) {
            case ALL_REDUCE -> 2.0 * (k - 1) / k * bytes / nics;
            case ALL_GATHER, REDUCE_SCATTER -> (k - 1.0) / k * bytes / nics;
            case ALL_TO_ALL -> bytes * (g.size() - together) / g.size() / (nics / together);
            case SEND_RECV -> bytes / (nics / together);
            case BROADCAST -> bytes / nics;
          };
      least = Math.max(least, leaving);
    }
    return least;
  }

  @Test
  void theSwitchReducesFromFiveGpusOnAndThenMoreGpusAreFaster() {
    Communication h200 = Machines.of("hgx-h200", "ndr-400g");
    double four = h200.seconds(Collective.ALL_REDUCE, 8 * Quantity.GIB, Group.of(4, 4));
    double eight = h200.seconds(Collective.ALL_REDUCE, 8 * Quantity.GIB, Group.of(8, 8));
    assertTrue(eight < four);
    assertEquals(
        "Simple ring",
        h200.cost(Collective.ALL_REDUCE, 8 * Quantity.GIB, Group.of(4, 4)).algorithm());
    assertEquals(
        "NVLS", h200.cost(Collective.ALL_REDUCE, 8 * Quantity.GIB, Group.of(5, 5)).algorithm());
    Communication b200 = Machines.of("hgx-b200", "ndr-400g");
    assertEquals(
        "Simple ring",
        b200.cost(Collective.ALL_REDUCE, 8 * Quantity.GIB, Group.of(5, 5)).algorithm());
    assertEquals(
        "NVLS", b200.cost(Collective.ALL_REDUCE, 8 * Quantity.GIB, Group.of(6, 6)).algorithm());
  }

  @Test
  void aMeshGetsFasterWithMoreGpusBecauseEachPairHasOneLink() {
    Communication mi300x = Machines.of("mi300x-8", "roce-400g");
    double two =
        mi300x.cost(Collective.ALL_REDUCE, 4 * Quantity.GIB, Group.of(2, 2)).busBandwidth();
    double eight =
        mi300x.cost(Collective.ALL_REDUCE, 4 * Quantity.GIB, Group.of(8, 8)).busBandwidth();
    assertEquals(47.7e9, two, 0.1 * two);
    assertEquals(312.9e9, eight, 0.1 * eight);
  }

  @Test
  void onARingOfSwitchedGpusMoreRanksCostMore() {
    Communication a100 = Machines.of("hgx-a100-80", "roce-200g");
    double before = 0;
    for (int n = 2; n <= 8; n++) {
      double now = a100.seconds(Collective.ALL_REDUCE, Quantity.GIB, Group.of(n, n));
      assertTrue(now > before);
      before = now;
    }
  }

  @Test
  void groupsThatShareNicsAreSlowerThanOneThatHasThem() {
    Communication v100 = Machines.of("dgx-1-v100", "ib-edr-100g");
    double shared = v100.seconds(Collective.ALL_REDUCE, Quantity.GIB, new Group(4, 1, 0, 8));
    double alone = v100.seconds(Collective.ALL_REDUCE, Quantity.GIB, new Group(4, 1, 0, 1));
    assertEquals(2, shared / alone, 0.05);
  }

  @Test
  void allNicsOfANodeWorkForAGroupThatFillsIt() {
    Communication h100 = Machines.of("hgx-h100", "ndr-400g");
    double whole =
        h100.cost(Collective.ALL_REDUCE, 16 * Quantity.GIB, Group.of(32, 8)).busBandwidth();
    double onePerNode =
        h100.cost(Collective.ALL_REDUCE, 16 * Quantity.GIB, Group.of(4, 1)).busBandwidth();
    assertTrue(whole > 7 * onePerNode);
  }

  @Test
  void anAllToAllPaysForOversubscribedLeavesAndARingDoesNot() {
    SystemSpec h100 = Machines.system("hgx-h100");
    Network even = Machines.network("ndr-400g");
    Network thin = network(NDR, 4, 3);
    Communication wide = new Communication(Fabric.of(h100, Machines.gpu("hgx-h100"), even));
    Communication narrow = new Communication(Fabric.of(h100, Machines.gpu("hgx-h100"), thin));
    Group g = Group.of(128, 8);
    double ratio =
        narrow.seconds(Collective.ALL_TO_ALL, Quantity.GIB, g)
            / wide.seconds(Collective.ALL_TO_ALL, Quantity.GIB, g);
    assertEquals(3 * 12.0 / 15, ratio, 0.05);
    assertEquals(
        wide.seconds(Collective.ALL_GATHER, Quantity.GIB, g),
        narrow.seconds(Collective.ALL_GATHER, Quantity.GIB, g));
    Group inOneLeaf = Group.of(32, 8);
    assertEquals(
        wide.seconds(Collective.ALL_TO_ALL, Quantity.GIB, inOneLeaf),
        narrow.seconds(Collective.ALL_TO_ALL, Quantity.GIB, inOneLeaf));
  }

  @Test
  void whatWasAskedBeforeIsAnsweredTheSame() {
    Communication c = Machines.of("gb200-nvl72", "ndr-400g");
    for (int round = 0; round < 2; round++) {
      for (int n = 2; n <= 72; n++) {
        for (double bytes = 1; bytes < Quantity.GIB; bytes *= 3) {
          assertEquals(
              c.cost(Collective.ALL_REDUCE, bytes, Group.of(n, n)).seconds(),
              c.seconds(Collective.ALL_REDUCE, bytes, Group.of(n, n)));
        }
      }
    }
  }

  @Test
  void groupsThatDifferInOneNumberAreNotMistakenForEachOther() {
    Communication c = Machines.of("hgx-h100", "ndr-400g");
    List<Group> groups =
        List.of(
            Group.of(16, 8),
            Group.of(16, 4),
            Group.of(16, 1),
            new Group(16, 1, 0, 1),
            new Group(16, 1, 8, 0),
            Group.of(128, 8),
            Group.of(5_000_000, 8));
    for (int round = 0; round < 2; round++) {
      for (Group g : groups) {
        for (Collective kind : Collective.values()) {
          assertEquals(c.cost(kind, 1e8, g).seconds(), c.seconds(kind, 1e8, g), kind + " " + g);
        }
      }
    }
  }

  @Test
  void losersAreNamedCheapestFirstAndThoseThatNeedSomethingSayWhat() {
    CollectiveCost cost =
        Machines.of("hgx-h100", "ndr-400g")
            .cost(Collective.ALL_REDUCE, Quantity.GIB, Group.of(32, 8));
    assertEquals("Simple ring", cost.algorithm());
    double before = 0;
    for (CollectiveCost.Other o : cost.others()) {
      assertTrue(o.seconds() >= before);
      assertTrue(o.seconds() >= cost.seconds() || !o.condition().isEmpty(), o.algorithm());
      before = o.seconds();
    }
    assertTrue(cost.others().stream().anyMatch(o -> o.algorithm().equals("SHARP (CollNet)")));
    assertTrue(cost.others().stream().anyMatch(o -> o.algorithm().equals("hierarchical")));
    assertFalse(cost.basis() == Basis.MEASURED);
  }

  @ParameterizedTest
  @CsvSource({
    "nvlink4, FITTED_ON_ONE_SOURCE",
    "nvlink5, FITTED",
    "nvlink6, ASSUMED",
    "ici, ASSUMED"
  })
  void aGenerationWithoutMeasurementsSaysThatItIsAssumed(String link, Basis basis) {
    assertEquals(basis, LinkConstants.basis(LinkConstants.of(link)));
  }

  @Test
  void aLinkOrNetworkWithoutCostModelIsRefusedByName() {
    NoCostModel link = assertThrows(NoCostModel.class, () -> LinkConstants.of("hccs"));
    assertTrue(link.getMessage().startsWith("no cost model yet for the link hccs"));
    Communication alone = Machines.of("hgx-h100", "single-node");
    assertTrue(alone.seconds(Collective.ALL_REDUCE, 1, Group.of(8, 8)) > 0);
    NoCostModel none =
        assertThrows(
            NoCostModel.class, () -> alone.seconds(Collective.ALL_REDUCE, 1, Group.of(16, 8)));
    assertTrue(none.getMessage().contains("no network between domains"));
  }

  @Test
  void aMeasuredConstantInAFileReplacesTheFittedOneAndAMisspeltOneIsRefused() {
    SystemSpec h100 = Machines.system("hgx-h100");
    SystemSpec slow = h100.withCollectives(Map.of("nvls_share", new Known(0.341, Basis.MEASURED)));
    double normal =
        new Communication(Fabric.of(h100, Machines.gpu("hgx-h100"), null))
            .seconds(Collective.ALL_REDUCE, 16 * Quantity.GIB, Group.of(8, 8), Algorithm.NVLS);
    double half =
        new Communication(Fabric.of(slow, Machines.gpu("hgx-h100"), null))
            .seconds(Collective.ALL_REDUCE, 16 * Quantity.GIB, Group.of(8, 8), Algorithm.NVLS);
    assertEquals(2, half / normal, 0.01);
    SystemSpec wrong = h100.withCollectives(Map.of("nvls_shar", new Known(0.3, Basis.MEASURED)));
    InputException e =
        assertThrows(InputException.class, () -> Fabric.of(wrong, Machines.gpu("hgx-h100"), null));
    assertTrue(e.getMessage().contains("Nearest: nvls_share"));
  }

  @ParameterizedTest
  @EnumSource(Collective.class)
  void fasterLinksPortsAndHopsNeverCostMore(Collective c) {
    Communication normal = Machines.of("hgx-h100", "ndr-400g");
    SystemSpec narrow = system("bandwidth: 450 GB/s", "bandwidth: 300 GB/s");
    Communication links = new Communication(Fabric.of(narrow, gpu(), Machines.network("ndr-400g")));
    Communication ports =
        new Communication(Fabric.of(Machines.system("hgx-h100"), gpu(), network(2 * NDR, 0, 1)));
    Communication hops =
        new Communication(
            Fabric.of(
                Machines.system("hgx-h100"), gpu(), network("latency: 5 us", "latency: 2 us")));
    for (Group g : GROUPS) {
      for (double bytes = 256; bytes < 32 * Quantity.GIB; bytes *= 3.1) {
        double now = normal.seconds(c, bytes, g);
        assertTrue(links.seconds(c, bytes, g) >= now, "links " + g + bytes);
        assertTrue(ports.seconds(c, bytes, g) <= now, "ports " + g + bytes);
        assertTrue(hops.seconds(c, bytes, g) <= now, "hops " + g + bytes);
      }
    }
  }

  @Test
  void aLongerMessageLatencyShowsInSmallMessages() {
    Communication far =
        new Communication(
            Fabric.of(
                Machines.system("hgx-h100"), gpu(), network("latency: 5 us", "latency: 25 us")));
    double near =
        Machines.of("hgx-h100", "ndr-400g").seconds(Collective.ALL_REDUCE, 1024, Group.of(16, 8));
    assertEquals(near + 2 * 20e-6, far.seconds(Collective.ALL_REDUCE, 1024, Group.of(16, 8)), 1e-9);
  }

  @Test
  void pathsThatNobodyMeasuredMakeTheCostAssumed() {
    Communication assumed = Machines.of("rtx-pro-6000-pcie-8", "ndr-400g");
    assertEquals(Basis.ASSUMED, assumed.cost(Collective.ALL_REDUCE, 1e9, Group.of(8, 1)).basis());
    Communication measured = Machines.of("l40s-pcie-8", "ndr-400g");
    assertEquals(Basis.FITTED, measured.cost(Collective.ALL_REDUCE, 1e9, Group.of(8, 2)).basis());
  }

  @ParameterizedTest
  @CsvSource({
    "hgx-h100, ALL_REDUCE, 16 GiB, 8, FITTED",
    "hgx-h100, ALL_GATHER, 16 GiB, 8, FITTED_ON_ONE_SOURCE",
    "hgx-a100-80, ALL_REDUCE, 1 KiB, 8, FITTED_ON_ONE_SOURCE",
    "hgx-a100-80, ALL_REDUCE, 16 GiB, 8, FITTED",
    "hgx-h100, BROADCAST, 16 GiB, 8, ASSUMED",
    "hgx-h100, ALL_REDUCE, 16 GiB, 32, FITTED",
    "hgx-a100-80, ALL_GATHER, 16 GiB, 32, FITTED_ON_ONE_SOURCE",
  })
  void aCostIsKnownAsWellAsTheConstantOfItsAlgorithm(
      String system, Collective c, String bytes, int ranks, Basis basis) {
    double size = Quantity.parse(bytes, dev.meshplan.units.Dimension.BYTES);
    assertEquals(basis, Machines.of(system, "ndr-400g").cost(c, size, Group.of(ranks, 8)).basis());
  }

  private static Network network(double port, int leafRadix, double oversubscription) {
    Network ndr = Machines.network("ndr-400g");
    return new Network(
        "made-up",
        List.of(),
        "made up",
        ndr.kind(),
        port,
        0,
        ndr.latency(),
        leafRadix,
        oversubscription,
        true,
        true,
        false,
        Map.of(),
        List.of("made up"),
        "");
  }

  private static dev.meshplan.hardware.Gpu gpu() {
    return Machines.gpu("hgx-h100");
  }

  private static SystemSpec system(String from, String to) {
    String text = Catalog.open(null).systems().text("hgx-h100");
    assertTrue(text.contains(from));
    return SystemReader.read(YamlReader.parse("x.yaml", text.replace(from, to), new Errors()));
  }

  private static Network network(String from, String to) {
    String text = Catalog.open(null).networks().text("ndr-400g");
    assertTrue(text.contains(from));
    return Network.read(YamlReader.parse("x.yaml", text.replace(from, to), new Errors()));
  }
}
