package dev.meshplan.config;

import dev.meshplan.units.Dimension;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * A mapping being read. Every getter names the key it reads; {@link #finish} then reports the keys
 * that nobody read. A getter that fails adds a located error and returns a harmless value, so that
 * reading goes on and all errors come together: check {@link Errors#size} before building a record.
 */
public final class Section {
  private final String file;
  private final String path;
  private final YamlNode.Mapping node;
  private final Errors errors;
  private final Set<String> read = new LinkedHashSet<>();

  Section(String file, String path, YamlNode.Mapping node, Errors errors) {
    this.file = file;
    this.path = path;
    this.node = node;
    this.errors = errors;
  }

  /** This section with the values of another laid over it, key by key; lists are replaced whole. */
  public Section overlaid(Section over) {
    return new Section(file, path, node.overlaid(over.node), errors);
  }

  /** This section without lines, for what was never in a file. */
  public Section unlocated() {
    return new Section(file, path, node.unlocated(), errors);
  }

  public Errors errors() {
    return errors;
  }

  public String file() {
    return file;
  }

  public int line() {
    return node.line();
  }

  /** Whether the key is present and not null. Counts as reading it. */
  public boolean has(String key) {
    read.add(key);
    YamlNode n = node.entries().get(key);
    return n != null && !(n instanceof YamlNode.Scalar s && s.isNull());
  }

  /** The keys of this mapping in file order (for mappings whose keys are names). */
  public List<String> keys() {
    return List.copyOf(node.entries().keySet());
  }

  public String text(String key) {
    return has(key) ? scalar(key) : missing(key, "");
  }

  public String text(String key, String absent) {
    return has(key) ? scalar(key) : absent;
  }

  public boolean flag(String key, boolean absent) {
    if (!has(key)) {
      return absent;
    }
    String s = scalar(key);
    switch (s) {
      case "true", "yes":
        return true;
      case "false", "no":
        return false;
      default:
        error(key, "must be true or false.");
        return absent;
    }
  }

  public long integer(String key, long min, long max) {
    return has(key) ? toInteger(key, scalar(key), min, max) : missing(key, min);
  }

  public long integer(String key, long min, long max, long absent) {
    return has(key) ? toInteger(key, scalar(key), min, max) : absent;
  }

  public int count(String key) {
    return (int) integer(key, 1, Integer.MAX_VALUE);
  }

  public int count(String key, int absent) {
    return (int) integer(key, 0, Integer.MAX_VALUE, absent);
  }

  /** A pure number (a share, a factor). */
  public double number(String key, double min, double max) {
    return has(key) ? toNumber(key, scalar(key), min, max) : missing(key, min);
  }

  public double number(String key, double min, double max, double absent) {
    return has(key) ? toNumber(key, scalar(key), min, max) : absent;
  }

  /** A positive quantity with a unit, in base units. */
  public double quantity(String key, Dimension dimension) {
    return has(key) ? toQuantity(key, scalar(key), dimension) : missing(key, 1.0);
  }

  /** A quantity that may be left out; {@code absent} (often NaN) then. Zero is allowed. */
  public double quantity(String key, Dimension dimension, double absent) {
    return has(key) ? toQuantity(key, scalar(key), dimension) : absent;
  }

  public <E extends Enum<E> & Keyed> E choice(String key, Class<E> type) {
    return has(key) ? toChoice(key, scalar(key), type) : missing(key, type.getEnumConstants()[0]);
  }

  public <E extends Enum<E> & Keyed> E choice(String key, Class<E> type, E absent) {
    return has(key) ? toChoice(key, scalar(key), type) : absent;
  }

  /** A list of texts; a single scalar counts as a list of one. Empty when absent. */
  public List<String> texts(String key) {
    if (!has(key)) {
      return List.of();
    }
    YamlNode n = node.entries().get(key);
    if (n instanceof YamlNode.Scalar s) {
      return List.of(s.text());
    }
    List<String> out = new ArrayList<>();
    if (n instanceof YamlNode.Sequence sequence) {
      for (YamlNode item : sequence.items()) {
        if (item instanceof YamlNode.Scalar s) {
          out.add(s.text());
        } else {
          error(key, item.line(), "", "must be a list of plain values.");
        }
      }
    } else {
      error(key, "must be a list.");
    }
    return out;
  }

  /** A list of integers in a range. Empty when absent. */
  public List<Integer> integers(String key, long min, long max) {
    List<Integer> out = new ArrayList<>();
    for (String s : texts(key)) {
      out.add((int) toInteger(key, s, min, max));
    }
    return out;
  }

  /** A list of choices. Empty when absent. */
  public <E extends Enum<E> & Keyed> List<E> choices(String key, Class<E> type) {
    List<E> out = new ArrayList<>();
    for (String s : texts(key)) {
      out.add(toChoice(key, s, type));
    }
    return out;
  }

  /** A nested mapping, or null (with an error when {@code required}). */
  public Section section(String key, boolean required) {
    if (!has(key)) {
      return required ? missing(key, null) : null;
    }
    YamlNode n = node.entries().get(key);
    if (n instanceof YamlNode.Mapping m) {
      return new Section(file, path(key), m, errors);
    }
    error(key, "must be a mapping of keys to values.");
    return null;
  }

  /** A list of mappings; a single mapping counts as a list of one. Empty when absent. */
  public List<Section> sections(String key) {
    if (!has(key)) {
      return List.of();
    }
    YamlNode n = node.entries().get(key);
    List<YamlNode> items =
        n instanceof YamlNode.Sequence s ? s.items() : n == null ? List.of() : List.of(n);
    List<Section> out = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      if (items.get(i) instanceof YamlNode.Mapping m) {
        out.add(new Section(file, path(key) + "[" + i + "]", m, errors));
      } else {
        error(key, items.get(i).line(), "", "must hold mappings of keys to values.");
      }
    }
    return out;
  }

  /** Whether the key holds a mapping (not a scalar or list). */
  public boolean isSection(String key) {
    return node.entries().get(key) instanceof YamlNode.Mapping;
  }

  /** Reads the value with a function that throws IllegalArgumentException for bad text. */
  public <T> T parsed(String key, Function<String, T> reader, T absent) {
    if (!has(key)) {
      return absent;
    }
    try {
      return reader.apply(scalar(key));
    } catch (IllegalArgumentException e) {
      error(key, e.getMessage());
      return absent;
    }
  }

  /** Reports the keys that were not read. */
  public void finish() {
    for (Map.Entry<String, Integer> e : node.keyLines().entrySet()) {
      if (!read.contains(e.getKey())) {
        error(
            e.getKey(),
            e.getValue(),
            "",
            "is not a key here."
                + Names.hint(e.getKey(), read)
                + " Known: "
                + String.join(", ", read)
                + ".");
      }
    }
  }

  /** Adds an error at a key, with the value that is written there. */
  public void error(String key, String message) {
    YamlNode n = node.entries().get(key);
    String value = n instanceof YamlNode.Scalar s ? s.text() : "";
    error(key, lineOf(key), value, message);
  }

  private void error(String key, int line, String value, String message) {
    errors.add(new InputError(file, line, path(key), value, message));
  }

  private int lineOf(String key) {
    return node.keyLines().getOrDefault(key, node.line());
  }

  private String path(String key) {
    return path.isEmpty() ? key : path + "." + key;
  }

  private <T> T missing(String key, T harmless) {
    error(key, node.line(), "", "is missing.");
    return harmless;
  }

  private String scalar(String key) {
    if (node.entries().get(key) instanceof YamlNode.Scalar s) {
      return s.text();
    }
    error(key, "must be a plain value.");
    return "";
  }

  private long toInteger(String key, String text, long min, long max) {
    return converted(key, text, t -> Scalars.integer(t, min, max), min);
  }

  private double toNumber(String key, String text, double min, double max) {
    return converted(key, text, t -> Scalars.number(t, min, max), min);
  }

  private double toQuantity(String key, String text, Dimension dimension) {
    return converted(key, text, t -> Scalars.quantity(t, dimension), 1.0);
  }

  private <E extends Enum<E> & Keyed> E toChoice(String key, String text, Class<E> type) {
    return converted(key, text, t -> Scalars.choice(t, type), type.getEnumConstants()[0]);
  }

  private <T> T converted(String key, String text, Function<String, T> conversion, T harmless) {
    try {
      return conversion.apply(text);
    } catch (IllegalArgumentException e) {
      error(key, lineOf(key), text, e.getMessage());
      return harmless;
    }
  }
}
