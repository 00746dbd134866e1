package dev.meshplan.study;

import dev.meshplan.hardware.Precision;
import dev.meshplan.model.Model;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.CudaGraph;
import dev.meshplan.plan.Dispatcher;
import dev.meshplan.plan.Era;
import dev.meshplan.plan.EraDefaults;
import dev.meshplan.plan.Framework;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.Routing;
import dev.meshplan.plan.Training;
import dev.meshplan.plan.Tuning;

/** The job of a run: its columns, and the defaults of its era where they are empty. */
final class RunTraining {
  /** Tokens of one document in packed fine-tuning data, where nothing is stated. */
  private static final int PACKED_DOCUMENT = 512;

  private static final double ADAM_BYTES = 12;

  private RunTraining() {}

  /**
   * The job of a run.
   *
   * @throws Unpriced when batch or sequence are not given
   */
  static Training of(RunRow row, Model model) throws Unpriced {
    int batch = required(row, "gbs");
    int sequence = required(row, "seq_len");
    Era era = era(row);
    EraDefaults usual = EraDefaults.of(era);
    boolean split = (int) row.number("tp") > 1;
    boolean moe = model.moe();
    boolean switchedOff = row.text("pp_overlap").equals("no") && megatron(era);
    Tuning tuning = tuning(row);
    boolean overlap = switchedOff ? false : usual.ppOverlap();
    return new Training(
        batch,
        sequence,
        0,
        precision(row),
        framework(era),
        era,
        tuning,
        gradients(row, usual),
        ADAM_BYTES,
        dispatcher(row, usual, moe),
        graph(row),
        routing(row, moe),
        split ? moe || row.yes("seq_parallel", usual.sequenceParallel()) : false,
        split && row.yes("tp_overlap", usual.tpOverlap()),
        overlap,
        row.text("pp_overlap").equals("yes") || overlap,
        exchangeOverlaps(row, era, moe),
        CpKind.P2P,
        tuning == Tuning.FULL ? 0 : PACKED_DOCUMENT,
        usual.lossKernel(),
        usual.gradientFusion() && !switchedOff,
        row.assumed());
  }

  static boolean megatron(Era era) {
    return framework(era) == Framework.MEGATRON;
  }

  /** Stated, else as the recipes of the era do when the whole iteration is one graph. */
  private static boolean exchangeOverlaps(RunRow row, Era era, boolean moe) {
    if (moe && !row.has("a2a_overlap")) {
      row.assume("a2a_overlap");
      return era == Era.MEGATRON_2026B && row.text("cuda_graph").equals("full");
    }
    return row.text("a2a_overlap").equals("yes");
  }

  private static Framework framework(Era era) {
    return switch (era) {
      case MEGATRON_2026B, MEGATRON_2026A, MEGATRON_2025, NEMO_2025, NEMO_2024, MEGATRON_2021 ->
          Framework.MEGATRON;
      case TORCH_TE_2025 -> Framework.TORCHTITAN;
      case MEGATRON_DEEPSPEED_2022 -> Framework.DEEPSPEED;
      case TORCH_2025, YAFSDP_2024, TORCH_2023, INTERNEVO_2023, XLA_2024 -> Framework.ANY;
    };
  }

  private static Era era(RunRow row) {
    for (Era e : Era.values()) {
      if (e.key().equals(row.text("era"))) {
        return e;
      }
    }
    row.assume("era");
    return Era.TORCH_2025;
  }

  private static int required(RunRow row, String column) throws Unpriced {
    double v = row.number(column);
    if (!(v >= 1)) {
      throw new Unpriced(column + " not given");
    }
    return (int) Math.round(v);
  }

  private static Precision precision(RunRow row) {
    return switch (row.text("precision")) {
      case "fp16" -> Precision.FP16;
      case "fp8", "fp8-cs", "fp8-ds" -> Precision.FP8;
      case "mxfp8" -> Precision.MXFP8;
      case "nvfp4" -> Precision.NVFP4;
      case "bf16" -> Precision.BF16;
      default -> {
        row.assume("precision");
        yield Precision.BF16;
      }
    };
  }

  private static Tuning tuning(RunRow row) {
    return switch (row.text("tuning")) {
      case "sft" -> Tuning.SFT;
      case "lora" -> Tuning.LORA;
      default -> Tuning.FULL;
    };
  }

  private static GradientType gradients(RunRow row, EraDefaults usual) {
    return switch (row.text("grad_dtype")) {
      case "fp32" -> GradientType.FP32;
      case "bf16" -> GradientType.BF16;
      default -> {
        row.assume("grad_dtype");
        yield usual.gradientType();
      }
    };
  }

  private static Dispatcher dispatcher(RunRow row, EraDefaults usual, boolean moe) {
    switch (row.text("dispatcher")) {
      case "naive":
        return Dispatcher.NAIVE;
      case "dedupe":
        return Dispatcher.DEDUPE;
      default:
        if (moe) {
          row.assume("dispatcher");
        }
        return usual.dispatcher();
    }
  }

  private static CudaGraph graph(RunRow row) {
    return switch (row.text("cuda_graph")) {
      case "partial" -> CudaGraph.PARTIAL;
      case "full" -> CudaGraph.FULL;
      case "none" -> CudaGraph.NONE;
      default -> {
        row.assume("cuda_graph");
        yield CudaGraph.NONE;
      }
    };
  }

  private static Routing routing(RunRow row, boolean moe) {
    return switch (row.text("routing")) {
      case "natural" -> Routing.NATURAL;
      case "drop" -> Routing.DROP;
      case "balanced" -> Routing.BALANCED;
      default -> {
        if (moe) {
          row.assume("routing");
        }
        yield Routing.BALANCED;
      }
    };
  }
}
