package dev.meshplan.formats;

import dev.meshplan.config.Text;
import java.util.List;

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

  static String csv(List<RankMap.Slot> slots) {
    StringBuilder s = new StringBuilder();
    s.append("rank,pool,domain,block,node,tray,gpu,tp,cp,pp,dp,ep,etp,edp\n");
    for (RankMap.Slot r : slots) {
      int[] values = {
        r.rank(),
        r.pool(),
        r.domain(),
        r.block(),
        r.node(),
        r.tray(),
        r.gpu(),
        r.tp(),
        r.cp(),
        r.pp(),
        r.dp(),
        r.ep(),
        r.etp(),
        r.edp()
      };
      for (int i = 0; i < values.length; i++) {
        s.append(i == 0 ? "" : ",").append(values[i]);
      }
      s.append('\n');
    }
    return s.toString();
  }

  private static String json(Job job, List<RankMap.Slot> slots) {
    record Map(
        String name, String model, String system, String rankOrder, List<RankMap.Slot> ranks) {}
    return Text.json(
        new Map(
            job.name(),
            job.model().id(),
            job.system().id(),
            job.plan().placement().rankOrder(),
            slots));
  }
}
