package dev.meshplan.optimize;

import dev.meshplan.plan.Infeasible;
import dev.meshplan.plan.RuleKind;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;

/**
 * The plan that misses by least. A plan must break a rule of every core; so sets of rules to break
 * are grown by one rule of a core that they have not touched (the hitting-set tree of Reiter,
 * 1987), fewest first, then softest, until one leaves a plan. Of the plans that break that set the
 * one with the least memory is taken, or the fewest GPUs, or the cheapest that is known.
 */
final class NearMisses {
  private static final int MOST_SETS = 60;
  private static final String GPUS = "gpus-available";

  /** Rules to break together. */
  private record Broken(List<Rule> rules) {
    static final Comparator<Broken> ORDER =
        Comparator.comparingInt(
                (Broken b) -> (int) b.rules.stream().filter(Broken::illegal).count())
            .thenComparingInt(b -> b.rules.size())
            .thenComparingInt(b -> b.rules.stream().mapToInt(Broken::hardness).sum());

    private static boolean illegal(Rule r) {
      return r.kind() == RuleKind.ILLEGAL;
    }

    /** Choices of this product are softest, then memory, GPUs, pins, the framework's rules. */
    private static int hardness(Rule r) {
      return switch (r.kind()) {
        case KEPT_APART -> Pins.pin(r) ? 4 : 1;
        case DOES_NOT_FIT -> r.id().equals(Search.MEMORY) ? 2 : 3;
        case ILLEGAL -> 5;
      };
    }
  }

  private final Trials trials;
  private final Cures cures;
  private final ColumnModel.Entry crossing;

  NearMisses(Trials trials, Cures cures, ColumnModel.Entry crossing) {
    this.trials = trials;
    this.cures = cures;
    this.crossing = crossing;
  }

  /** The nearest plan; not found where none was within the budget. */
  Trials.Answer nearest(List<Rule> core) {
    boolean hopeless = core.stream().allMatch(Broken::illegal);
    List<Rule> all = new ArrayList<>(trials.illegal());
    trials.open().stream()
        .filter(r -> !hopeless || !r.id().equals(Search.MEMORY))
        .forEach(all::add);
    List<Rule> given = hopeless ? List.of() : trials.illegal();
    PriorityQueue<Broken> open = new PriorityQueue<>(Broken.ORDER);
    Set<Set<Rule>> seen = new HashSet<>();
    grow(new Broken(List.of()), core, given, open, seen);
    for (int i = 0; i < MOST_SETS && !open.isEmpty(); i++) {
      Broken b = open.poll();
      Set<Rule> rest = new LinkedHashSet<>(all);
      b.rules().forEach(rest::remove);
      Trials.Answer a = trials.any(rest);
      if (a.found()) {
        return least(b, rest, a);
      }
      List<Rule> others = new ArrayList<>(rest);
      others.removeAll(given);
      grow(b, a.proven() ? new Core(trials).of(given, others) : others, given, open, seen);
    }
    return new Trials.Answer(null, null, false);
  }

  private static void grow(
      Broken b,
      List<Rule> core,
      List<Rule> given,
      PriorityQueue<Broken> open,
      Set<Set<Rule>> seen) {
    for (Rule r : core) {
      Broken more = new Broken(Core.joined(b.rules(), List.of(r)));
      if (!given.contains(r) && seen.add(Set.copyOf(more.rules()))) {
        open.add(more);
      }
    }
  }

  /** Of the plans that break a set, the one that misses by least. */
  private Trials.Answer least(Broken broken, Set<Rule> rest, Trials.Answer any) {
    List<String> ids = broken.rules().stream().map(Rule::id).toList();
    if (ids.contains(Search.MEMORY)) {
      return found(trials.search(rest, Search.Goal.SMALLEST), any);
    }
    if (ids.contains(GPUS)) {
      return found(trials.search(rest, Search.Goal.FEWEST), any);
    }
    Trials.Answer known = any;
    if (ids.size() == 1 && Pins.pin(broken.rules().get(0))) {
      ColumnModel.Entry free = cures.unpinned(broken.rules().get(0));
      known = free == null ? any : new Trials.Answer(free.found().point(), free.oracle(), true);
    } else if (crossing != null) {
      Oracle strict = trials.oracle(crossing.oracle().machine);
      known = new Trials.Answer(crossing.found().point(), strict, true);
    }
    return Set.copyOf(broken(known)).equals(Set.copyOf(broken.rules())) ? known : any;
  }

  private static Trials.Answer found(Trials.Answer best, Trials.Answer any) {
    return best.found() ? best : any;
  }

  /** The rules that a plan breaks. */
  private List<Rule> broken(Trials.Answer a) {
    List<Rule> broken = new ArrayList<>();
    boolean whole = true;
    for (Rule r : Core.joined(trials.illegal(), trials.open())) {
      // What can't be laid out can't be asked for its memory.
      if ((whole || !r.id().equals(Search.MEMORY))
          && !r.holds().test(a.oracle().facts, a.point())) {
        broken.add(r);
        whole &= r.kind() != RuleKind.ILLEGAL;
      }
    }
    return broken;
  }

  /** The nearest miss in words; null where there is none. */
  Infeasible.NearestMiss of(Trials.Answer near) {
    if (!near.found()) {
      return null;
    }
    Oracle o = near.oracle();
    Point p = near.point();
    List<Infeasible.Miss> misses = new ArrayList<>();
    for (Rule r : broken(near)) {
      misses.add(new Infeasible.Miss(r.id(), r.kind(), r.at(o.facts, p), excess(r, o, p)));
    }
    return new Infeasible.NearestMiss(
        o.facts.candidate(p).dims(), o.facts.candidate(p).batch(), o.facts.memory(p), misses);
  }

  private static String excess(Rule rule, Oracle oracle, Point p) {
    double over = -Binding.slack(rule, oracle, p);
    if (Double.isNaN(over) || over <= 0) {
      return "";
    }
    return switch (rule.id()) {
      case Search.MEMORY -> Quantity.bytes(over) + " too much";
      case GPUS -> Quantity.count((long) over) + " GPUs too many";
      default -> Quantity.count((long) over) + " GPUs beyond the block";
    };
  }
}
