package dev.meshplan.plan;

import dev.meshplan.config.Library;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.GpuReader;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.Offer;
import dev.meshplan.hardware.SystemReader;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.model.Model;
import dev.meshplan.model.ModelReader;
import java.nio.file.Path;

/** The models and hardware that ids stand for: those in the jar, and those of the user's folder. */
public record Catalog(
    Library<Model> models,
    Library<Gpu> gpus,
    Library<SystemSpec> systems,
    Library<Network> networks,
    Library<Offer> offers) {

  /**
   * Opens the catalog.
   *
   * @param userFolder a folder with {@code models/} and {@code hardware/} whose files win, or null
   */
  public static Catalog open(Path userFolder) {
    return new Catalog(
        new Library<>("models", "model", ModelReader::read, userFolder),
        new Library<>("hardware/gpus", "GPU", GpuReader::read, userFolder),
        new Library<>("hardware/systems", "system", SystemReader::read, userFolder),
        new Library<>("hardware/networks", "network", Network::read, userFolder),
        new Library<>("hardware/offers", "offer", Offer::read, userFolder));
  }
}
