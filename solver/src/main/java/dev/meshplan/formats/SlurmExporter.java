package dev.meshplan.formats;

import java.util.ArrayList;
import java.util.List;

/**
 * Writes the Slurm batch script of a plan: segments of whole nodes inside a domain, and ranks that
 * follow racks whatever the hosts are called.
 */
final class SlurmExporter {
  static final String SCRIPT = "job.sbatch";

  private SlurmExporter() {}

  static Export export(Job job) {
    int pools = job.plan().placement().pools().size();
    if (pools > 1) {
      return Export.refusal(
          Format.SLURM,
          new Refusal(
              "one batch script asks for one kind of node, this plan stands on " + pools + " pools",
              "a Slurm heterogeneous job of one component per pool, with --to ranks"));
    }
    Segments segments = Segments.of(job);
    int gpus = job.gpusPerNode();
    boolean acrossNodes = job.system().domain().size() > gpus;
    boolean mapped = segments.perNode() == 0;
    List<String> notes = new ArrayList<>();
    notes.add(
        segments.nodes()
            + " nodes of "
            + gpus
            + " GPUs"
            + (acrossNodes
                ? " in segments of "
                    + segments.segmentNodes()
                    + " nodes ("
                    + segments.segmentNodes() * gpus
                    + " GPUs)"
                : ""));
    if (mapped) {
      notes.add("not every GPU of a node works: " + RanksExporter.CSV_NAME + " says which");
    }
    if (segments.blocksPerSegment() == 2) {
      notes.add(
          "a block of "
              + job.plan().placement().blockGpus()
              + " GPUs ends inside a tray, so a segment holds two blocks");
    }
    List<OutputFile> files = new ArrayList<>();
    files.add(new OutputFile(SCRIPT, script(job, segments, acrossNodes, notes)));
    if (mapped) {
      files.add(new OutputFile(RanksExporter.CSV_NAME, RanksExporter.csv(segments.map())));
    }
    return Export.of(Format.SLURM, files, notes);
  }

  private static String script(
      Job job, Segments segments, boolean acrossNodes, List<String> notes) {
    int perNode = segments.perNode() > 0 ? segments.perNode() : job.gpusPerNode();
    StringBuilder s = new StringBuilder("#!/usr/bin/env bash\n");
    s.append("#SBATCH --job-name=").append(Quoting.slug(job.name())).append('\n');
    s.append("#SBATCH --nodes=").append(segments.nodes()).append('\n');
    s.append("#SBATCH --ntasks-per-node=").append(perNode).append('\n');
    s.append("#SBATCH --gpus-per-node=").append(job.gpusPerNode()).append('\n');
    s.append("#SBATCH --mem=0\n");
    if (acrossNodes) {
      s.append("#SBATCH --segment=").append(segments.segmentNodes()).append('\n');
      s.append("#SBATCH --exclusive=topo\n");
    } else {
      s.append("#SBATCH --exclusive\n");
    }
    s.append(job.comment(Format.SLURM, notes));
    s.append("set -euo pipefail\n\n");
    s.append("HERE=\"${SLURM_SUBMIT_DIR:-$PWD}\"\n");
    s.append("unset ").append(String.join(" ", ShellScript.HARMFUL)).append("\n\n");
    if (acrossNodes) {
      s.append("SEGMENT_NODES=").append(segments.segmentNodes()).append('\n').append(BY_BLOCK);
    } else {
      s.append(BY_NAME);
    }
    s.append(
        """
        MASTER_ADDR="${HOSTS[0]}"
        export MASTER_ADDR MASTER_PORT="${MASTER_PORT:-29500}"

        """);
    boolean listed = acrossNodes || segments.perNode() == 0;
    if (listed) {
      s.append(
          """
          # One line per rank, in rank order: srun then starts rank r on the host of line r.
          SLURM_HOSTFILE="$(mktemp "${TMPDIR:-/tmp}/ranks.XXXXXX")"
          export SLURM_HOSTFILE
          trap 'rm -f "$SLURM_HOSTFILE"' EXIT
          """);
      s.append(
          segments.perNode() == 0
              ? HOST_OF_EACH_RANK
              : EACH_HOST.formatted(segments.working(), perNode));
    }
    String local =
        segments.perNode() == 0
            ? "\"$(awk -F, -v r=\"$RANK\" \"NR > 1 && \\$1 == r { print \\$7; exit }\" \"$MAP\")\""
            : "\"$((RANK % " + perNode + "))\"";
    s.append(
        """
        # shellcheck disable=SC2016
        srun --distribution=%s --ntasks=%d --cpu-bind=none --kill-on-bad-exit=1 bash -c '
          export RANK="$SLURM_PROCID" WORLD_SIZE="$SLURM_NTASKS"
          LOCAL_RANK=%s
          export LOCAL_RANK
          exec bash "$@"
        ' rank "${TRAIN:-$HERE/train.sh}" "$@"
        """
            .formatted(listed ? "arbitrary" : "block", segments.map().size(), local));
    return s.toString();
  }

  private static final String BY_NAME =
"""
mapfile -t HOSTS < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
""";

  private static final String EACH_HOST =
"""
for HOST in "${HOSTS[@]:0:%d}"; do
  for ((g = 0; g < %d; g++)); do echo "$HOST"; done
done > "$SLURM_HOSTFILE"

""";

  private static final String HOST_OF_EACH_RANK =
"""
export MAP="$HERE/ranks.csv"
awk -F, -v hosts="${HOSTS[*]}" \\
  'BEGIN { split(hosts, h, " ") } NR > 1 { print h[$5 + 1] }' "$MAP" > "$SLURM_HOSTFILE"

""";

  /** Slurm sorts hosts by name; what counts is which block (rack) a host is in. */
  private static final String BY_BLOCK =
"""
# Order the hosts by block (rack), not by name, and check that no segment leaves its block.
mapfile -t GRANTED < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
HOSTS=()
BLOCKS=()
while read -r NAME NODES; do
  while read -r HOST; do
    for G in "${GRANTED[@]}"; do
      if [[ "$G" == "$HOST" ]]; then
        HOSTS+=("$HOST")
        BLOCKS+=("$NAME")
      fi
    done
  done < <(scontrol show hostnames "$NODES")
done < <(scontrol show topology | awk '
  /^BlockName=/ {
    name = ""; nodes = ""
    for (i = 1; i <= NF; i++) {
      if ($i ~ /^BlockName=/) name = substr($i, 11)
      if ($i ~ /^Nodes=/) nodes = substr($i, 7)
    }
    print name, nodes
  }')
if [[ "${#HOSTS[@]}" -ne "${#GRANTED[@]}" ]]; then
  echo "The topology names ${#HOSTS[@]} of the ${#GRANTED[@]} granted nodes." >&2
  exit 1
fi
for ((i = 0; i < ${#HOSTS[@]}; i++)); do
  FIRST=$((i / SEGMENT_NODES * SEGMENT_NODES))
  if [[ "${BLOCKS[i]}" != "${BLOCKS[FIRST]}" ]]; then
    echo "Segment $((i / SEGMENT_NODES)) spans ${BLOCKS[FIRST]} and ${BLOCKS[i]}." >&2
    exit 1
  fi
done

""";
}
