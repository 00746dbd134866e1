package dev.meshplan.plan;

import java.util.List;

/**
 * GPUs of a plan.
 *
 * @param gpusPaid every GPU of every touched domain
 * @param gpusUsed GPUs that work
 * @param gpusIdle paid, not working: spare, faulty or left over
 * @param blockGpus size of a block
 * @param domainsUsed touched domains
 * @param pools the same by pool of hardware
 * @param rankOrder axes, fastest first
 */
public record Placement(
    int gpusPaid,
    int gpusUsed,
    int gpusIdle,
    int blockGpus,
    int domainsUsed,
    List<PoolUse> pools,
    String rankOrder) {
  /**
   * One pool's part.
   *
   * @param pool its place in the request's cluster, from 0
   * @param system its id
   */
  public record PoolUse(int pool, String system, int blockGpus, int domainsUsed, int gpusUsed) {}

  public Placement {
    pools = List.copyOf(pools);
  }
}
