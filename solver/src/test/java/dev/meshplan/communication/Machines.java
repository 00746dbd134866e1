package dev.meshplan.communication;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.plan.Catalog;

/** Machines of the catalog for tests. */
public final class Machines {
  private static final Catalog CATALOG = Catalog.open(null);

  private Machines() {}

  public static SystemSpec system(String id) {
    return CATALOG.systems().all().get(CATALOG.systems().id(id));
  }

  public static Gpu gpu(String systemId) {
    return CATALOG.gpus().all().get(CATALOG.gpus().id(system(systemId).gpu()));
  }

  public static Network network(String id) {
    return CATALOG.networks().all().get(CATALOG.networks().id(id));
  }

  public static Communication of(String systemId, String networkId) {
    return new Communication(Fabric.of(system(systemId), gpu(systemId), network(networkId)));
  }
}
