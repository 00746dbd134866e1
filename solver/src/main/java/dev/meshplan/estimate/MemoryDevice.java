package dev.meshplan.estimate;

import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Dispatcher;
import dev.meshplan.plan.Training;
import dev.meshplan.units.Quantity;

/**
 * What a process occupies outside the allocator, and small constants of a job. Sources: NCCL buffer
 * defaults (4 MiB simple, 4.7 MiB LL128 and 0.5 MiB LL per channel and connection, 16 to 24
 * channels) for communicators; the DeepSpeed constant is fitted on one source (176B sweep on A100).
 */
final class MemoryDevice {
  static final double CONTEXT_BYTES = 0.7 * Quantity.GIB;
  private static final double COMMUNICATOR_BYTES = 0.25 * Quantity.GIB;
  private static final double DEEP_EP_BYTES = 2 * Quantity.GIB;
  private static final double DEEPSPEED_BYTES = 10.2 * Quantity.GIB;

  /** Bytes per adapter element. */
  private static final double ADAPTER_WEIGHT = 2;

  private static final double ADAPTER_GRADIENT = 4;
  private static final double ADAPTER_OPTIMIZER = 12;

  private final Model model;
  private final Training training;
  private final MemoryOptions options;
  private final double denseAdapters;
  private final double expertAdapters;
  private final boolean moe;

  MemoryDevice(Model model, Training training, MemoryOptions options) {
    this.model = model;
    this.training = training;
    this.options = options;
    this.moe = model.moe();
    double dense = 0;
    double expert = 0;
    for (LayerKind kind : model.distinctKinds()) {
      dense = Math.max(dense, options.adapters().dense(model, kind));
      expert = Math.max(expert, options.adapters().experts(model, kind));
    }
    denseAdapters = dense;
    expertAdapters = expert;
  }

  /** Weights, gradients and optimizer states of the adapters of one layer, bytes per GPU. */
  double adapterBytes(Dims d, MemoryProfile p, double shards) {
    double elements = denseAdapters / d.tp() + expertAdapters / ((double) d.ep() * d.etp());
    return elements
        * (ADAPTER_WEIGHT / (p.shardWeights() ? shards : 1)
            + ADAPTER_GRADIENT / (p.shardGradients() ? shards : 1)
            + ADAPTER_OPTIMIZER / (p.shardOptimizer() ? shards : 1));
  }

  /** Forward chunks beyond the usual warm-up where expert exchange hides behind other chunks. */
  int extraChunks(Dims d) {
    return training.a2aOverlap() && moe && d.ep() > 1 ? 1 : 0;
  }

  /** Buffers of communicators and of libraries that bring their own, bytes per GPU. */
  double communicationBytes(Dims d, double tokens) {
    int communicators =
        (d.gpus() > 1 ? 1 : 0)
            + ((long) d.dp() * d.cp() > 1 ? 1 : 0)
            + (d.tp() > 1 ? 1 : 0)
            + (d.cp() > 1 ? 1 : 0)
            + (d.ep() > 1 ? 1 : 0)
            + (d.pp() > 1 ? 2 : 0)
            + options.nvlsCommunicators();
    double bytes = communicators * COMMUNICATOR_BYTES;
    if (training.tpOverlap() && d.tp() > 1 && options.transformerEngine()) {
      bytes += 8 * tokens * model.hidden();
    }
    if (moe && d.ep() > 1 && training.dispatcher() == Dispatcher.DEDUPE) {
      bytes += DEEP_EP_BYTES;
    }
    return bytes;
  }

  /** What a DeepSpeed process is measured to hold beyond all that, bytes per GPU. */
  double unexplainedBytes(MemoryProfile profile, double slack, double communication) {
    return profile.style() == MemoryProfile.Style.DEEPSPEED
        ? Math.max(0, DEEPSPEED_BYTES - slack - CONTEXT_BYTES - communication)
        : 0;
  }
}
