package dev.meshplan.hardware;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.units.Quantity;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Figures derived from the catalog equal those that the link generations are published with. */
class LinkFactsTest {
  @ParameterizedTest
  @CsvSource({
    "dgx-1-p100, 4, 40, 160",
    "dgx-1-v100, 6, 50, 300",
    "dgx-2, 6, 50, 300",
    "hgx-a100-80, 12, 50, 600",
    "hgx-h100, 18, 50, 900",
    "hgx-h200, 18, 50, 900",
    "hgx-b200, 18, 100, 1800",
    "gb200-nvl72, 18, 100, 1800"
  })
  void everyNvlinkGenerationGivesItsPublishedFigureInBothDirections(
      String system, int links, double linkBothWays, double bothWays) {
    SystemSpec.Domain d = Read.system(system).domain();
    Link link =
        List.of(Link.values()).stream().filter(l -> l.key().equals(d.link())).findFirst().get();
    assertEquals(links, link.links());
    assertEquals(bothWays, 2 * giga(d.bandwidth()), 1e-9);
    assertEquals(linkBothWays, 2 * giga(link.oneLink()), 1e-9);
    assertEquals(giga(link.oneWay()), giga(d.bandwidth()), 1e-9);
  }

  @Test
  void nvlinkAgainstSlotAndPort() {
    SystemSpec h100 = Read.system("hgx-h100");
    SystemSpec b200 = Read.system("hgx-b200");
    double port = Read.network("ndr-400g").perGpuBandwidth(h100);
    assertEquals(50, giga(port), 1e-9);
    assertEquals(9, h100.domain().bandwidth() / port, 1e-9);
    assertEquals(18, b200.domain().bandwidth() / port, 1e-9);
    assertEquals(7, h100.domain().bandwidth() / h100.domain().hostBandwidth(), 0.2);
    assertEquals(1.5, h100.domain().bandwidth() / Read.system("hgx-a100-80").domain().bandwidth());
    assertEquals(3350, giga(Read.gpu("h100-sxm").memoryBandwidth()), 1e-9);
  }

  @Test
  void aggregatesOfWholeDomains() {
    assertEquals(7.2e12, 8 * 2 * Read.system("hgx-h100").domain().bandwidth(), 1);
    assertEquals(14.4e12, 8 * 2 * Read.system("hgx-b200").domain().bandwidth(), 1);
    assertEquals(129.6e12, 72 * 2 * Read.system("gb200-nvl72").domain().bandwidth(), 1);
    assertEquals(640e9, 8 * Read.gpu("h100-sxm").memoryBytes(), 1);
    assertEquals(13392e9, 72 * Read.gpu("gb200").memoryBytes(), 1);
  }

  @Test
  void withoutSwitchAPairHasOneSeventhOfTheBandwidth() {
    for (String id : List.of("mi300x-8", "mi325x-8", "mi355x-8", "gaudi2-8", "gaudi3-8")) {
      SystemSpec.Domain d = Read.system(id).domain();
      assertEquals(SystemSpec.Fabric.MESH, d.kind(), id);
      assertEquals(7, d.bandwidth() / d.pairBandwidth(), 1e-9, id);
    }
    double pairBothWays = 2 * Link.NVLINK4.oneWay() / 7;
    assertTrue(pairBothWays > 100e9 && pairBothWays < 150e9);
  }

  @Test
  void theRackIsCutIntoItsPublishedBlocks() {
    SystemSpec rack = Read.system("gb200-nvl72");
    assertEquals(List.of(8, 18, 36, 72), rack.domain().blocks());
    assertEquals(List.of(9, 4, 2, 1), rack.domain().blocks().stream().map(b -> 72 / b).toList());
    assertEquals(18, rack.nodesPerDomain());
    assertEquals(36, rack.domain().size() / rack.domain().boardGpus());
    assertEquals(120e3, rack.power().rack().value(), 1e-9);
    double ratio = rack.power().rack().value() / Read.system("hgx-h100").power().rack().value();
    assertEquals(11.8, ratio, 0.05);
    assertTrue(rack.host().grace());
    assertFalse(Read.system("hgx-h100").host().grace());
  }

  @Test
  void nodePowerAddsUpToThePublishedServer() {
    SystemSpec h100 = Read.system("hgx-h100");
    double gpus = 8 * Read.gpu("h100-sxm").power().peak().value();
    assertEquals(h100.power().rack().value(), gpus + h100.power().nodeOverhead().value(), 1e-6);
    SystemSpec rack = Read.system("gb200-nvl72");
    double watts =
        72 * Read.gpu("gb200").power().peak().value() + 18 * rack.power().nodeOverhead().value();
    assertEquals(1, watts / rack.power().rack().value(), 0.01);
  }

  @ParameterizedTest
  @CsvSource({
    "opa-100g-x4, hgx-a100-80, 6.25",
    "roce-100g-x4, hgx-a100-80, 6.25",
    "rdma-800g-x1, hgx-h100, 12.5",
    "efa-p4d-100g-x4, hgx-a100-40, 6.25",
    "efa-p5-100g-x32, hgx-h100, 50",
    "efa-p5en-200g-x16, hgx-h200, 50",
    "efa-p5en-200g-x16, trn2-16, 25",
    "efa-p6-400g, hgx-b200, 50",
    "ndr-400g-x16, hgx-h20, 100",
    "ib-hdr-200g, hgx-a100-80, 25",
    "ib-edr-100g, dgx-2, 6.25",
    "xdr-800g, gb300-nvl72, 100",
    "tcpxo-200g, hgx-h100, 25",
    "roce-100g, gaudi2-8, 37.5",
    "roce-200g, gaudi3-8, 75",
    "roce-200g, cloudmatrix384, 25"
  })
  void portsOfANodeAreSharedByItsGpus(String network, String system, double expected) {
    assertEquals(expected, giga(Read.network(network).perGpuBandwidth(Read.system(system))), 1e-9);
  }

  @Test
  void capabilitiesAreFactsOfTheParts() {
    for (Gpu g : Read.GPUS.all().values()) {
      for (Precision p : g.peaks().keySet()) {
        assertTrue(g.architecture().has(p), g.id() + " " + p);
      }
    }
    assertFalse(Read.gpu("a100").supports(Precision.FP8));
    assertFalse(Read.gpu("v100").supports(Precision.BF16));
    assertTrue(Read.gpu("l40s").supports(Precision.FP8));
    assertTrue(Read.gpu("h100").supports(Precision.FP8));
    assertFalse(Read.gpu("h200").supports(Precision.MXFP8));
    assertFalse(Read.gpu("mi355x").supports(Precision.NVFP4));
    for (String id : List.of("b200", "b300", "gb200", "gb300", "rtx-pro-6000")) {
      assertTrue(Read.gpu(id).supports(Precision.MXFP8), id);
      assertTrue(Read.gpu(id).supports(Precision.NVFP4), id);
    }
  }

  @Test
  void exportPartsKeepTheirChipAndLoseLinks() {
    assertEquals(Read.gpu("h100").peaks(), Read.gpu("h800").peaks());
    assertEquals(200, giga(Read.system("hgx-h800").domain().bandwidth()), 1e-9);
    assertEquals(Read.gpu("a100").peaks(), Read.gpu("a800").peaks());
    assertEquals(200, giga(Read.system("hgx-a800").domain().bandwidth()), 1e-9);
  }

  @Test
  void whatNobodyPublishedIsNamed() {
    assertEquals(List.of("memory_bandwidth", "peak", "power.peak"), Read.gpu("a40").unknown());
    assertEquals(List.of("peak"), Read.gpu("mi350x").unknown());
    assertEquals(List.of(), Read.gpu("h100").unknown());
    assertTrue(Read.system("ascend-910b-8").unknown().contains("domain.bandwidth"));
    assertEquals(List.of(), Read.system("hgx-h100").unknown());
  }

  @Test
  void peakTimesMeasuredShareIsTheMeasuredProduct() {
    assertEquals(794.5, share("h100"), 1.0);
    assertEquals(271.2, share("a100"), 1.0);
    assertEquals(1745, share("b200"), 3);
    assertEquals(1822, share("gb200"), 3);
    assertEquals(418.7, share("gaudi2"), 1);
    assertEquals(1243, share("gaudi3"), 2);
    assertEquals(668.4, share("mi300x"), 6);
  }

  private static double share(String gpu) {
    Gpu g = Read.gpu(gpu);
    return g.peak16() * g.efficiency().bestGemm().value() / Quantity.TERA;
  }

  private static double giga(double v) {
    return v / Quantity.GIGA;
  }
}
