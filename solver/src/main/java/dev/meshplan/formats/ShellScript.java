package dev.meshplan.formats;

import java.util.List;
import java.util.Map;

/** Pieces of the shell scripts that exporters write. */
final class ShellScript {
  /** Variables that switch off peer-to-peer or shared memory; a launch must not inherit them. */
  static final List<String> HARMFUL =
      List.of(
          "NCCL_P2P_LEVEL",
          "NCCL_P2P_DISABLE",
          "NCCL_SHM_DISABLE",
          "NCCL_IB_DISABLE",
          "NCCL_NVLS_ENABLE",
          "NCCL_ALGO",
          "NCCL_PROTO");

  private ShellScript() {}

  static String start(String comment) {
    return "#!/usr/bin/env bash\n" + comment + "set -euo pipefail\n\n";
  }

  static String environment(Map<String, String> env) {
    StringBuilder s = new StringBuilder();
    s.append("# Left-over settings of other jobs slow or break collectives.\n");
    s.append("unset ").append(String.join(" ", HARMFUL)).append('\n');
    env.forEach(
        (k, v) -> s.append("export ").append(k).append('=').append(Quoting.shell(v)).append('\n'));
    return s.append('\n').toString();
  }

  /** A bash array with one flag a line. */
  static String array(String name, List<Argument> arguments) {
    StringBuilder s = new StringBuilder(name).append("=(\n");
    for (Argument a : arguments) {
      s.append("  ").append(a.flag());
      a.values().forEach(v -> s.append(' ').append(Quoting.shell(v)));
      s.append('\n');
    }
    return s.append(")\n\n").toString();
  }

  /**
   * Starts one process per GPU: under a launcher that has set RANK, or with torchrun where its
   * order of ranks is the plan's.
   */
  static String launch(Job job, String program, String arguments) {
    Segments segments = Segments.of(job);
    int gpus = job.gpusPerNode();
    int perSocket = job.system().host().grace() ? 2 : Math.max(1, gpus / 2);
    String otherwise =
        segments.perNode() == 0
            ? """
              echo "Start me by job.sbatch: only the GPUs of its ranks.csv work." >&2
              exit 1
            """
            : """
              LAUNCH=(torchrun
                --nproc-per-node=%d
                --nnodes="${NNODES:-%d}"
                --node-rank="${NODE_RANK:-0}"
                --master-addr="${MASTER_ADDR:-127.0.0.1}"
                --master-port="${MASTER_PORT:-29500}")
            """
                .formatted(segments.perNode(), segments.working());
    return """
    if [[ -n "${RANK:-}" && -n "${WORLD_SIZE:-}" ]]; then
      LAUNCH=(python)
      if command -v numactl >/dev/null && [[ -n "${LOCAL_RANK:-}" ]]; then
        SOCKET=$((LOCAL_RANK / %d))
        LAUNCH=(numactl --cpunodebind="$SOCKET" --membind="$SOCKET" python)
      fi
    else
    %sfi
    exec "${LAUNCH[@]}" %s %s "$@"
    """
        .formatted(perSocket, otherwise, program, arguments);
  }
}
