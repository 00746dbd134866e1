package dev.meshplan.formats;

import dev.meshplan.hardware.Precision;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.CudaGraph;
import dev.meshplan.plan.Era;
import dev.meshplan.plan.EraDefaults;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.Routing;
import dev.meshplan.plan.Training;
import dev.meshplan.plan.Tuning;
import java.util.List;

/** A job of which a configuration says only the batch: the rest is the framework's newest era. */
final class ForeignTraining {
  private ForeignTraining() {}

  static Training of(
      int globalBatch,
      int sequence,
      Precision precision,
      Framework framework,
      GradientType gradientType) {
    Era era = framework == Framework.ANY ? Era.TORCH_2025 : EraDefaults.newest(framework);
    return of(globalBatch, sequence, precision, framework, era, gradientType, Tuning.FULL);
  }

  static Training of(
      int globalBatch,
      int sequence,
      Precision precision,
      Framework framework,
      Era era,
      GradientType gradientType,
      Tuning tuning) {
    EraDefaults d = EraDefaults.of(era);
    return new Training(
        globalBatch,
        sequence,
        0,
        precision,
        framework,
        era,
        tuning,
        gradientType,
        12,
        d.dispatcher(),
        CudaGraph.NONE,
        Routing.NATURAL,
        d.sequenceParallel(),
        d.tpOverlap(),
        d.ppOverlap(),
        d.ppOverlap(),
        false,
        framework == Framework.DEEPSPEED ? CpKind.ALL_TO_ALL : CpKind.ALL_GATHER,
        0,
        d.lossKernel(),
        d.gradientFusion(),
        List.of("era", "dispatcher", "loss_kernel", "dp_overlap", "pp_overlap"));
  }
}
