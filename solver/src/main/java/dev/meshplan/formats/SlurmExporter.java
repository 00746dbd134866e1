package dev.meshplan.formats;

import dev.meshplan.hardware.SystemSpec;
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
    if (job.machines().size() > 1) {
      return Export.refusal(
          Format.SLURM,
          new Refusal(
              "one batch script asks for one kind of node, this plan stands on "
                  + job.machines().size()
                  + " pools",
              "a Slurm heterogeneous job of one component per pool, with --to ranks"));
    }
    Segments segments = Segments.of(job);
    SystemSpec system = job.system();
    boolean acrossNodes = system.domain().size() > system.gpusPerNode();
    List<String> notes = new ArrayList<>();
    notes.add(
        segments.nodes()
            + " nodes of "
            + system.gpusPerNode()
            + " GPUs"
            + (acrossNodes
                ? " in segments of "
                    + segments.segmentNodes()
                    + " nodes ("
                    + segments.segmentNodes() * system.gpusPerNode()
                    + " GPUs)"
                : ""));
    if (segments.blocksPerSegment() == 2) {
      notes.add(
          "a block of "
              + job.plan().placement().blockGpus()
              + " GPUs ends inside a tray, so a segment holds two blocks; "
              + RanksExporter.CSV_NAME
              + " says which GPU is which rank");
    }
    return Export.of(
        Format.SLURM,
        List.of(
            new OutputFile(SCRIPT, script(job, segments, acrossNodes)),
            new OutputFile(RanksExporter.CSV_NAME, RanksExporter.csv(segments.map()))),
        notes);
  }

  private static String script(Job job, Segments segments, boolean acrossNodes) {
    int perNode = job.gpusPerNode();
    StringBuilder s = new StringBuilder("#!/usr/bin/env bash\n");
    s.append("#SBATCH --job-name=").append(Quoting.slug(job.name())).append('\n');
    s.append("#SBATCH --nodes=").append(segments.nodes()).append('\n');
    s.append("#SBATCH --ntasks-per-node=").append(perNode).append('\n');
    s.append("#SBATCH --gpus-per-node=").append(perNode).append('\n');
    if (acrossNodes) {
      s.append("#SBATCH --segment=").append(segments.segmentNodes()).append('\n');
      s.append("#SBATCH --exclusive=topo\n");
    } else {
      s.append("#SBATCH --exclusive\n");
    }
    s.append(job.comment(Format.SLURM));
    s.append("set -euo pipefail\n\n");
    s.append("HERE=\"${SLURM_SUBMIT_DIR:-$PWD}\"\n");
    s.append("MAP=\"$HERE/").append(RanksExporter.CSV_NAME).append("\"\n");
    if (acrossNodes) {
      s.append("SEGMENT_NODES=").append(segments.segmentNodes()).append('\n');
    }
    s.append('\n');
    s.append("unset ").append(String.join(" ", ShellScript.HARMFUL)).append("\n");
    s.append(acrossNodes ? BY_BLOCK : BY_NAME);
    s.append(
        """
        # One line per rank, in rank order: srun then starts rank r on the host of line r.
        SLURM_HOSTFILE="$(mktemp "${TMPDIR:-/tmp}/ranks.XXXXXX")"
        export SLURM_HOSTFILE MAP
        trap 'rm -f "$SLURM_HOSTFILE"' EXIT
        awk -F, -v hosts="${HOSTS[*]}" \\
          'BEGIN { split(hosts, h, " ") } NR > 1 { print h[$5 + 1] }' "$MAP" > "$SLURM_HOSTFILE"

        MASTER_ADDR="$(head -n 1 "$SLURM_HOSTFILE")"
        export MASTER_ADDR MASTER_PORT="${MASTER_PORT:-29500}"
        WORLD_SIZE="$(wc -l < "$SLURM_HOSTFILE")"
        export WORLD_SIZE

        # shellcheck disable=SC2016
        srun --distribution=arbitrary --ntasks="$WORLD_SIZE" --kill-on-bad-exit=1 bash -c '
          export RANK="$SLURM_PROCID"
          GPU="$(awk -F, -v r="$RANK" "NR > 1 && \\$1 == r { print \\$7; exit }" "$MAP")"
          export LOCAL_RANK="$GPU"
          exec bash "$1" "${@:2}"
        ' rank "${TRAIN:-$HERE/train.sh}" "$@"
        """);
    return s.toString();
  }

  private static final String BY_NAME =
"""

mapfile -t HOSTS < <(scontrol show hostnames "$SLURM_JOB_NODELIST")

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
