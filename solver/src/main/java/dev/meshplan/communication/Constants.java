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

  Constants(String name, Class<E> type) {
    this(
        name,
        type,
        new double[type.getEnumConstants().length],
        new Basis[type.getEnumConstants().length]);
    Arrays.fill(values, Double.NaN);
    Arrays.fill(bases, Basis.ASSUMED);
  }

  private Constants(String name, Class<E> type, double[] values, Basis[] bases) {
    this.name = name;
    this.type = type;
    this.values = values;
    this.bases = bases;
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

  /** A copy with one value replaced. */
  Constants<E> with(E parameter, double value, Basis basis) {
    double[] v = values.clone();
    Basis[] b = bases.clone();
    v[parameter.ordinal()] = value;
    b[parameter.ordinal()] = basis;
    return new Constants<>(name, type, v, b);
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
    return new Constants<>(otherName, type, values.clone(), b);
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
