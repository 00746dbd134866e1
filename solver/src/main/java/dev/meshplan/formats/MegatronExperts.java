package dev.meshplan.formats;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Dispatcher;
import dev.meshplan.plan.Routing;
import dev.meshplan.plan.Training;
import java.util.List;
import java.util.Set;

/** Router and dispatcher flags of Megatron-LM. */
final class MegatronExperts {
  /** EP sizes that DeepEP's normal kernels are built for. Source: its maintainers' answers. */
  static final Set<Integer> DEEPEP_SIZES = Set.of(2, 4, 8, 16, 32, 64, 144, 160);

  private final Job job;
  private final Dims d;
  private final Training t;
  private final List<String> notes;

  MegatronExperts(Job job, List<String> notes) {
    this.job = job;
    this.d = job.dims();
    this.t = job.training();
    this.notes = notes;
  }

  void add(Argument.Builder b) {
    boolean grouped = !job.gpu().architecture().beforeAmpere();
    b.addIf(grouped, "--moe-grouped-gemm");
    if (!grouped) {
      notes.add(
          "grouped GEMMs need compute capability 8.0: the experts run one after the other, slower"
              + " than the plan says");
    }
    b.add("--moe-router-dtype", "fp32");
    String backend = backend();
    if (backend.isEmpty()) {
      b.add("--moe-token-dispatcher-type", "alltoall");
    } else {
      b.add("--moe-token-dispatcher-type", "flex");
      b.add("--moe-flex-dispatcher-backend", backend);
    }
    b.addIf(t.routing() == Routing.DROP, "--moe-expert-capacity-factor", "1.0");
    if (t.routing() == Routing.BALANCED && !t.assumed().contains("routing")) {
      b.add("--moe-router-force-load-balancing");
      notes.add(
          "--moe-router-force-load-balancing was asked for (routing: balanced); it measures speed"
              + " and trains nothing");
      return;
    }
    b.add("--moe-router-load-balancing-type", "aux_loss");
    b.add("--moe-aux-loss-coeff", "1e-3");
    if (t.routing() == Routing.BALANCED) {
      notes.add(
          "the plan assumes balanced experts; a router in training comes near them, not at once");
    }
  }

  /** The dispatcher follows the scale-up domain: DeepEP's kernels assume 8-GPU nodes. */
  String backend() {
    int group = d.ep() * d.etp();
    if (t.dispatcher() != Dispatcher.DEDUPE || group == 1 || !job.gpu().architecture().nvidia()) {
      return "";
    }
    if (job.gpu().architecture().blackwell() || job.system().domain().size() > 8) {
      return "hybridep";
    }
    if (job.gpu().architecture() == Gpu.Architecture.HOPPER
        && DEEPEP_SIZES.contains(group)
        && job.gpusPerNode() == 8
        && t.routing() != Routing.DROP) {
      return "deepep";
    }
    notes.add("DeepEP has no kernels for EP " + group + " here; plain all-to-all is written");
    return "";
  }
}
