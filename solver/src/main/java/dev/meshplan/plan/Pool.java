package dev.meshplan.plan;

import java.util.List;

/**
 * GPUs of one kind that a plan may use.
 *
 * @param system id or file of the system
 * @param network id or file of the network; empty = the system's usual one
 * @param gpus at most so many work
 * @param domains whole domains there are; 0 = as many as {@code gpus} need
 * @param sparesPerDomain GPUs held back in each domain
 * @param healthy healthy GPUs of each domain; empty = all
 * @param blocks block sizes that may be used; empty = any of the system
 * @param cut the operator's cut of each domain; empty = free
 * @param dollarsPerGpuHour price; NaN = the system's offer, else GPU-seconds are counted
 */
public record Pool(
    String system,
    String network,
    int gpus,
    int domains,
    int sparesPerDomain,
    List<Integer> healthy,
    List<Integer> blocks,
    List<Integer> cut,
    double dollarsPerGpuHour) {
  public Pool {
    healthy = List.copyOf(healthy);
    blocks = List.copyOf(blocks);
    cut = List.copyOf(cut);
  }
}
