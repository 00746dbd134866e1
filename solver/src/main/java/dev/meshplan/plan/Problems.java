package dev.meshplan.plan;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputError;
import dev.meshplan.config.Section;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.Offer;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.model.Model;
import dev.meshplan.units.Basis;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.List;

/** Resolves a request's ids against the catalog, telling what was assumed on the way. */
public final class Problems {
  private Problems() {}

  /**
   * Reads and resolves a request.
   *
   * @throws dev.meshplan.config.InputException with everything that is wrong with it
   */
  public static Problem read(Section section, Catalog catalog) {
    Errors errors = section.errors();
    PlanRequest request = RequestReader.read(section);
    if (request == null) {
      // Ids are checked too, so that a user sees all errors of a request at once.
      checkIds(section, catalog, errors);
      errors.throwIfAny();
    }
    Problem problem = resolve(request, catalog, section.file(), errors);
    errors.throwIfAny();
    return problem;
  }

  private static void checkIds(Section section, Catalog catalog, Errors errors) {
    if (section.has("model")) {
      catalog.models().get(section.text("model"), errors, m -> section.error("model", m));
    }
    for (Section p : section.sections("cluster")) {
      if (p.has("system")) {
        catalog.systems().get(p.text("system"), errors, m -> p.error("system", m));
      }
      if (p.has("network")) {
        catalog.networks().get(p.text("network"), errors, m -> p.error("network", m));
      }
    }
  }

  /** Resolves a request; problems go to {@code errors}. Returns null then. */
  public static Problem resolve(PlanRequest request, Catalog catalog, String file, Errors errors) {
    int before = errors.size();
    List<Provenance> provenance = new ArrayList<>();
    Model model =
        catalog
            .models()
            .get(request.model(), errors, m -> add(errors, file, "model", request.model(), m));
    List<Machine> machines = new ArrayList<>();
    List<Pool> pools = new ArrayList<>();
    for (Pool p : request.cluster()) {
      Machine m = machine(p, catalog, file, errors, provenance);
      if (m != null) {
        machines.add(m);
        pools.add(m.pool());
      }
    }
    if (errors.size() > before) {
      return null;
    }
    Training training = Formats.of(request.training(), machines, file, errors);
    if (errors.size() > before) {
      return null;
    }
    for (String key : request.training().assumed()) {
      provenance.add(
          new Provenance(
              "training." + key,
              "era default",
              Basis.ASSUMED,
              "era " + request.training().era().key()));
    }
    PlanRequest filled =
        new PlanRequest(
            request.model(),
            pools,
            training,
            request.objective(),
            request.locality(),
            request.fix(),
            request.limits(),
            request.alternatives());
    return new Problem(filled, model, machines, provenance);
  }

  private static Machine machine(
      Pool p, Catalog catalog, String file, Errors errors, List<Provenance> provenance) {
    SystemSpec system =
        catalog
            .systems()
            .get(p.system(), errors, m -> add(errors, file, "cluster.system", p.system(), m));
    if (system == null) {
      return null;
    }
    Gpu gpu =
        catalog.gpus().get(system.gpu(), errors, m -> add(errors, file, "gpu", system.gpu(), m));
    String networkId = p.network().isEmpty() ? system.network() : p.network();
    Network network = null;
    if (!networkId.isEmpty()) {
      if (p.network().isEmpty()) {
        provenance.add(
            new Provenance(
                "cluster.network", networkId, Basis.ASSUMED, "usual network of " + system.id()));
      }
      network =
          catalog
              .networks()
              .get(networkId, errors, m -> add(errors, file, "cluster.network", networkId, m));
    }
    if (gpu == null) {
      return null;
    }
    Pool resolved = sized(p, system, file, errors);
    double price = resolved.dollarsPerGpuHour();
    if (Double.isNaN(price)) {
      Offer offer = offer(catalog, system.id());
      if (offer != null) {
        price = offer.base();
        provenance.add(
            new Provenance(
                "cluster.price",
                Quantity.digits(price) + " USD/GPU-hour",
                Basis.PUBLISHED,
                "offer " + offer.id() + " of " + offer.date()));
      }
    }
    Pool priced =
        new Pool(
            resolved.system(),
            networkId,
            resolved.gpus(),
            resolved.domains(),
            resolved.sparesPerDomain(),
            resolved.healthy(),
            resolved.blocks(),
            resolved.cut(),
            price);
    provenance.add(
        new Provenance(
            "gpu.usable_memory",
            Quantity.bytes(gpu.usableMemoryBytes().value()),
            gpu.usableMemoryBytes().basis(),
            "hardware/gpus/" + gpu.id() + ".yaml"));
    return new Machine(priced, system, gpu, network);
  }

  /** Fills gpus and domains: N GPUs take ceil(N / (domain - spares)) whole domains. */
  private static Pool sized(Pool p, SystemSpec system, String file, Errors errors) {
    int size = system.domain().size();
    int usable = size - p.sparesPerDomain();
    if (usable <= 0) {
      add(
          errors,
          file,
          "cluster.spares_per_domain",
          "" + p.sparesPerDomain(),
          "leaves nothing of a domain of " + size + " GPUs.");
      return p;
    }
    for (int h : p.healthy()) {
      if (h > size) {
        add(
            errors,
            file,
            "cluster.healthy",
            "" + h,
            "is more than the " + size + " GPUs of a domain of " + system.id() + ".");
      }
    }
    for (int b : p.blocks()) {
      checkBlock(b, system, file, errors, "cluster.blocks");
    }
    int cut = 0;
    for (int b : p.cut()) {
      checkBlock(b, system, file, errors, "cluster.cut");
      cut += b;
    }
    if (cut > size) {
      add(
          errors,
          file,
          "cluster.cut",
          p.cut().toString(),
          "adds up to " + cut + ", more than the " + size + " GPUs of a domain.");
    }
    int domains =
        p.domains() > 0
            ? p.domains()
            : !p.healthy().isEmpty() ? p.healthy().size() : (p.gpus() + usable - 1) / usable;
    if (!p.healthy().isEmpty() && p.healthy().size() != domains) {
      add(
          errors,
          file,
          "cluster.healthy",
          p.healthy().toString(),
          "lists " + p.healthy().size() + " domains, but there are " + domains + ".");
    }
    int gpus = p.gpus() > 0 ? p.gpus() : domains * usable;
    return new Pool(
        system.id(),
        p.network(),
        gpus,
        domains,
        p.sparesPerDomain(),
        p.healthy(),
        p.blocks(),
        p.cut(),
        p.dollarsPerGpuHour());
  }

  private static void checkBlock(int b, SystemSpec system, String file, Errors errors, String key) {
    if (!system.domain().blocks().contains(b)) {
      add(
          errors,
          file,
          key,
          "" + b,
          "is no block of " + system.id() + "; its blocks are " + system.domain().blocks() + ".");
    }
  }

  private static Offer offer(Catalog catalog, String system) {
    for (String id : catalog.offers().ids()) {
      if (catalog.offers().text(id).contains("system: " + system)) {
        Offer o = catalog.offers().get(id, new Errors(), m -> {});
        if (o != null && o.system().equals(system) && o.kind() == Offer.Kind.RENT) {
          return o;
        }
      }
    }
    return null;
  }

  private static void add(Errors errors, String file, String key, String value, String message) {
    errors.add(new InputError(file, 0, key, value, message));
  }
}
