package dev.meshplan.formats;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The nodes that a job asks a scheduler for, in equal segments that each stay inside one scale-up
 * domain. All sizes here count nodes, not GPUs.
 *
 * @param nodes of the job, a multiple of {@code segmentNodes}
 * @param segmentNodes nodes of one segment
 * @param blocksPerSegment blocks of GPUs in a segment: 2 where a block ends inside a tray
 * @param map ranks on the nodes of the segments, in order
 */
record Segments(int nodes, int segmentNodes, int blocksPerSegment, List<RankMap.Slot> map) {

  static Segments of(Job job) {
    int perNode = job.gpusPerNode();
    int block = job.plan().placement().blockGpus();
    int step = RankMap.working(job, block);
    List<RankMap.Slot> slots = RankMap.of(job);
    if (job.system().domain().size() <= perNode) {
      return nodes(job, slots);
    }
    int blocks = block % perNode == 0 ? 1 : 2;
    int segment = blocks == 2 ? 2 * block / perNode : (step + perNode - 1) / perNode;
    int working = blocks * step;
    int count = (job.gpus() + working - 1) / working;
    List<RankMap.Slot> map = new ArrayList<>();
    for (int r = 0; r < job.gpus(); r++) {
      int in = r % working;
      int gpu = in / step * block + in % step;
      int s = r / working;
      RankMap.Slot at = slots.get(r);
      map.add(
          RankMap.slot(
              job.dims(),
              r,
              at.pool(),
              at.domain(),
              at.block(),
              s * segment + gpu / perNode,
              gpu / perNode,
              gpu % perNode));
    }
    return new Segments(count * segment, segment, blocks, List.copyOf(map));
  }

  /** One node is one segment; nodes without work are not asked for. */
  private static Segments nodes(Job job, List<RankMap.Slot> slots) {
    List<Integer> used = slots.stream().map(RankMap.Slot::node).distinct().sorted().toList();
    List<RankMap.Slot> map = new ArrayList<>();
    for (RankMap.Slot s : slots) {
      int node = Collections.binarySearch(used, s.node());
      map.add(
          RankMap.slot(
              job.dims(), s.rank(), s.pool(), s.domain(), s.block(), node, s.tray(), s.gpu()));
    }
    return new Segments(used.size(), 1, 1, List.copyOf(map));
  }

  /** Nodes with a rank; the last segment may have some without. */
  int working() {
    return (int) map.stream().mapToInt(RankMap.Slot::node).distinct().count();
  }

  /**
   * Processes on every working node when all start equally many, on their first GPUs and in the
   * order of the nodes: then a launcher needs no map. 0 when they do not.
   */
  int perNode() {
    int each = map.size() / working();
    boolean even =
        map.size() == working() * each
            && map.stream()
                .allMatch(s -> s.node() == s.rank() / each && s.gpu() == s.rank() % each);
    return even ? each : 0;
  }
}
