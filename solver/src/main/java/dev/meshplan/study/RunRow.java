package dev.meshplan.study;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One measured run: its cells, and the names of those that had to be filled in. Nothing is ever
 * read from {@code id}, {@code source} or {@code notes} but the label of the run.
 */
final class RunRow {
  private static final double MOST = 1 << 24;

  private final Map<String, String> cells;
  private final Set<String> assumed = new LinkedHashSet<>();

  RunRow(Map<String, String> cells) {
    this.cells = cells;
  }

  /** The same row with a cell that it left empty, named as assumed. */
  RunRow with(String column, String value) {
    Map<String, String> copy = new LinkedHashMap<>(cells);
    copy.put(column, value);
    RunRow row = new RunRow(copy);
    row.assumed.addAll(assumed);
    row.assume(column);
    return row;
  }

  Map<String, String> cells() {
    return cells;
  }

  String id() {
    return text("id");
  }

  /** The id up to its first dash: which source a run belongs to, for grouping only. */
  String family() {
    String id = id();
    int dash = id.indexOf('-');
    return dash < 0 ? id : id.substring(0, dash);
  }

  String text(String column) {
    String v = cells.get(column);
    return v == null ? "" : v.trim();
  }

  boolean has(String column) {
    return !text(column).isEmpty();
  }

  /** The number in a cell; NaN when empty or not a number. */
  double number(String column) {
    try {
      return has(column) ? Double.parseDouble(text(column)) : Double.NaN;
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }

  /** The positive integer in a cell, or {@code absent}, then named as assumed. */
  int integer(String column, int absent) {
    double v = number(column);
    if (!(v >= 1 && v <= MOST)) {
      assume(column);
      return absent;
    }
    return (int) Math.round(v);
  }

  /**
   * @throws Unpriced when one of the cells holds something that is no number of this size
   */
  void check(double least, String... columns) throws Unpriced {
    for (String column : columns) {
      double v = number(column);
      if (has(column) && !(v >= least && v <= MOST)) {
        throw new Unpriced(column + " = " + text(column) + " is no possible number");
      }
    }
  }

  /** Yes or no, or {@code absent}, then named as assumed. */
  boolean yes(String column, boolean absent) {
    return switch (text(column)) {
      case "yes" -> true;
      case "no" -> false;
      default -> {
        assume(column);
        yield absent;
      }
    };
  }

  void assume(String column) {
    assumed.add(column);
  }

  List<String> assumed() {
    return new ArrayList<>(assumed);
  }

  /** Measured seconds of a step: stated, else from the token rate; NaN when neither is there. */
  double stepSeconds() {
    double step = number("step_time_s");
    if (step > 0) {
      return step;
    }
    double rate = number("tokens_per_s_per_gpu");
    double tokens = number("gbs") * number("seq_len");
    return rate > 0 ? tokens / (rate * number("gpus")) : Double.NaN;
  }
}
