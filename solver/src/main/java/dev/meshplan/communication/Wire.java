package dev.meshplan.communication;

import static dev.meshplan.communication.LinkParameter.ALL_GATHER_LL_BASE_US;
import static dev.meshplan.communication.LinkParameter.ALL_REDUCE_LL_BASE_US;
import static dev.meshplan.communication.LinkParameter.REDUCE_SCATTER_LL_BASE_US;

import dev.meshplan.units.Basis;
import dev.meshplan.units.Quantity;

/**
 * What joins a number of ranks inside a domain or node: constants and the bandwidth that is left to
 * each of them once contention is counted.
 *
 * @param constants row of constants
 * @param rates bandwidths by pattern
 * @param nvls ranks from which the switch reduces; 0 = never
 * @param basis how well the bandwidth is known
 */
record Wire(Constants<LinkParameter> constants, Rates rates, int nvls, Basis basis) {
  private static final int PROTOCOL = 3;

  /**
   * Bytes per second that one rank sends, one way, in each pattern; no efficiency.
   *
   * @param ring rings through all ranks
   * @param exchange all with all
   * @param neighbour each rank to the next
   * @param whole all links of a GPU, whoever uses them: what copies inside it are measured by
   */
  record Rates(double ring, double exchange, double neighbour, double whole) {
    /** A switch: every pattern gets all of it. */
    static Rates even(double bytesPerSecond) {
      return new Rates(bytesPerSecond, bytesPerSecond, bytesPerSecond, bytesPerSecond);
    }

    /** The worse of two groups in every pattern. */
    Rates worst(Rates o) {
      return new Rates(
          Math.min(ring, o.ring),
          Math.min(exchange, o.exchange),
          Math.min(neighbour, o.neighbour),
          Math.min(whole, o.whole));
    }
  }

  double bandwidth() {
    return rates.ring;
  }

  /** Microsecond parameter in seconds. */
  double seconds(LinkParameter p) {
    return constants.get(p) * Quantity.MICRO;
  }

  /** Share parameter as bytes per second of a ring. */
  double rate(LinkParameter p) {
    return constants.get(p) * rates.ring;
  }

  /** Share parameter as bytes per second of an exchange of all with all. */
  double exchangeRate(LinkParameter p) {
    return constants.get(p) * rates.exchange;
  }

  /** Share parameter as bytes per second from one rank to the next. */
  double neighbourRate(LinkParameter p) {
    return constants.get(p) * rates.neighbour;
  }

  /** Share parameter as bytes per second of a copy inside a GPU. */
  double copyRate(LinkParameter p) {
    return constants.get(p) * rates.whole;
  }

  /**
   * Ring protocol number 0 (LL), 1 (LL128) or 2 (Simple).
   *
   * @param steps neighbour steps
   * @param wireBytes bytes that one rank sends
   * @return seconds
   */
  double ring(Collective c, int protocol, int steps, double wireBytes) {
    int at = first(c).ordinal() + PROTOCOL * protocol;
    LinkParameter[] all = ALL;
    return (constants.get(all[at]) + constants.get(all[at + 1]) * steps) * Quantity.MICRO
        + wireBytes / (constants.get(all[at + 2]) * rates.ring);
  }

  /** Start of a ring protocol without any step, seconds. */
  double base(Collective c, int protocol) {
    return constants.get(ALL[first(c).ordinal() + PROTOCOL * protocol]) * Quantity.MICRO;
  }

  /** One step of a ring protocol, seconds. */
  double step(Collective c, int protocol) {
    return constants.get(ALL[first(c).ordinal() + PROTOCOL * protocol + 1]) * Quantity.MICRO;
  }

  /** How well a ring protocol's bandwidth is known. */
  Basis basis(Collective c, int protocol) {
    return constants.basis(ALL[first(c).ordinal() + PROTOCOL * protocol + 2]);
  }

  private static final LinkParameter[] ALL = LinkParameter.values();

  private static LinkParameter first(Collective c) {
    return switch (c) {
      case ALL_REDUCE -> ALL_REDUCE_LL_BASE_US;
      case REDUCE_SCATTER -> REDUCE_SCATTER_LL_BASE_US;
      default -> ALL_GATHER_LL_BASE_US;
    };
  }
}
