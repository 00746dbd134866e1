package dev.meshplan.rules;

import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Axis;
import dev.meshplan.plan.Batch;
import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.Locality;
import dev.meshplan.plan.Machine;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Schedule;
import dev.meshplan.plan.ShardingOptions;
import dev.meshplan.plan.Training;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/**
 * What a rule may read beside the axes: the request's constants, resolved.
 *
 * @param model the model
 * @param attentions distinct sequence mixers of its layers
 * @param feedForwards distinct feed-forward halves of its layers
 * @param training the job
 * @param machine the pool that is planned on
 * @param locality strict or priced
 * @param gpus at most so many work
 * @param limitBytes device bytes a rank may use
 * @param recomputes options by index of {@code RECOMPUTE}
 * @param shardings options by index of {@code SHARDING}
 * @param deviceBytes bytes on the worst rank of a point, in its best layout
 * @param placeable whether the domains can carry a point's blocks
 */
public record Facts(
    Model model,
    List<Attention> attentions,
    List<FeedForward> feedForwards,
    Training training,
    Machine machine,
    Locality locality,
    int gpus,
    double limitBytes,
    List<Recompute> recomputes,
    List<ShardingOptions.Option> shardings,
    ToDoubleFunction<Point> deviceBytes,
    Predicate<Point> placeable) {

  /** The distinct sequence mixers of a model. */
  public static List<Attention> attentions(Model model) {
    return model.distinctKinds().stream()
        .map(LayerKind::attention)
        .filter(a -> a != null)
        .distinct()
        .toList();
  }

  /** The distinct feed-forward halves of a model. */
  public static List<FeedForward> feedForwards(Model model) {
    return model.distinctKinds().stream()
        .map(LayerKind::feedForward)
        .filter(x -> x != null)
        .distinct()
        .toList();
  }

  /** Whether any layer has experts. */
  public boolean moe() {
    for (FeedForward x : feedForwards) {
      if (x.moe()) {
        return true;
      }
    }
    return false;
  }

  /** The candidate that a fully bound point stands for. */
  public Candidate candidate(Point p) {
    return new Candidate(
        new Dims(p.tp(), p.cp(), p.pp(), p.dp(), p.ep(), p.etp(), p.vpp()),
        new Batch(p.microBatch(), p.microBatches(training.globalBatch())),
        schedule(p),
        memory(p),
        p.block(),
        p.cpInside());
  }

  /** 1F1B, interleaved where ranks have several virtual stages. */
  public static Schedule schedule(Point p) {
    return p.vpp() > 1 ? Schedule.INTERLEAVED : Schedule.ONE_F_ONE_B;
  }

  /** Sharding and recompute of a point. */
  public MemoryPlan memory(Point p) {
    return shardings.get(p.get(Axis.SHARDING)).with(recomputes.get(p.get(Axis.RECOMPUTE)));
  }

  public ShardingOptions.Option sharding(Point p) {
    return shardings.get(p.get(Axis.SHARDING));
  }
}
