package dev.meshplan.formats;

/** All exporters by format. */
public final class Exporters {
  private Exporters() {}

  /**
   * A plan in a foreign format, or the reason why it can't be expressed there.
   *
   * @param microOnly DeepSpeed only: leave train_batch_size out
   */
  public static Export export(Format format, Job job, boolean microOnly) {
    return switch (format) {
      case MEGATRON -> MegatronExporter.export(job);
      case MEGATRON_BRIDGE -> MegatronBridgeExporter.export(job);
      case DEEPSPEED -> DeepSpeedExporter.export(job, microOnly);
      case TORCHTITAN -> TorchTitanExporter.export(job);
      case ACCELERATE -> AccelerateExporter.export(job);
      case SLURM -> SlurmExporter.export(job);
      case SLURM_TOPOLOGY -> SlurmTopologyExporter.export(job);
      case KUBERNETES -> KubernetesExporter.export(job);
      case RANKS -> RanksExporter.export(job);
    };
  }

  /**
   * The refusal of a plan by every format that launches its framework; null when one holds it.
   * Costs little for Megatron-LM: nothing is written to find out.
   */
  public static Export refused(Job job) {
    return switch (job.training().framework()) {
      case MEGATRON -> MegatronBridgeExporter.refused(job);
      case DEEPSPEED -> refused(DeepSpeedExporter.export(job, false));
      case TORCHTITAN -> refused(TorchTitanExporter.export(job));
      case ANY -> null;
    };
  }

  private static Export refused(Export e) {
    return e.ok() ? null : e;
  }
}
