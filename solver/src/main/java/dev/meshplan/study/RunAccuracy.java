package dev.meshplan.study;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.meshplan.config.InputException;
import dev.meshplan.estimate.MemoryVerdict;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.ErrorBand;
import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/** Replays measured training runs: predicted against measured step time and peak memory. */
public final class RunAccuracy {
  private static final List<String> NEEDED =
      List.of("id", "model", "gpus", "gbs", "seq_len", "system", "era");

  private RunAccuracy() {}

  /**
   * One figure of one run.
   *
   * @param quantity {@code time} (seconds of a step) or {@code memory} (bytes of the fullest GPU)
   * @param reading of memory: allocator, reserved or device; else null
   * @param relativeError predicted / measured - 1; null when skipped
   * @param low prediction with the least that open cells may mean (recompute; for memory also
   *     sharding, micro-batch and gradients); null when nothing is open
   * @param high the same with the most
   * @param assumed columns that were empty and filled from the era's defaults
   * @param skippedReason why nothing was predicted or compared; null when it was
   */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record Row(
      String id,
      String system,
      String quantity,
      String reading,
      double measured,
      double predicted,
      double relativeError,
      double low,
      double high,
      List<String> assumed,
      ErrorBand band,
      String skippedReason) {
    public Row {
      assumed = List.copyOf(assumed);
    }
  }

  /**
   * Whether a run was held to fit.
   *
   * @param ran false for a run that failed for memory
   * @param verdict on the most saving plan that its empty cells leave open
   * @param usualVerdict on what its stack usually does
   * @param skippedReason why there is none; null when there is
   */
  public record Verdict(
      String id, boolean ran, String verdict, String usualVerdict, String skippedReason) {}

  /**
   * Errors, ranking and verdicts of a file of runs.
   *
   * @param verdicts runs that failed, and runs that ran but were called out of memory
   * @param ran runs that ran and were given a verdict
   * @param ranCalledOom of them those called out of memory
   */
  public record Report(
      List<Row> rows,
      List<RunSummary.Line> summary,
      List<RunRanking.Line> ranking,
      List<Verdict> verdicts,
      int ran,
      int ranCalledOom) {
    public Report {
      rows = List.copyOf(rows);
      summary = List.copyOf(summary);
      ranking = List.copyOf(ranking);
      verdicts = List.copyOf(verdicts);
    }
  }

  /**
   * Replays a file.
   *
   * @param file its name, for messages
   * @param csv its text
   * @throws InputException when it is no CSV file of runs
   */
  public static Report replay(String file, String csv, Catalog catalog) {
    List<RunRow> runs = read(file, csv);
    MemoryAccuracy memory = MemoryAccuracy.of(runs.stream().map(RunRow::cells).toList(), catalog);
    List<RunScore> scores = new ArrayList<>();
    for (int i = 0; i < runs.size(); i++) {
      scores.add(RunScore.of(runs.get(i), catalog, memory.runs().get(i)));
    }
    return new Report(
        scores.stream().flatMap(s -> s.rows().stream()).toList(),
        RunSummary.of(scores),
        RunRanking.of(scores),
        verdicts(memory),
        (int) memory.judged(),
        memory.falseAlarms().size());
  }

  private static List<Verdict> verdicts(MemoryAccuracy memory) {
    List<Verdict> verdicts = new ArrayList<>();
    for (MemoryAccuracy.Run r : memory.runs()) {
      if (r.failed() || r.verdict() == MemoryVerdict.OUT_OF_MEMORY) {
        verdicts.add(
            new Verdict(
                r.id(),
                !r.failed(),
                r.verdict() == null ? null : r.verdict().key(),
                r.usualVerdict() == null ? null : r.usualVerdict().key(),
                r.skippedReason().isEmpty() ? null : r.skippedReason()));
      }
    }
    return verdicts;
  }

  static List<RunRow> read(String file, String csv) {
    CSVFormat format =
        CSVFormat.DEFAULT.builder().setHeader().setSkipHeaderRecord(true).setTrim(true).get();
    List<RunRow> rows = new ArrayList<>();
    try (CSVParser parser = CSVParser.parse(new StringReader(csv), format)) {
      for (String column : NEEDED) {
        if (!parser.getHeaderMap().containsKey(column)) {
          throw new InputException(file, column, "", "is a column that is missing.");
        }
      }
      for (CSVRecord r : parser) {
        rows.add(new RunRow(r.toMap()));
      }
    } catch (IOException | java.io.UncheckedIOException | IllegalArgumentException e) {
      throw new InputException(file, "", "", "is no CSV file: " + e.getMessage());
    }
    return rows;
  }
}
