package dev.meshplan.formats;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** The rank map: which GPU each rank is, and its place on each axis. */
final class RanksExporter {
  private RanksExporter() {}

  static final String CSV_NAME = "ranks.csv";

  static Export export(Job job) {
    List<RankMap.Slot> slots = RankMap.of(job);
    return Export.of(
        Format.RANKS,
        List.of(
            new OutputFile(CSV_NAME, csv(slots)), new OutputFile("ranks.json", json(job, slots))),
        List.of(
            "domain and node count up through the cluster in order; the launcher must keep that"
                + " order"));
  }

  private static final List<String> COLUMNS =
      List.of(
          "rank", "pool", "domain", "block", "node", "tray", "gpu", "tp", "cp", "pp", "dp", "ep",
          "etp", "edp");

  private static String row(RankMap.Slot r) {
    int[] values = {
      r.rank(), r.pool(), r.domain(), r.block(), r.node(), r.tray(), r.gpu(),
      r.tp(), r.cp(), r.pp(), r.dp(), r.ep(), r.etp(), r.edp()
    };
    return Arrays.stream(values).mapToObj(String::valueOf).collect(Collectors.joining(","));
  }

  static String csv(List<RankMap.Slot> slots) {
    StringBuilder s = new StringBuilder(String.join(",", COLUMNS)).append('\n');
    slots.forEach(r -> s.append(row(r)).append('\n'));
    return s.toString();
  }

  /** The columns' names once, then a line for each rank. */
  private static String json(Job job, List<RankMap.Slot> slots) {
    StringBuilder s = new StringBuilder("{\n");
    s.append("  \"name\": ").append(Quoting.json(job.name())).append(",\n");
    s.append("  \"model\": ").append(Quoting.json(job.model().id())).append(",\n");
    s.append("  \"system\": ").append(Quoting.json(job.system().id())).append(",\n");
    s.append("  \"rank_order\": ")
        .append(Quoting.json(job.plan().placement().rankOrder()))
        .append(",\n");
    s.append("  \"columns\": [")
        .append(COLUMNS.stream().map(Quoting::json).collect(Collectors.joining(", ")))
        .append("],\n");
    s.append("  \"ranks\": [\n    ");
    s.append(slots.stream().map(r -> "[" + row(r) + "]").collect(Collectors.joining(",\n    ")));
    return s.append("\n  ]\n}\n").toString();
  }
}
