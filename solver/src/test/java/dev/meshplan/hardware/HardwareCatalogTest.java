package dev.meshplan.hardware;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Library;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HardwareCatalogTest {
  private static final Library<Gpu> GPUS =
      new Library<>("hardware/gpus", "GPU", GpuReader::read, null);
  private static final Library<SystemSpec> SYSTEMS =
      new Library<>("hardware/systems", "system", SystemReader::read, null);
  private static final Library<Network> NETWORKS =
      new Library<>("hardware/networks", "network", Network::read, null);
  private static final Library<Offer> OFFERS =
      new Library<>("hardware/offers", "offer", Offer::read, null);

  @Test
  void everyFileLoadsAndIsNamedByItsId() {
    GPUS.all().forEach((id, g) -> assertEquals(id, g.id()));
    SYSTEMS.all().forEach((id, s) -> assertEquals(id, s.id()));
    NETWORKS.all().forEach((id, n) -> assertEquals(id, n.id()));
    OFFERS.all().forEach((id, o) -> assertEquals(id, o.id()));
  }

  @Test
  void theCatalogIsWide() {
    assertTrue(GPUS.ids().size() >= 45);
    assertTrue(SYSTEMS.ids().size() >= 30);
    assertTrue(NETWORKS.ids().size() >= 9);
  }

  @Test
  void noAliasHidesAnotherName() {
    for (Library<?> library : List.of(GPUS, SYSTEMS, NETWORKS, OFFERS)) {
      List<String> seen = new ArrayList<>(library.ids());
      for (Map.Entry<String, ?> e : library.all().entrySet()) {
        for (String alias : aliases(e.getValue())) {
          assertEquals(false, seen.contains(alias), alias + " of " + e.getKey());
          assertEquals(e.getKey(), library.id(alias));
          seen.add(alias);
        }
      }
    }
  }

  @Test
  void systemsNameGpusAndNetworksOfTheCatalog() {
    SYSTEMS
        .all()
        .forEach(
            (id, s) -> {
              assertNotNull(GPUS.id(s.gpu()), id + " names " + s.gpu());
              if (!s.network().isEmpty()) {
                assertNotNull(NETWORKS.id(s.network()), id + " names " + s.network());
              }
            });
    OFFERS.all().forEach((id, o) -> assertNotNull(SYSTEMS.id(o.system()), id));
  }

  @Test
  void everySystemAndNetworkOfThePublishedRunsIsKnown() {
    for (String id :
        ("hgx-a100-80 hgx-a100-40 hgx-a800 a100-pcie-8 hgx-h100 hgx-h100-96-500w hgx-h800 "
                + "hgx-h20 hgx-h200 hgx-b200 hgx-b300 gb200-nvl72 gb300-nvl72 mi300x-8 mi325x-8 mi355x-8 "
                + "dgx-1-v100 l40s-pcie-8 a40-pcie-8 rtx-pro-6000-pcie-8 arc-b60-pcie-4")
            .split(" ")) {
      assertNotNull(SYSTEMS.id(id), id);
    }
    for (String id :
        ("single-node ib-hdr-200g ndr-400g xdr-800g roce-200g roce-400g roce-800g roce-100g-x4 "
                + "roce-100g-x16 opa-100g-x4 rdma-400g rdma-400g-x1 rdma-800g-x1 ib-hdr-200g-x4 "
                + "ndr-400g-x16 efa-p4d-100g-x4 efa-p5-100g-x32 efa-p5en-200g-x16 efa-p6-400g "
                + "tcpxo-200g")
            .split(" ")) {
      assertNotNull(NETWORKS.id(id), id);
    }
  }

  private static List<String> aliases(Object entry) {
    if (entry instanceof Gpu g) {
      return g.aliases();
    }
    if (entry instanceof SystemSpec s) {
      return s.aliases();
    }
    return entry instanceof Network n ? n.aliases() : ((Offer) entry).aliases();
  }
}
