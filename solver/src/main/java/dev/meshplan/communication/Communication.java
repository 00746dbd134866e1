package dev.meshplan.communication;

import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.units.Basis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Prices collectives and messages on one machine. Remembers what it was asked, so an instance
 * belongs to one thread.
 */
public final class Communication {
  private static final Algorithm[] ALGORITHMS = Algorithm.values();
  private static final int COLLECTIVE_BITS = 3;
  private static final int SIZE_BITS = 22;
  private static final int DOMAIN_BITS = 16;
  private static final int NODE_BITS = 11;

  private final Fabric fabric;
  private final Memo memo = new Memo();
  private final double[] candidates = new double[ALGORITHMS.length];

  public Communication(Fabric fabric) {
    this.fabric = fabric;
  }

  public Fabric fabric() {
    return fabric;
  }

  /**
   * Time of a collective with the algorithm that is cheapest among those that the library takes by
   * itself.
   *
   * @param bytes size as nccl-tests reports it: the buffer, for all-gather and reduce-scatter the
   *     full one, for all-to-all what one rank holds for all
   * @return seconds; 0 for a group of one or no bytes
   * @throws NoCostModel when the link or the network has no cost model
   */
  public double seconds(Collective c, double bytes, Group g) {
    if (g.size() == 1 || bytes <= 0) {
      return 0;
    }
    if (!packs(g)) {
      price(c, bytes, g);
      return candidates[best(false)];
    }
    long shape = shape(c, g);
    double known = memo.get(shape, bytes);
    if (Double.isNaN(known)) {
      price(c, bytes, g);
      known = candidates[best(false)];
      memo.put(shape, bytes, known);
    }
    return known;
  }

  /** The same with the algorithm's name, the losers, the basis and the bus bandwidth. */
  public CollectiveCost cost(Collective c, double bytes, Group g) {
    return cost(c, bytes, g, false);
  }

  /**
   * The same for buffers that may be registered.
   *
   * @param registered whether all buffers are registered as symmetric memory
   */
  public CollectiveCost cost(Collective c, double bytes, Group g, boolean registered) {
    if (g.size() == 1 || bytes <= 0) {
      return new CollectiveCost(c, bytes, g.size(), 0, "none", 0, 0, Basis.DERIVED, List.of());
    }
    price(c, bytes, g);
    int together = fabric.together(g);
    Wire wire = fabric.wire(g, together);
    int best = best(registered);
    Basis basis =
        together < g.size()
            ? Footing.across(ALGORITHMS[best], c, across(g, wire, together))
            : Footing.inside(ALGORITHMS[best], c, wire);
    return result(c, bytes, g.size(), basis, registered);
  }

  private CollectiveCost result(
      Collective c, double bytes, int ranks, Basis basis, boolean registered) {
    int best = best(registered);
    double seconds = candidates[best];
    List<CollectiveCost.Other> others = new ArrayList<>();
    for (Algorithm a : ALGORITHMS) {
      double s = candidates[a.ordinal()];
      if (a.ordinal() != best && s < Double.POSITIVE_INFINITY) {
        others.add(
            new CollectiveCost.Other(a.title(), s, a.competes(registered) ? "" : a.condition()));
      }
    }
    others.sort(Comparator.comparingDouble(CollectiveCost.Other::seconds));
    double wire = c.wireBytes(bytes, ranks);
    return new CollectiveCost(
        c, bytes, ranks, seconds, ALGORITHMS[best].title(), wire, wire / seconds, basis, others);
  }

  /**
   * Time with one algorithm forced.
   *
   * @return seconds; infinite when the algorithm doesn't apply to this collective and group
   */
  public double seconds(Collective c, double bytes, Group g, Algorithm forced) {
    if (g.size() == 1 || bytes <= 0) {
      return 0;
    }
    price(c, bytes, g);
    return candidates[forced.ordinal()];
  }

  /**
   * The same for given GPUs, numbered node by node: what joins just these is counted on the
   * topology.
   *
   * @param ranks distinct GPU numbers, in ring order
   */
  public CollectiveCost cost(Collective c, double bytes, int[] ranks, boolean registered) {
    Wire joined = fabric.wire(ranks);
    if (joined != null) {
      Arrays.fill(candidates, Double.POSITIVE_INFINITY);
      InsideDomain.price(candidates, joined, c, bytes, ranks.length);
      Basis basis = Footing.inside(ALGORITHMS[best(registered)], c, joined);
      return result(c, bytes, ranks.length, basis, registered);
    }
    AcrossDomains.Shape placed = bytes > 0 ? fabric.across(ranks) : null;
    if (placed == null) {
      return cost(c, bytes, fabric.shape(ranks), registered);
    }
    Arrays.fill(candidates, Double.POSITIVE_INFINITY);
    AcrossDomains.price(candidates, placed, c, bytes);
    Basis basis = Footing.across(ALGORITHMS[best(registered)], c, placed);
    return result(c, bytes, ranks.length, basis, registered);
  }

  /** Whether the group needs the scale-out network. */
  public boolean crosses(Group g) {
    return fabric.together(g) < g.size();
  }

  /**
   * Time of one message between two ranks, as pipeline stages send it.
   *
   * @param bytes the message
   * @param crossesDomain whether it leaves the scale-up domain
   * @return seconds, every GPU of the node sending at once
   */
  public double sendSeconds(double bytes, boolean crossesDomain) {
    return seconds(Collective.SEND_RECV, bytes, crossesDomain ? Group.of(2, 1) : Group.of(2, 2));
  }

  /**
   * Time to send every token to the ranks of its experts.
   *
   * @return seconds of one rank's exchange
   */
  public double dispatchSeconds(MoeExchange e) {
    return new ExpertExchange(this).dispatch(e);
  }

  /**
   * Time to bring the experts' results back.
   *
   * @return seconds of one rank's exchange
   */
  public double combineSeconds(MoeExchange e) {
    return new ExpertExchange(this).combine(e);
  }

  private void price(Collective c, double bytes, Group g) {
    Arrays.fill(candidates, Double.POSITIVE_INFINITY);
    int together = fabric.together(g);
    Wire wire = fabric.wire(g, together);
    if (together >= g.size()) {
      InsideDomain.price(candidates, wire, c, bytes, g.size());
    } else {
      AcrossDomains.price(candidates, across(g, wire, together), c, bytes);
    }
  }

  AcrossDomains.Shape across(Group g, Wire wire, int together) {
    int domains = (g.size() + together - 1) / together;
    Constants<NetworkParameter> constants = fabric.network(g);
    double nic = fabric.nicBandwidth(g);
    return new AcrossDomains.Shape(
        wire,
        constants,
        g.size(),
        together,
        domains,
        new AcrossDomains.Nics(
            nic * fabric.ringShare(together, domains),
            nic * fabric.exchangeShare(together, domains),
            fabric.detour(together)));
  }

  private int best(boolean registered) {
    int best = -1;
    for (Algorithm a : ALGORITHMS) {
      if (a.competes(registered) && (best < 0 || candidates[a.ordinal()] < candidates[best])) {
        best = a.ordinal();
      }
    }
    return best;
  }

  /** Whether the group's numbers fit into one word of the memo. */
  private static boolean packs(Group g) {
    return g.size() < 1 << SIZE_BITS
        && g.perDomain() < 1 << DOMAIN_BITS
        && g.perNode() < 1 << NODE_BITS
        && g.busy() < 1 << NODE_BITS;
  }

  private static long shape(Collective c, Group g) {
    long s = g.busy();
    s = s << NODE_BITS | g.perNode();
    s = s << DOMAIN_BITS | g.perDomain();
    s = s << SIZE_BITS | g.size();
    return s << COLLECTIVE_BITS | c.ordinal();
  }
}
