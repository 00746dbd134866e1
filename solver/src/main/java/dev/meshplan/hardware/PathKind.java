package dev.meshplan.hardware;

import dev.meshplan.config.Keyed;

/** How two GPUs of a node are joined, nearest first: the words of {@code nvidia-smi topo -m}. */
public enum PathKind implements Keyed {
  /** The same GPU. */
  SELF("one GPU"),
  /** A direct link, or a switch of such links. */
  NVL("ideal: direct scale-up links"),
  /** One PCIe switch. */
  PIX("workable: one PCIe switch"),
  /** Several PCIe switches, no CPU. */
  PXB("workable: several PCIe switches, a little more delay"),
  /** Through the CPU's root complex. */
  PHB("shares the CPU's root complex"),
  /** Between root complexes of one socket. */
  NODE("slower: between root complexes of one socket"),
  /** Between sockets. */
  SYS("avoid for tensor parallelism: between sockets"),
  /** Over the scale-out network. */
  NET("over the scale-out network");

  private final String verdict;

  PathKind(String verdict) {
    this.verdict = verdict;
  }

  /** What the path is good for, in words. */
  public String verdict() {
    return verdict;
  }
}
