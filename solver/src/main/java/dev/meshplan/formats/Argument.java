package dev.meshplan.formats;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A command line flag with its values; a switch has none. */
public record Argument(String flag, List<String> values) {
  public Argument {
    values = List.copyOf(values);
  }

  /** Collects flags in order. */
  static final class Builder {
    private final List<Argument> list = new ArrayList<>();

    void add(String flag, Object... values) {
      list.add(new Argument(flag, Arrays.stream(values).map(String::valueOf).toList()));
    }

    void addIf(boolean on, String flag, Object... values) {
      if (on) {
        add(flag, values);
      }
    }

    List<Argument> list() {
      return List.copyOf(list);
    }
  }
}
