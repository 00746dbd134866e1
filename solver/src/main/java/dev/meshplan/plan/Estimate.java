package dev.meshplan.plan;

import dev.meshplan.units.Basis;
import java.util.List;

/**
 * What a plan costs.
 *
 * @param stepSeconds one optimizer update
 * @param tokensPerSecond global batch x sequence / step
 * @param tokensPerSecondPerGpu by GPUs used
 * @param mfu model FLOP (recompute not counted) / (dense peak x GPUs used x time)
 * @param peakMemoryBytes device reading of the worst stage
 * @param limitBytes memory share x usable memory
 * @param joulesPerToken energy of the touched GPUs per token; NaN when a power is unknown
 * @param dollarsPerToken price of the touched GPUs per token; NaN when no price is known
 * @param timeTerms parts of the step; exposed seconds add up to stepSeconds
 * @param memoryStages three readings per pipeline rank
 * @param memoryTerms lines of the worst rank
 * @param basis of the weakest part
 * @param errorBand of the step time
 */
public record Estimate(
    double stepSeconds,
    double tokensPerSecond,
    double tokensPerSecondPerGpu,
    double mfu,
    double peakMemoryBytes,
    double limitBytes,
    double joulesPerToken,
    double dollarsPerToken,
    List<TimeTerm> timeTerms,
    List<StageMemory> memoryStages,
    List<MemoryTerm> memoryTerms,
    Basis basis,
    ErrorBand errorBand) {
  public Estimate {
    timeTerms = List.copyOf(timeTerms);
    memoryStages = List.copyOf(memoryStages);
    memoryTerms = List.copyOf(memoryTerms);
  }
}
