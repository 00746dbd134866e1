package dev.meshplan.hardware;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.units.Quantity;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TopologyTest {
  private static SystemSpec cards(int gpus, String domain) {
    return Read.good(
        SystemReader::read,
        """
        id: cards
        name: cards
        gpu: l40s
        gpus_per_node: %d
        nics_per_node: 2
        domain:
        %s
        sources: [made up]
        """
            .formatted(gpus, domain.indent(2).stripTrailing()));
  }

  private static SystemSpec fourCards() {
    return cards(
        4,
        """
        size: 2
        kind: pcie
        link: pcie5
        bandwidth: 64 GB/s
        pcie:
          gpus_per_switch: 2
          switches_per_socket: 1
          sockets: 2
          p2p_reach: sys
          uplink: 64 GB/s
          socket_path: 22 GB/s
        """);
  }

  @Test
  void pairsBelowOneSwitchAreWorkableAndFourCrossTheSockets() {
    Topology t = Topology.of(fourCards(), null, 4);
    assertEquals(PathKind.PIX, t.between(0, 1));
    assertEquals(PathKind.PIX, t.between(2, 3));
    assertEquals(PathKind.SYS, t.between(1, 2));
    assertEquals(PathKind.SELF, t.between(1, 1));
    assertEquals(64, t.ring(new int[] {0, 1}).bytesPerSecond() / Quantity.GIGA, 1e-9);
    Topology.Bottleneck four = t.ring(new int[] {0, 1, 2, 3});
    assertEquals(22, four.bytesPerSecond() / Quantity.GIGA, 1e-9);
    assertEquals(PathKind.SYS, four.edge().kind());
    assertTrue(PathKind.SYS.verdict().startsWith("avoid"));
  }

  @Test
  void twoCardsBelowOneSwitchShareItsUplink() {
    SystemSpec s =
        cards(
            4,
            """
            size: 2
            kind: pcie
            link: pcie5
            bandwidth: 64 GB/s
            pcie: {gpus_per_switch: 2, switches_per_socket: 2, sockets: 1, p2p_reach: node}
            """);
    Topology t = Topology.of(s, null, 4);
    assertEquals(PathKind.NODE, t.between(0, 2));
    Topology.Bottleneck b = t.ring(new int[] {0, 2, 1, 3});
    assertEquals(2, b.transfers());
    assertEquals(32, b.bytesPerSecond() / Quantity.GIGA, 1e-9);
    assertEquals(64, t.ring(new int[] {0, 1, 2, 3}).bytesPerSecond() / Quantity.GIGA, 1e-9);
  }

  /** Two cards to a switch, two switches below an upper one, two of those to a host bridge. */
  private static SystemSpec towers(String reach) {
    return cards(
        16,
        """
        size: 2
        kind: pcie
        link: pcie5
        bandwidth: 64 GB/s
        pcie:
          gpus_per_switch: 2
          switches_per_root: 2
          switches_per_bridge: 4
          switches_per_socket: 8
          sockets: 1
          p2p_reach: %s
          host_path: 5 GB/s
        """
            .formatted(reach));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1, PIX, 64, 64, 64, 64",
    "0, 2, PXB, 5, 64, 64, 64",
    "0, 4, PHB, 5, 5, 64, 64",
    "0, 8, NODE, 5, 5, 5, 64",
  })
  void everyPathKindOfATreeIsDirectUpToTheReachAndStagedBeyond(
      int a, int b, PathKind kind, double pix, double pxb, double phb, double node) {
    double[] rates = {pix, pxb, phb, node};
    String[] reaches = {"pix", "pxb", "phb", "node"};
    for (int i = 0; i < reaches.length; i++) {
      Topology t = Topology.of(towers(reaches[i]), null, 16);
      assertEquals(kind, t.between(a, b));
      assertEquals(rates[i], giga(t.ring(new int[] {a, b})), 1e-9, reaches[i]);
    }
  }

  @Test
  void cardsBelowAnUpperSwitchShareItsUplink() {
    Topology t = Topology.of(towers("node"), null, 16);
    assertEquals(64, giga(t.ring(new int[] {0, 1, 2, 3})), 1e-9);
    assertEquals(32, giga(t.ring(new int[] {0, 8, 2, 10})), 1e-9);
    assertEquals(
        32,
        giga(t.rings(List.of(new int[] {0, 8}, new int[] {2, 10}))),
        1e-9,
        "two groups at once");
  }

  @Test
  void aBridgeJoinsTwoCardsAndFourStillCrossPcie() {
    Topology t = Topology.of(Read.system("a40-pcie-8"), null, 8);
    assertEquals(PathKind.NVL, t.between(0, 1));
    assertEquals(56.25, t.ring(new int[] {0, 1}).bytesPerSecond() / Quantity.GIGA, 1e-9);
    Topology.Bottleneck four = t.ring(new int[] {0, 1, 2, 3});
    assertTrue(four.edge().staged());
    assertEquals(3.9, four.bytesPerSecond() / Quantity.GIGA, 1e-9);
    assertEquals(1.45, t.ring(new int[] {0, 1, 6, 7}).bytesPerSecond() / Quantity.GIGA, 1e-9);
  }

  @Test
  void aPairOfAMeshHasOneLinkAndAnAllToAllUsesAll() {
    Topology t = Topology.of(Read.system("mi300x-8"), null, 8);
    assertEquals(64, t.ring(new int[] {0, 1}).bytesPerSecond() / Quantity.GIGA, 1e-9);
    int[] all = {0, 1, 2, 3, 4, 5, 6, 7};
    assertEquals(448, t.allToAll(all).bytesPerSecond() / Quantity.GIGA, 1e-6);
  }

  @Test
  void aCubeMeshHasPairsOfTwoOneAndNoLinksAndRingsFollowThem() {
    Topology t = Topology.of(Read.system("dgx-1-v100"), null, 8);
    assertEquals(PathKind.NVL, t.between(0, 3));
    assertEquals(PathKind.SYS, t.between(0, 5));
    assertEquals(50, giga(t.ring(new int[] {0, 3})), 1e-9);
    assertEquals(25, giga(t.ring(new int[] {0, 1})), 1e-9);
    assertEquals(1.45, giga(t.ring(new int[] {0, 5})), 1e-9);
    assertEquals(100, giga(t.bestRings(new int[] {0, 1, 2, 3})), 1e-9);
    assertEquals(50, giga(t.bestRings(new int[] {0, 1, 4, 5})), 1e-9);
    assertEquals(50, giga(t.bestRings(new int[] {0, 1, 2})), 1e-9);
    assertEquals(150, giga(t.bestRings(new int[] {0, 1, 2, 3, 4, 5, 6, 7})), 1e-9);
    assertEquals(25, giga(t.bestRings(new int[] {0, 1, 2, 5})), 1e-9, "5 only over 1");
    Topology p100 = Topology.of(Read.system("dgx-1-p100"), null, 8);
    assertEquals(80, giga(p100.bestRings(new int[] {0, 1, 2, 3, 4, 5, 6, 7})), 1e-9);
    assertEquals(PathKind.SYS, p100.between(0, 5));
  }

  @Test
  void aNeighbourOfTheSameGroupHandsOnWhatTwoGpusHaveNoLinkFor() {
    Topology t = Topology.of(Read.system("dgx-1-v100"), null, 8);
    double alone = giga(t.allToAll(new int[] {0, 5}));
    double withNeighbour = giga(t.allToAll(new int[] {0, 1, 5}));
    assertEquals(1.45, alone, 1e-9);
    assertEquals(25, withNeighbour, 1e-9);
  }

  @Test
  void meshesWithEqualPairsUseAllTheirLinks() {
    Topology t = Topology.of(Read.system("mi300x-8"), null, 8);
    assertEquals(64, giga(t.bestRings(new int[] {2, 5})), 1e-9);
    assertEquals(192, giga(t.bestRings(new int[] {0, 2, 5, 7})), 1e-9);
    assertEquals(448, giga(t.bestRings(new int[] {0, 1, 2, 3, 4, 5, 6, 7})), 1e-9);
    Topology mi250x = Topology.of(Read.system("mi250x-4"), null, 4);
    assertEquals(200, giga(mi250x.bestRings(new int[] {0, 1, 2, 3})), 1e-9);
    assertEquals(100, giga(mi250x.bestRings(new int[] {0, 1})), 1e-9);
    assertEquals(50, giga(mi250x.bestRings(new int[] {0, 2})), 1e-9);
  }

  @ParameterizedTest
  @CsvSource({
    "0+1, is no link",
    "0-8, must join two GPUs from 0 to 3",
    "2-2, must join two GPUs",
    "0-1x9, more than the bandwidth"
  })
  void wrongLinksOfAMeshAreRefused(String link, String message) {
    List<String> errors =
        Read.errors(
            SystemReader::read,
            """
            id: x
            name: x
            gpu: v100-sxm-16
            gpus_per_node: 4
            domain:
              size: 4
              kind: mesh
              link: nvlink2
              bandwidth: 150 GB/s
              pair_bandwidth: 25 GB/s
              links: [0-2, %s]
            sources: [made up]
            """
                .formatted(link));
    assertTrue(errors.stream().anyMatch(e -> e.contains(message)), errors.toString());
  }

  private static double giga(Topology.Bottleneck b) {
    return b.bytesPerSecond() / Quantity.GIGA;
  }

  @Test
  void aSwitchGivesEveryRankItsWholeBandwidth() {
    Topology t = Topology.of(Read.system("hgx-h100"), null, 8);
    int[] all = {0, 1, 2, 3, 4, 5, 6, 7};
    assertEquals(450, t.ring(all).bytesPerSecond() / Quantity.GIGA, 1e-9);
    assertEquals(450, t.allToAll(all).bytesPerSecond() / Quantity.GIGA, 1e-6);
  }

  @Test
  void acrossNodesARingCrossesOneNicOfEachNode() {
    Topology t = Topology.of(Read.system("hgx-h100"), Read.network("ndr-400g"), 16);
    assertEquals(PathKind.NET, t.between(0, 8));
    int[] all = new int[16];
    for (int i = 0; i < 16; i++) {
      all[i] = i;
    }
    Topology.Bottleneck ring = t.ring(all);
    assertEquals(50, ring.bytesPerSecond() / Quantity.GIGA, 1e-9);
    assertEquals(PathKind.NET, ring.edge().kind());
    assertEquals(2, t.path(0, 8).stream().filter(e -> t.name(e.to()).startsWith("NIC")).count());
  }

  @Test
  void aTorusJoinsNeighboursAndPassesOnTheRest() {
    SystemSpec s =
        cards(
            4,
            """
            size: 16
            kind: torus
            link: ici
            bandwidth: 200 GB/s
            axes: [4, 4]
            """);
    Topology t = Topology.of(s, null, 16);
    assertEquals(1, t.path(0, 1).size());
    assertEquals(1, t.path(0, 3).size());
    assertEquals(2, t.path(0, 5).size());
    assertEquals(50, t.ring(new int[] {0, 1, 2, 3}).bytesPerSecond() / Quantity.GIGA, 1e-9);
  }
}
