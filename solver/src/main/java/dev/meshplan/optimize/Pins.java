package dev.meshplan.optimize;

import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.RuleKind;
import dev.meshplan.plan.ShardingOptions;
import dev.meshplan.rules.Facts;
import dev.meshplan.rules.Point;
import dev.meshplan.rules.Rule;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;

/** What a request pins, as rules, so that messages and cores can name it. */
final class Pins {
  private static final String PREFIX = "pinned-";

  private Pins() {}

  /** The pinned number of working GPUs. */
  static Rule gpusUsed(int used) {
    return new Rule(
        id(Axis.GPUS_USED.key()),
        RuleKind.KEPT_APART,
        "fix.gpus_used = " + used,
        "the request",
        Set.of(),
        false,
        List.of(Axis.TP, Axis.CP, Axis.PP, Axis.DP),
        (f, p) -> p.gpus() == used,
        (f, p) -> "the plan uses " + p.gpus());
  }

  /** Asked when pricing what strict locality leaves out: only plans that break it. */
  static List<Rule> crosses() {
    String source = "the question what locality: priced would gain";
    return List.of(
        new Rule(
            "crosses-domain",
            RuleKind.KEPT_APART,
            "TP or EP leaves its scale-up domain",
            source,
            Set.of(),
            false,
            List.of(Axis.TP, Axis.EP, Axis.ETP),
            (f, p) -> {
              int domain = f.machine().system().domain().size();
              return p.tp() > domain || (long) p.ep() * p.etp() > domain;
            },
            (f, p) -> "tp " + p.tp() + ", etp x ep " + (long) p.ep() * p.etp()),
        new Rule(
            "crosses-domain",
            RuleKind.KEPT_APART,
            "what crosses fills the largest blocks",
            source,
            Set.of(),
            false,
            List.of(Axis.BLOCK_GPUS),
            (f, p) -> p.block() == largestBlock(f, p),
            (f, p) -> "block " + p.block()));
  }

  /** The domains, cut into blocks, must carry the plan. The columns' model decides this. */
  static Rule placeable() {
    return new Rule(
        Search.UNPLACEABLE,
        RuleKind.DOES_NOT_FIT,
        "the healthy domains, cut into blocks, must carry all ranks in whole groups",
        "the request",
        Set.of(),
        false,
        List.of(
            Axis.TP, Axis.CP, Axis.PP, Axis.DP, Axis.EP, Axis.ETP, Axis.CP_INSIDE, Axis.BLOCK_GPUS),
        // More ranks than GPUs break the rule of the GPUs, not this one.
        (f, p) -> p.gpus() > f.gpus() || f.placeable().test(p),
        (f, p) ->
            p.gpus()
                + " ranks in blocks of "
                + p.block()
                + ", in groups of "
                + dev.meshplan.plan.Blocks.unit(
                    p.tp(), p.cp(), p.ep(), p.etp(), p.cpInside(), p.block()));
  }

  private static int largestBlock(Facts f, Point p) {
    java.util.List<Integer> allowed = f.machine().pool().blocks();
    java.util.List<Integer> blocks =
        allowed.isEmpty() ? f.machine().system().domain().blocks() : allowed;
    return f.machine().pool().cut().isEmpty()
        ? blocks.stream().mapToInt(i -> i).max().orElse(p.block())
        : f.machine().pool().cut().stream().mapToInt(i -> i).max().orElse(p.block());
  }

  /** A pinned axis of a request; the space holds only its value, so the rule holds inside it. */
  static Rule rule(Problem problem, Axis axis, int value) {
    String text = problem.request().fix().get(axis.key());
    return switch (axis) {
      case GPUS_USED -> gpusUsed(value);
      case SHARDING ->
          axis(
              axis,
              text,
              // The place of an option in its list depends on whether it is pinned.
              (f, p) -> f.sharding(p).equals(option(f, text)),
              (f, p) -> "sharding " + f.sharding(p).level());
      case RECOMPUTE ->
          axis(
              axis,
              text,
              (f, p) -> p.get(axis) == value,
              (f, p) -> f.recomputes().get(p.get(axis)).text());
      default ->
          axis(
              axis, text, (f, p) -> p.get(axis) == value, (f, p) -> axis.key() + " " + p.get(axis));
    };
  }

  private static ShardingOptions.Option option(Facts f, String name) {
    int node = f.machine().system().gpusPerNode();
    return ShardingOptions.of(f.training().framework(), node, name).get(name);
  }

  private static Rule axis(
      Axis axis,
      String text,
      BiPredicate<Facts, Point> holds,
      BiFunction<Facts, Point, String> numbers) {
    return new Rule(
        id(axis.key()),
        RuleKind.KEPT_APART,
        "fix." + axis.key() + " = " + text,
        "the request",
        Set.of(),
        false,
        List.of(axis),
        holds,
        numbers);
  }

  /** The rule of a key of {@code fix}. */
  static String id(String key) {
    return PREFIX + key;
  }

  static boolean pin(Rule rule) {
    return rule.id().startsWith(PREFIX);
  }

  /** The key of {@code fix} that a pin stands for. */
  static String key(Rule pin) {
    return pin.id().substring(PREFIX.length());
  }
}
