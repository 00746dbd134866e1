package dev.meshplan.communication;

/**
 * The shape of a group of ranks on the machine; what a group costs depends on nothing else.
 *
 * @param size ranks
 * @param perDomain ranks of the group in one scale-up domain (the largest share)
 * @param perNode ranks of the group in one node; 0 = as many as {@code perDomain} allows, filling
 *     nodes
 * @param busy GPUs of a node that communicate at once and share its NICs; 0 = all
 */
public record Group(int size, int perDomain, int perNode, int busy) {
  public Group {
    if (size < 1 || perDomain < 1 || perDomain > size || perNode < 0 || busy < 0) {
      throw new IllegalArgumentException(
          "no group: size " + size + ", per domain " + perDomain + ", busy " + busy);
    }
  }

  /** The usual case: every GPU of the node is in such a group at the same time. */
  public static Group of(int size, int perDomain) {
    return new Group(size, Math.min(size, perDomain), 0, 0);
  }

  /** Scale-up domains that the group touches. */
  public int domains() {
    return (size + perDomain - 1) / perDomain;
  }
}
