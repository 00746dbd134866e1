package dev.meshplan.communication;

import dev.meshplan.hardware.Link;
import dev.meshplan.units.Quantity;

/**
 * The back-of-an-envelope profile: nominal bandwidth, one delay per message, no efficiencies.
 *
 * <p>The textbook form has a delay for each of the 2 (n - 1) steps of a ring; its worked tables put
 * one delay on each message instead, and those are reproduced here.
 */
public final class SeedProfile {
  /** Delay of one all-reduce message over NVLink and NVSwitch, seconds. */
  public static final double SWITCHED_DELAY_SECONDS = 8 * Quantity.MICRO;

  /** Delay of one all-reduce message over PCIe or a network, seconds. */
  public static final double ELSEWHERE_DELAY_SECONDS = 30 * Quantity.MICRO;

  private static final double SIDE = 0.2;

  private SeedProfile() {}

  /** What bounds an exchange. */
  public enum Limit implements dev.meshplan.config.Keyed {
    DELAY,
    BOTH,
    BANDWIDTH
  }

  /**
   * Messages over one link.
   *
   * @param messages number of messages
   * @param sentBytes bytes that one rank sends in all of them
   * @param bandwidthSeconds part that the bandwidth causes
   * @param delaySeconds part that the delays cause
   */
  public record Cost(
      double messages, double sentBytes, double bandwidthSeconds, double delaySeconds) {

    public double seconds() {
      return bandwidthSeconds + delaySeconds;
    }

    /** Which part has more than four fifths; both when none has. */
    public Limit limit() {
      double share = bandwidthSeconds / seconds();
      return share < SIDE ? Limit.DELAY : share > 1 - SIDE ? Limit.BANDWIDTH : Limit.BOTH;
    }
  }

  /**
   * All-reduce messages in a ring.
   *
   * @param messages how many
   * @param messageBytes size of one
   * @param ranks of the ring
   * @param bytesPerSecond nominal bandwidth of one rank, one way
   * @param delaySeconds of one message
   */
  public static Cost allReduce(
      double messages, double messageBytes, int ranks, double bytesPerSecond, double delaySeconds) {
    double sent = messages * Collective.ALL_REDUCE.wireBytes(messageBytes, ranks);
    return new Cost(messages, sent, sent / bytesPerSecond, messages * delaySeconds);
  }

  /**
   * An expert exchange there and back in every MoE layer, without delays.
   *
   * @param layers MoE layers
   * @param e one layer's exchange; every copy counts, the share that stays on the rank doesn't
   * @param bytesPerSecond nominal bandwidth of one rank, one way
   */
  public static Cost expertExchange(int layers, MoeExchange e, double bytesPerSecond) {
    double sent =
        2.0 * layers * e.tokenBytes() * e.topK() * (e.ranks() - 1) / e.ranks() * e.imbalance();
    return new Cost(2.0 * layers, sent, sent / bytesPerSecond, 0);
  }

  /** Delay of one message over a kind of link, seconds. */
  public static double delaySeconds(Link link) {
    return link.nvlink() ? SWITCHED_DELAY_SECONDS : ELSEWHERE_DELAY_SECONDS;
  }
}
