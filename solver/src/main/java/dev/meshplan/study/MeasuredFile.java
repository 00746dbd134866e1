package dev.meshplan.study;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputError;
import dev.meshplan.config.InputException;
import dev.meshplan.units.Quantity;
import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/** Reads a CSV file of measured collectives. */
final class MeasuredFile {
  private static final List<String> NEEDED =
      List.of(
          "id", "system", "network_id", "domain_gpus", "gpus", "collective", "bytes", "time_us");
  private final String file;
  private final Errors errors = new Errors();

  private MeasuredFile(String file) {
    this.file = file;
  }

  /**
   * @throws InputException with the line of every cell that is wrong
   */
  static List<MeasuredCollective> read(String file, String csv) {
    MeasuredFile f = new MeasuredFile(file);
    List<MeasuredCollective> rows = f.rows(csv);
    f.errors.throwIfAny();
    return rows;
  }

  private List<MeasuredCollective> rows(String csv) {
    CSVFormat format =
        CSVFormat.DEFAULT.builder().setHeader().setSkipHeaderRecord(true).setTrim(true).get();
    List<MeasuredCollective> rows = new ArrayList<>();
    try (CSVParser parser = CSVParser.parse(new StringReader(csv), format)) {
      for (String column : NEEDED) {
        if (!parser.getHeaderMap().containsKey(column)) {
          errors.add(new InputError(file, 1, column, "", "is a column that is missing."));
        }
      }
      errors.throwIfAny();
      for (CSVRecord r : parser) {
        rows.add(row(r, (int) parser.getCurrentLineNumber()));
      }
    } catch (IOException | java.io.UncheckedIOException | IllegalArgumentException e) {
      throw new InputException(file, "", "", "is no CSV file: " + e.getMessage());
    }
    return rows;
  }

  private MeasuredCollective row(CSVRecord r, int line) {
    int gpus = (int) number(r, line, "gpus", 1);
    return new MeasuredCollective(
        text(r, "id"),
        text(r, "system"),
        text(r, "network_id"),
        (int) number(r, line, "domain_gpus", 1),
        (int) number(r, line, "nodes", 0),
        gpus,
        text(r, "collective"),
        number(r, line, "bytes", Double.NaN),
        number(r, line, "time_us", Double.NaN) * Quantity.MICRO,
        number(r, line, "busbw_GBps", Double.NaN) * Quantity.GIGA,
        text(r, "dtype"),
        text(r, "algorithm").isEmpty() ? "default" : text(r, "algorithm"),
        number(r, line, "moe_tokens", Double.NaN),
        number(r, line, "moe_hidden", Double.NaN),
        number(r, line, "moe_top_k", Double.NaN),
        text(r, "excluded"));
  }

  private static String text(CSVRecord r, String column) {
    return r.isMapped(column) && r.isSet(column) ? r.get(column) : "";
  }

  private double number(CSVRecord r, int line, String column, double absent) {
    String s = text(r, column);
    if (s.isEmpty()) {
      return absent;
    }
    try {
      return Double.parseDouble(s);
    } catch (NumberFormatException e) {
      errors.add(new InputError(file, line, column, s, "is no number."));
      return absent;
    }
  }
}
