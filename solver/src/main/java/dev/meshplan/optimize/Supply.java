package dev.meshplan.optimize;

import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.Pool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The domains of a pool, by the number of usable GPUs: equal domains are one class. A domain has
 * min(healthy, size - spares) usable GPUs; faults use up the spares first and are assumed to be
 * packed into as few trays as possible.
 */
final class Supply {
  /** Domains with the same number of usable GPUs. */
  record DomainClass(int usable, int count) {}

  private final int size;
  private final int board;
  private final List<Integer> cut;
  private final List<DomainClass> classes = new ArrayList<>();

  Supply(Machine machine) {
    SystemSpec.Domain domain = machine.system().domain();
    Pool pool = machine.pool();
    size = domain.size();
    board = domain.boardGpus();
    cut = pool.cut();
    Map<Integer, Integer> counts = new TreeMap<>((a, b) -> b - a);
    for (int i = 0; i < pool.domains(); i++) {
      int healthy = pool.healthy().isEmpty() ? size : pool.healthy().get(i);
      counts.merge(Math.min(healthy, size - pool.sparesPerDomain()), 1, Integer::sum);
    }
    counts.forEach((usable, count) -> classes.add(new DomainClass(usable, count)));
  }

  int size() {
    return size;
  }

  List<DomainClass> classes() {
    return classes;
  }

  /**
   * Blocks of a size that a domain with so many usable GPUs gives; the whole domain is one block.
   */
  int blocks(int usable, int block) {
    if (block >= size) {
      return usable > 0 ? 1 : 0;
    }
    return usable / board * board / block;
  }

  /** Ranks that work in a domain with so many usable GPUs, cut into blocks of a size. */
  int working(int usable, int block, long unit) {
    if (!cut.isEmpty()) {
      return workingInCut(usable, block, unit);
    }
    int per = Math.min(block, usable);
    return blocks(usable, block) * dev.meshplan.plan.Blocks.working(per, unit);
  }

  /** The operator's parts that are as large as the block or larger, as far as GPUs reach. */
  private int workingInCut(int usable, int block, long unit) {
    int left = usable;
    int sum = 0;
    for (int part : cut) {
      if (part >= block && part <= left) {
        sum += dev.meshplan.plan.Blocks.working(part, unit);
        left -= part;
      }
    }
    return sum;
  }

  /** Most ranks that all domains together can work. */
  long workingAll(int block, long unit) {
    long sum = 0;
    for (DomainClass c : classes) {
      sum += (long) c.count() * working(c.usable(), block, unit);
    }
    return sum;
  }

  /**
   * Fewest domains that carry so many ranks, largest first; -1 when all together do not.
   *
   * @param ranks that must work
   */
  int fewest(long ranks, int block, long unit) {
    List<int[]> supply = new ArrayList<>();
    for (DomainClass c : classes) {
      supply.add(new int[] {working(c.usable(), block, unit), c.count()});
    }
    supply.sort((a, b) -> b[0] - a[0]);
    long left = ranks;
    int domains = 0;
    for (int[] s : supply) {
      if (s[0] == 0) {
        continue;
      }
      long take = Math.min(s[1], (left + s[0] - 1) / s[0]);
      domains += (int) take;
      left -= take * s[0];
      if (left <= 0) {
        return domains;
      }
    }
    return left <= 0 ? domains : -1;
  }

  /**
   * Ranks that work in the weakest of the fewest domains: what groups are spread over when every
   * domain is priced alike.
   */
  int workingPerDomain(long ranks, int block, long unit) {
    int weakest = 0;
    long left = ranks;
    for (DomainClass c : classes) {
      int w = working(c.usable(), block, unit);
      if (w == 0) {
        continue;
      }
      weakest = w;
      left -= (long) w * c.count();
      if (left <= 0) {
        break;
      }
    }
    return weakest;
  }

  /** Lower bound of the domains that so many ranks touch, whatever the block. */
  int atLeast(long ranks) {
    int most = classes.isEmpty() ? 0 : classes.get(0).usable();
    return most == 0 ? 0 : (int) ((ranks + most - 1) / most);
  }
}
