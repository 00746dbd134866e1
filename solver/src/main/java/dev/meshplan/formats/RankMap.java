package dev.meshplan.formats;

import dev.meshplan.config.InputException;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.plan.Blocks;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Placement;
import java.util.ArrayList;
import java.util.List;

/**
 * Which GPU each rank is: blocks are cut from a domain's healthy GPUs in order, the first GPUs of a
 * block work, ranks count up through blocks, domains and pools.
 */
public final class RankMap {
  private RankMap() {}

  /**
   * One rank.
   *
   * @param rank global rank
   * @param pool its pool's place in the request's cluster
   * @param domain scale-up domain (a rack on NVL72), counted over the pools in use
   * @param block block inside the domain
   * @param node node, counted over all domains in use
   * @param tray node inside its domain
   * @param gpu GPU inside its node
   * @param tp place on the tensor axis; likewise the others
   */
  public record Slot(
      int rank,
      int pool,
      int domain,
      int block,
      int node,
      int tray,
      int gpu,
      int tp,
      int cp,
      int pp,
      int dp,
      int ep,
      int etp,
      int edp) {}

  /** Every rank, in order. */
  public static List<Slot> of(Job job) {
    List<Slot> slots = new ArrayList<>();
    int domain = 0;
    int node = 0;
    for (int p = 0; p < job.plan().placement().pools().size(); p++) {
      Placement.PoolUse use = job.plan().placement().pools().get(p);
      Machine machine = job.machine(use);
      SystemSpec system = machine.system();
      int size = system.domain().size();
      int perNode = system.gpusPerNode();
      int end = slots.size() + use.gpusUsed();
      int nodeGpus = 0;
      for (int d = 0; slots.size() < end; d++, domain++) {
        if (d >= Math.max(machine.pool().domains(), use.domainsUsed())) {
          throw new InputException(
              "answer", "plan.placement", "", "needs more domains than its cluster has.");
        }
        int usable = usable(machine, d);
        // The whole domain as a block is what is healthy of it.
        int block = use.blockGpus() == size ? usable : use.blockGpus();
        int step = block < 1 ? 0 : working(job, block);
        for (int b = 0; step > 0 && (b + 1) * block <= usable && slots.size() < end; b++) {
          for (int g = 0; g < step && slots.size() < end; g++) {
            int inDomain = b * block + g;
            int inPool = size >= perNode ? inDomain : d * size + inDomain;
            int tray = inPool / perNode;
            int at = size >= perNode ? node + tray : node + inPool / perNode;
            nodeGpus = Math.max(nodeGpus, at + 1);
            slots.add(
                slot(job.dims(), slots.size(), use.pool(), domain, b, at, tray, inPool % perNode));
          }
        }
        if (size >= perNode) {
          node += (size + perNode - 1) / perNode;
        }
      }
      if (size < perNode) {
        node = nodeGpus;
      }
    }
    return slots;
  }

  /** Usable GPUs of a domain: the healthy ones, spares held back. */
  private static int usable(Machine machine, int domain) {
    int size = machine.system().domain().size();
    List<Integer> healthy = machine.pool().healthy();
    int here = domain < healthy.size() ? healthy.get(domain) : size;
    return Math.min(here, size - machine.pool().sparesPerDomain());
  }

  /** Working GPUs of one block. */
  static int working(Job job, int block) {
    return Blocks.working(block, Blocks.unit(job.dims(), job.plan().cpInside(), block));
  }

  /** Axes of a rank: dense grid tp, cp, dp, pp; expert grid etp, ep, edp, pp; first is fastest. */
  static Slot slot(Dims d, int rank, int pool, int domain, int block, int node, int tray, int gpu) {
    int stage = d.tp() * d.cp() * d.dp();
    int r = rank % stage;
    return new Slot(
        rank,
        pool,
        domain,
        block,
        node,
        tray,
        gpu,
        r % d.tp(),
        r / d.tp() % d.cp(),
        rank / stage,
        r / (d.tp() * d.cp()),
        r / d.etp() % d.ep(),
        r % d.etp(),
        r / (d.etp() * d.ep()));
  }
}
