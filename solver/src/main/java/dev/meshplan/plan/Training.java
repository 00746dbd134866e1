package dev.meshplan.plan;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Precision;
import java.util.List;

/**
 * The job. Every field has a value; {@code assumed} names those that the request left out.
 *
 * @param globalBatch sequences per step
 * @param sequence tokens per sequence
 * @param tokens tokens of the whole training; 0 = not stated
 * @param precision of the GEMMs
 * @param framework whose rules hold
 * @param era whose software runs
 * @param tuning full, sft or lora
 * @param gradientType of accumulated and reduced gradients
 * @param optimizerBytes bytes per parameter of master weights and moments (12 = fp32 Adam)
 * @param dispatcher of expert tokens
 * @param cudaGraph how much is replayed
 * @param routing balance of the router
 * @param sequenceParallel norms and residuals split over TP
 * @param tpOverlap TP collectives hidden in GEMMs
 * @param dpOverlap gradient and weight traffic hidden behind compute
 * @param ppOverlap pipeline sends hidden
 * @param a2aOverlap expert exchange hidden
 * @param cpKind kind of context parallelism
 * @param documentTokens attention span of packed documents; 0 = the sequence
 * @param lossKernel cross entropy
 * @param gradientFusion weight gradients accumulated inside the GEMM
 * @param assumed keys that the request left out
 */
public record Training(
    int globalBatch,
    int sequence,
    double tokens,
    Precision precision,
    Framework framework,
    Era era,
    Tuning tuning,
    @JsonProperty("grad_dtype") GradientType gradientType,
    double optimizerBytes,
    Dispatcher dispatcher,
    CudaGraph cudaGraph,
    Routing routing,
    boolean sequenceParallel,
    boolean tpOverlap,
    boolean dpOverlap,
    boolean ppOverlap,
    boolean a2aOverlap,
    CpKind cpKind,
    int documentTokens,
    LossKernel lossKernel,
    boolean gradientFusion,
    List<String> assumed) {
  public Training {
    assumed = List.copyOf(assumed);
  }

  /** The same job with other assumed keys. */
  public Training withAssumed(List<String> keys) {
    return with(globalBatch, precision, framework, keys);
  }

  /** The same job in another precision. */
  public Training withPrecision(Precision other) {
    return with(globalBatch, other, framework, assumed);
  }

  /** The same job under another framework's rules. */
  public Training withFramework(Framework other) {
    return with(globalBatch, precision, other, assumed);
  }

  /** The same job with another number of sequences per step. */
  public Training withGlobalBatch(int other) {
    return with(other, precision, framework, assumed);
  }

  private Training with(int batch, Precision other, Framework rules, List<String> keys) {
    return new Training(
        batch,
        sequence,
        tokens,
        other,
        rules,
        era,
        tuning,
        gradientType,
        optimizerBytes,
        dispatcher,
        cudaGraph,
        routing,
        sequenceParallel,
        tpOverlap,
        dpOverlap,
        ppOverlap,
        a2aOverlap,
        cpKind,
        documentTokens,
        lossKernel,
        gradientFusion,
        keys);
  }

  /**
   * Attention runs on separate kernels that store the scores: before 2023, and in Transformer
   * Engine on GPUs before Ampere, for which it has no fused kernel.
   */
  public boolean unfusedAttention(Gpu gpu) {
    return era == Era.MEGATRON_2021
        || era == Era.MEGATRON_DEEPSPEED_2022
        || (framework == Framework.MEGATRON && gpu.architecture().beforeAmpere());
  }
}
