package dev.meshplan.communication;

import dev.meshplan.units.Basis;

/** How well an algorithm's cost is known: by the constant that its bandwidth or delay stands on. */
final class Footing {
  private Footing() {}

  /** For ranks that one domain or node joins. */
  static Basis inside(Algorithm a, Collective c, Wire w) {
    Basis constant =
        switch (a) {
          case RING_LL -> ring(c, 0, w);
          case RING_LL128 -> ring(c, 1, w);
          case RING_SIMPLE -> ring(c, 2, w);
          case NVLS -> w.constants().basis(LinkParameter.NVLS_SHARE);
          case PAIRWISE -> w.constants().basis(LinkParameter.ALL_TO_ALL_SHARE);
          case DIRECT -> w.constants().basis(LinkParameter.SEND_SHARE);
          case SYMMETRIC -> w.constants().basis(LinkParameter.SYMMETRIC_SHARE);
          case CUSTOM -> w.constants().basis(LinkParameter.CUSTOM_TWO_SHOT_SHARE);
          default -> Basis.ASSUMED;
        };
    return constant.weakest(w.basis());
  }

  /** Nobody has published a broadcast: it borrows the all-gather's constants. */
  private static Basis ring(Collective c, int protocol, Wire w) {
    return c == Collective.BROADCAST ? Basis.ASSUMED : w.basis(c, protocol);
  }

  /** For ranks of several domains. */
  static Basis across(Algorithm a, Collective c, AcrossDomains.Shape s) {
    boolean reduce = c == Collective.ALL_REDUCE;
    NetworkParameter p =
        switch (a) {
          case RING_LL -> NetworkParameter.RING_LL_GBPS;
          case RING_SIMPLE -> reduce ? NetworkParameter.RING_SHARE : NetworkParameter.GATHER_SHARE;
          case TREE_LL -> NetworkParameter.TREE_HOP_US;
          case TREE_SIMPLE -> NetworkParameter.TREE_SHARE;
          case NVLS_TREE -> NetworkParameter.NVLS_TREE_BASE_US;
          case SHARP -> NetworkParameter.SHARP_SHARE;
          case PAIRWISE, PAIRWISE_PXN -> NetworkParameter.ALL_TO_ALL_SHARE;
          case DIRECT -> NetworkParameter.SEND_SHARE;
          default -> null;
        };
    Basis constant = p == null ? Basis.ASSUMED : s.net().basis(p);
    if (s.together() == 1 || c == Collective.SEND_RECV) {
      return constant;
    }
    Basis joined = constant.weakest(s.wire().basis());
    LinkParameter inside =
        switch (a) {
          case NVLS_TREE, SHARP -> LinkParameter.NVLS_SHARE;
          case PAIRWISE_PXN -> LinkParameter.ALL_TO_ALL_SHARE;
          default -> null;
        };
    return inside == null ? joined : joined.weakest(s.wire().constants().basis(inside));
  }
}
