package dev.meshplan.hardware;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputError;
import dev.meshplan.config.Library;
import dev.meshplan.config.Section;
import dev.meshplan.config.YamlReader;
import java.util.List;
import java.util.function.Function;

/** Reads hardware texts for tests. */
final class Read {
  static final Library<Gpu> GPUS = new Library<>("hardware/gpus", "GPU", GpuReader::read, null);
  static final Library<SystemSpec> SYSTEMS =
      new Library<>("hardware/systems", "system", SystemReader::read, null);
  static final Library<Network> NETWORKS =
      new Library<>("hardware/networks", "network", Network::read, null);

  private Read() {}

  /** Messages of what is wrong with the text, each with its key. */
  static List<String> errors(Function<Section, ?> reader, String text) {
    Errors errors = new Errors();
    Section s = YamlReader.parse("mine.yaml", text, errors);
    if (s != null && reader.apply(s) == null && !errors.any()) {
      throw new AssertionError("no record and no error");
    }
    return errors.list().stream().map(InputError::toString).toList();
  }

  /** The record, which must be without errors. */
  static <T> T good(Function<Section, T> reader, String text) {
    Errors errors = new Errors();
    T t = reader.apply(YamlReader.parse("mine.yaml", text, errors));
    errors.throwIfAny();
    return t;
  }

  static Gpu gpu(String name) {
    return GPUS.all().get(GPUS.id(name));
  }

  static SystemSpec system(String name) {
    return SYSTEMS.all().get(SYSTEMS.id(name));
  }

  static Network network(String name) {
    return NETWORKS.all().get(NETWORKS.id(name));
  }
}
