package dev.meshplan.communication;

import dev.meshplan.config.InputError;
import dev.meshplan.config.InputException;
import dev.meshplan.config.Keyed;
import dev.meshplan.config.Names;
import dev.meshplan.hardware.Known;
import dev.meshplan.units.Basis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One row of a table of constants: a value and its basis for every parameter. */
final class Constants<E extends Enum<E> & Keyed> {
  private final String name;
  private final Class<E> type;
  private final double[] values;
  private final Basis[] bases;
  private final String[] origins;

  Constants(String name, Class<E> type) {
    this(
        name,
        type,
        new double[type.getEnumConstants().length],
        new Basis[type.getEnumConstants().length],
        new String[type.getEnumConstants().length]);
    Arrays.fill(values, Double.NaN);
    Arrays.fill(bases, Basis.ASSUMED);
    Arrays.fill(origins, name);
  }

  private Constants(String name, Class<E> type, double[] values, Basis[] bases, String[] origins) {
    this.name = name;
    this.type = type;
    this.values = values;
    this.bases = bases;
    this.origins = origins;
  }

  String name() {
    return name;
  }

  double get(E parameter) {
    return values[parameter.ordinal()];
  }

  /** Whether the row has this parameter. */
  boolean has(E parameter) {
    return !Double.isNaN(values[parameter.ordinal()]);
  }

  Basis basis(E parameter) {
    return bases[parameter.ordinal()];
  }

  /** A copy with one value moved by what a file says of the machine; the row still states it. */
  Constants<E> moved(E parameter, double value, Basis basis) {
    Constants<E> c = with(parameter, value, basis);
    c.origins[parameter.ordinal()] = origins[parameter.ordinal()];
    return c;
  }

  /** A copy with one value replaced. */
  Constants<E> with(E parameter, double value, Basis basis) {
    double[] v = values.clone();
    Basis[] b = bases.clone();
    String[] o = origins.clone();
    v[parameter.ordinal()] = value;
    b[parameter.ordinal()] = basis;
    o[parameter.ordinal()] = name;
    return new Constants<>(name, type, v, b, o);
  }

  /** A copy with consecutive values replaced, from a first parameter on. */
  Constants<E> with(Basis basis, E first, double... consecutive) {
    Constants<E> c = this;
    for (int i = 0; i < consecutive.length; i++) {
      c = c.with(type.getEnumConstants()[first.ordinal() + i], consecutive[i], basis);
    }
    return c;
  }

  /** The same numbers under another name, known less well. */
  Constants<E> as(String otherName, Basis atMost) {
    Basis[] b = bases.clone();
    for (int i = 0; i < b.length; i++) {
      b[i] = b[i].weakest(atMost);
    }
    return new Constants<>(otherName, type, values.clone(), b, origins.clone());
  }

  /** All values by the row that states them: {@code nvlink4.nvls_share}. */
  Map<String, Known> all() {
    Map<String, Known> all = new LinkedHashMap<>();
    for (E e : type.getEnumConstants()) {
      if (has(e)) {
        all.put(origins[e.ordinal()] + "." + e.key(), new Known(get(e), basis(e)));
      }
    }
    return all;
  }

  /**
   * A copy with other values.
   *
   * @param others by the row that states them, as {@link #all} names them
   */
  Constants<E> tuned(Map<String, Double> others) {
    if (others.isEmpty()) {
      return this;
    }
    double[] v = values.clone();
    for (E e : type.getEnumConstants()) {
      v[e.ordinal()] = others.getOrDefault(origins[e.ordinal()] + "." + e.key(), v[e.ordinal()]);
    }
    return new Constants<>(name, type, v, bases, origins);
  }

  /**
   * A copy with what a hardware file says.
   *
   * @param file what to name in messages
   * @throws InputException when a key is no parameter
   */
  Constants<E> overridden(String file, Map<String, Known> given) {
    Constants<E> c = this;
    List<InputError> errors = new ArrayList<>();
    Map<String, E> keys = new LinkedHashMap<>();
    for (E e : type.getEnumConstants()) {
      keys.put(e.key(), e);
    }
    for (Map.Entry<String, Known> e : given.entrySet()) {
      E parameter = keys.get(e.getKey());
      if (parameter == null) {
        errors.add(
            new InputError(
                file,
                0,
                "collectives." + e.getKey(),
                "",
                "is no constant of a collective." + Names.hint(e.getKey(), keys.keySet())));
      } else if (e.getValue().known()) {
        c = c.with(parameter, e.getValue().value(), e.getValue().basis());
      }
    }
    if (!errors.isEmpty()) {
      throw new InputException(errors);
    }
    return c;
  }
}
