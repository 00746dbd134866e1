package dev.meshplan.study;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputError;
import dev.meshplan.config.InputException;
import dev.meshplan.units.Dimension;
import dev.meshplan.units.Quantity;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/**
 * Reads a CSV file of measured collectives. Only what a row can't do without must be there; such a
 * cell that can't be read makes its row one that isn't scored, with the reason, and never stops the
 * file. Other cells that can't be read count as not given.
 */
final class MeasuredFile {
  private static final List<String> NEEDED = List.of("system", "gpus", "collective");
  private static final List<String> TIMES = List.of("time_us", "busbw_GBps", "algbw_GBps");
  private static final Set<String> DECIDE = Set.of("gpus", "domain_gpus", "bytes", "time_us");
  private static final Set<String> ABSENT =
      Set.of("", "-", "n/a", "na", "nan", "none", "null", "inf", "?");
  private static final Set<String> NO = Set.of("", "0", "no", "false", "none", "-", "n/a");

  private MeasuredFile() {}

  /**
   * @throws InputException when the text is no CSV file or has none of the columns that every row
   *     needs
   */
  static List<MeasuredCollective> read(String file, String csv) {
    CSVFormat format =
        CSVFormat.DEFAULT
            .builder()
            .setHeader()
            .setSkipHeaderRecord(true)
            .setIgnoreHeaderCase(true)
            .setAllowMissingColumnNames(true)
            .setTrim(true)
            .get();
    String text = csv.startsWith("\uFEFF") ? csv.substring(1) : csv;
    List<MeasuredCollective> rows = new ArrayList<>();
    try (CSVParser parser = CSVParser.parse(new StringReader(text), format)) {
      check(file, parser.getHeaderNames());
      for (CSVRecord r : parser) {
        rows.add(new Line(r, (int) parser.getCurrentLineNumber()).row());
      }
    } catch (IOException
        | UncheckedIOException
        | IllegalArgumentException
        | IllegalStateException e) {
      throw new InputException(file, "", "", "is no CSV file: " + e.getMessage());
    }
    return rows;
  }

  private static void check(String file, List<String> names) {
    Errors errors = new Errors();
    List<String> known = names.stream().map(n -> n.toLowerCase(Locale.ROOT)).toList();
    for (String column : NEEDED) {
      if (!known.contains(column)) {
        errors.add(new InputError(file, 1, column, "", "is a column that is missing."));
      }
    }
    if (TIMES.stream().noneMatch(t -> known.contains(t.toLowerCase(Locale.ROOT)))) {
      errors.add(
          new InputError(
              file,
              1,
              "time_us",
              "",
              "is a column that is missing; busbw_GBps or algbw_GBps would do."));
    }
    errors.throwIfAny();
  }

  /** One line while its cells are read. */
  private static final class Line {
    private final CSVRecord cells;
    private final int number;

    /** The last cell that the row can't do without and that can't be read. */
    private String fault = "";

    Line(CSVRecord cells, int number) {
      this.cells = cells;
      this.number = number;
    }

    MeasuredCollective row() {
      String id = text("id");
      double bytes = number("bytes", Dimension.BYTES, 1);
      double seconds = number("time_us", Dimension.SECONDS, Quantity.MICRO);
      double bus = number("busbw_GBps", Dimension.BYTES_PER_SECOND, Quantity.GIGA);
      double algorithm = number("algbw_GBps", Dimension.BYTES_PER_SECOND, Quantity.GIGA);
      if (Double.isNaN(seconds) && Double.isNaN(bus)) {
        seconds = bytes / algorithm;
      }
      return new MeasuredCollective(
          id.isEmpty() ? "line " + number : id,
          text("source"),
          text("system"),
          text("network_id"),
          count("domain_gpus"),
          count("nodes"),
          count("gpus"),
          text("collective"),
          bytes,
          seconds,
          bus,
          text("dtype").toLowerCase(Locale.ROOT),
          text("algorithm").isEmpty() ? "default" : text("algorithm"),
          text("algo_notes"),
          !NO.contains(text("registered").toLowerCase(Locale.ROOT)),
          number("moe_tokens", null, 1),
          number("moe_hidden", null, 1),
          number("moe_top_k", null, 1),
          ABSENT.contains(text("excluded").toLowerCase(Locale.ROOT)) ? "" : text("excluded"),
          fault);
    }

    private String text(String column) {
      String s = cells.isMapped(column) && cells.isSet(column) ? cells.get(column) : "";
      return s == null ? "" : s.strip();
    }

    /** A whole number of GPUs or nodes; 0 = not given. */
    private int count(String column) {
      double v = number(column, null, 1);
      if (Double.isNaN(v)) {
        return 0;
      }
      if (v < 0 || v > 1 << 24 || v != Math.rint(v)) {
        refuse(column, "is no number of them");
        return 0;
      }
      return (int) v;
    }

    /** A positive number in the column's unit, or one with a unit; NaN = not given. */
    private double number(String column, Dimension dimension, double unit) {
      String s = text(column);
      if (ABSENT.contains(s.toLowerCase(Locale.ROOT))) {
        return Double.NaN;
      }
      try {
        double v = Double.parseDouble(s) * unit;
        if (v > 0 && !Double.isInfinite(v)) {
          return v;
        }
        if (v == 0) {
          return dimension == null ? 0 : Double.NaN;
        }
      } catch (NumberFormatException e) {
        try {
          return Quantity.parse(s, dimension == null ? Dimension.BYTES : dimension);
        } catch (IllegalArgumentException f) {
          refuse(column, "is no number");
          return Double.NaN;
        }
      }
      refuse(column, "is out of range");
      return Double.NaN;
    }

    private void refuse(String column, String why) {
      if (DECIDE.contains(column)) {
        fault = column + " = " + text(column) + " " + why;
      }
    }
  }
}
