package dev.meshplan.study;

import dev.meshplan.communication.Communication;
import dev.meshplan.communication.Group;
import dev.meshplan.communication.MoeExchange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** What it takes to send tokens to their experts, or back, by every way of doing it. */
public final class ExpertTraffic {
  /** FP8 travels with a 4-byte scale for every 128 elements. */
  private static final double FP8 = 1 + 4.0 / 128;

  private ExpertTraffic() {}

  /**
   * What is exchanged.
   *
   * @param dispatch to the experts; false = back from them
   * @param tokens that one rank holds
   * @param hidden elements of a token
   * @param topK experts of a token
   * @param fp8 whether tokens travel in FP8 with scales; else 16 bit
   * @param imbalance busiest rank's load over the mean, at least 1
   * @param groupLimit domains that one token may reach; 0 = no limit
   */
  public record Tokens(
      boolean dispatch,
      double tokens,
      double hidden,
      int topK,
      boolean fp8,
      double imbalance,
      int groupLimit) {}

  /**
   * One way.
   *
   * @param countedBytes what published bandwidths of such kernels count, of one rank
   * @param bandwidth counted bytes per second
   */
  public record Line(
      MoeExchange.Dispatcher dispatcher, double seconds, double countedBytes, double bandwidth) {}

  /** All ways, the cheapest first. */
  public static List<Line> of(Communication c, Group g, Tokens t) {
    List<Line> lines = new ArrayList<>();
    for (MoeExchange.Dispatcher d : MoeExchange.Dispatcher.values()) {
      MoeExchange e =
          new MoeExchange(
              t.tokens(),
              t.hidden(),
              t.topK(),
              g.size(),
              g.perDomain(),
              t.fp8() ? FP8 : 2,
              t.groupLimit(),
              d,
              t.imbalance());
      double seconds = t.dispatch() ? c.dispatchSeconds(e) : c.combineSeconds(e);
      double bytes = e.countedBytes();
      lines.add(new Line(d, seconds, bytes, seconds > 0 ? bytes / seconds : 0));
    }
    lines.sort(Comparator.comparingDouble(Line::seconds));
    return lines;
  }
}
