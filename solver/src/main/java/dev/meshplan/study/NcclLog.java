package dev.meshplan.study;

import dev.meshplan.communication.Collective;
import dev.meshplan.config.InputException;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads what nccl-tests and rccl-tests print, as people paste it: with the command above, headers,
 * lines wrapped by a terminal, prefixes of a launcher, several tests in one log, columns of older
 * versions.
 */
public final class NcclLog {
  private static final Pattern BINARY = Pattern.compile("\\b([a-z_]+)_perf\\b");
  private static final Pattern RANK =
      Pattern.compile("#\\s+Rank\\s+(\\d+)\\s.*?\\bon\\s+(\\S+)\\s+device\\s");
  private static final Pattern START = Pattern.compile("#\\s*nThread\\s.*");
  private static final Pattern LAUNCHED = Pattern.compile("\\s(?:-np|-n|--np)[ =](\\d+)\\b");
  private static final Pattern PER_PROCESS =
      Pattern.compile("(?:\\s-g|\\s--ngpus|nGpus)[ =](\\d+)\\b");
  private static final Pattern PREFIX =
      Pattern.compile("^(?:\\[[^\\]]*\\](?:<\\w+>)?:?|\\d+: )\\s*");
  private static final Pattern ROW =
      Pattern.compile(
          "\\d+\\s+\\d+\\s+(?:u?int\\w*|char|half|float\\w*|double|bfloat16|bf16|fp\\w+|f8\\w+)\\b.*");
  private static final Pattern VALUES = Pattern.compile("(?:[-+.\\deE]+|N/A|nan|inf|none|\\s)+");
  private static final int TWO_SIDES = 8;
  private static final int ONE_SIDE = 4;
  private static final int FULL = 11;
  private static final double ROUNDING = 0.011;
  private static final double SLACK = 0.03;

  private final String file;
  private final List<Test> tests = new ArrayList<>();
  private final Set<String> hosts = new LinkedHashSet<>();
  private String binary = "";
  private int ranks;
  private int launched;
  private int perProcess;
  private List<Row> rows = new ArrayList<>();

  private NcclLog(String file) {
    this.file = file;
  }

  /**
   * One size.
   *
   * @param bytes as printed
   * @param seconds out of place; in place where that is all there is
   * @param busOverAlgorithm bus bandwidth over algorithm bandwidth, which tells the collective
   */
  record Row(double bytes, double seconds, double busOverAlgorithm) {}

  /**
   * One run of one benchmark.
   *
   * @param collective what it measures
   * @param ranks GPUs
   * @param nodes hosts; 1 when the log doesn't say
   */
  public record Test(Collective collective, int ranks, int nodes, List<Row> rows) {
    public Test {
      rows = List.copyOf(rows);
    }
  }

  /**
   * Reads a log.
   *
   * @throws InputException when no test is in it, or a test doesn't say what it measures
   */
  public static List<Test> read(String file, String text) {
    NcclLog log = new NcclLog(file);
    for (String line : unwrapped(text)) {
      log.line(line);
    }
    log.finish();
    if (log.tests.isEmpty()) {
      throw new InputException(
          file,
          "",
          "",
          "holds no line of an nccl-tests or rccl-tests table (size, count, type ...).");
    }
    return log.tests;
  }

  /** A row that a terminal broke goes on in the next line, which is values alone. */
  private static List<String> unwrapped(String text) {
    List<String> lines = new ArrayList<>();
    for (String raw : text.split("\\R")) {
      String line = PREFIX.matcher(raw.strip()).replaceFirst("").strip();
      int last = lines.size() - 1;
      boolean goesOn =
          last >= 0
              && ROW.matcher(lines.get(last)).matches()
              && lines.get(last).split("\\s+").length < FULL
              && !line.isEmpty()
              && !ROW.matcher(line).matches()
              && VALUES.matcher(line).matches();
      if (goesOn) {
        lines.set(last, lines.get(last) + " " + line);
      } else {
        lines.add(line);
      }
    }
    return lines;
  }

  private void line(String line) {
    Matcher rank = RANK.matcher(line);
    if (rank.find()) {
      if (rank.group(1).equals("0") && !rows.isEmpty()) {
        finish();
      }
      ranks = Math.max(ranks, Integer.parseInt(rank.group(1)) + 1);
      hosts.add(rank.group(2));
      return;
    }
    if (ROW.matcher(line).matches()) {
      row(line.split("\\s+"));
      return;
    }
    if (START.matcher(line).matches() && !rows.isEmpty()) {
      finish();
    }
    Matcher name = BINARY.matcher(line);
    if (name.find()) {
      if (!rows.isEmpty()) {
        finish();
      }
      binary = name.group(1);
      launched = number(LAUNCHED, line, launched);
    }
    perProcess = number(PER_PROCESS, line, perProcess);
    if (line.startsWith("# Avg bus bandwidth")) {
      finish();
    }
  }

  private static int number(Pattern p, String line, int otherwise) {
    Matcher m = p.matcher(line);
    return m.find() ? Integer.parseInt(m.group(1)) : otherwise;
  }

  private void row(String[] cells) {
    int last = cells.length;
    int at = last >= FULL ? last - TWO_SIDES : last - ONE_SIDE;
    if (at < 3) {
      throw unreadable(cells);
    }
    double seconds = value(cells[at]);
    double algorithm = value(cells[at + 1]);
    double bus = value(cells[at + 2]);
    if (Double.isNaN(seconds) && last >= FULL) {
      seconds = value(cells[at + ONE_SIDE]);
      algorithm = value(cells[at + ONE_SIDE + 1]);
      bus = value(cells[at + ONE_SIDE + 2]);
    }
    double bytes = Double.parseDouble(cells[0]);
    if (bytes == 0) {
      return;
    }
    double printed = bytes / (seconds * Quantity.MICRO) / Quantity.GIGA;
    if (!(seconds > 0) || Math.abs(printed - algorithm) > ROUNDING + SLACK * printed) {
      throw unreadable(cells);
    }
    rows.add(new Row(bytes, seconds * Quantity.MICRO, bus / algorithm));
  }

  /** Size over time must be the printed bandwidth: else columns ran together or a value is cut. */
  private InputException unreadable(String[] cells) {
    return new InputException(
        file,
        "",
        String.join(" ", cells),
        "can't be read as a row of a table: size over time isn't the printed bandwidth.");
  }

  private static double value(String cell) {
    try {
      return Double.parseDouble(cell);
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }

  private void finish() {
    if (!rows.isEmpty()) {
      Row largest = rows.get(rows.size() - 1);
      Collective c = collective(largest.busOverAlgorithm());
      tests.add(new Test(c, size(c, largest), Math.max(1, hosts.size()), rows));
    }
    rows = new ArrayList<>();
    binary = "";
    ranks = 0;
    hosts.clear();
  }

  private Collective collective(double ratio) {
    return switch (binary) {
      case "all_reduce" -> Collective.ALL_REDUCE;
      case "all_gather" -> Collective.ALL_GATHER;
      case "reduce_scatter" -> Collective.REDUCE_SCATTER;
      case "alltoall", "alltoallv" -> Collective.ALL_TO_ALL;
      case "sendrecv" -> Collective.SEND_RECV;
      case "broadcast" -> Collective.BROADCAST;
      default -> {
        if (binary.isEmpty() && ratio > 1.02) {
          yield Collective.ALL_REDUCE;
        }
        throw new InputException(
            file,
            "",
            binary,
            binary.isEmpty()
                ? "doesn't say which test a table is of: keep the line with its command, such as"
                    + " all_gather_perf."
                : "is no collective that is modelled.");
      }
    };
  }

  private int size(Collective c, Row row) {
    if (ranks > 0) {
      return ranks;
    }
    if (c == Collective.ALL_REDUCE && row.busOverAlgorithm() < 1.99) {
      return (int) Math.round(2 / (2 - row.busOverAlgorithm()));
    }
    if (c != Collective.SEND_RECV && c != Collective.BROADCAST && c != Collective.ALL_REDUCE) {
      return (int) Math.round(1 / (1 - row.busOverAlgorithm()));
    }
    int n = Math.max(1, launched) * Math.max(1, perProcess);
    if (n < 2) {
      throw new InputException(
          file, "", "", "doesn't say how many GPUs took part: keep the lines '#  Rank ...'.");
    }
    return n;
  }
}
