package dev.meshplan.communication;

import dev.meshplan.units.Basis;
import java.util.List;

/**
 * What one collective costs.
 *
 * @param collective what is done
 * @param bytes size as nccl-tests reports it
 * @param ranks ranks of the group
 * @param seconds the cheapest algorithm's time
 * @param algorithm its name
 * @param wireBytes bytes that one rank sends
 * @param busBandwidth wire bytes per second: what nccl-tests prints as busbw
 * @param basis how well the constants are known
 * @param others the algorithms that lost, cheapest first
 */
public record CollectiveCost(
    Collective collective,
    double bytes,
    int ranks,
    double seconds,
    String algorithm,
    double wireBytes,
    double busBandwidth,
    Basis basis,
    List<Other> others) {

  /**
   * An algorithm that was not taken.
   *
   * @param condition why the library doesn't take it by itself; empty = it is just slower
   */
  public record Other(String algorithm, double seconds, String condition) {}
}
