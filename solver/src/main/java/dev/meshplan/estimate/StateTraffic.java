package dev.meshplan.estimate;

import dev.meshplan.plan.Candidate;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.GradientType;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Training;

/**
 * Traffic of weights and gradients over the data-parallel groups, and the optimizer. P = dense and
 * Pm = expert parameters of one rank, 2 bytes each; gradients have 2 or 4 bytes. Sources: ZeRO
 * (arXiv 1910.02054), FSDP (arXiv 2304.11277), ZeRO++ (arXiv 2306.10209), Megatron-LM's distributed
 * optimizer. Results are left in fields, so that pricing a plan allocates nothing.
 */
final class StateTraffic {
  private final Training training;
  private final EraProfile era;
  private final StepConstants constants;
  private final Links links;
  private final Links gathering;
  private final double memoryBytesPerSecond;
  private final double hostBytesPerSecond;

  double shardedLink;
  double shardedExposed;
  double dataLink;
  double dataExposed;
  double optimizer;

  StateTraffic(LayerTime time, Links gathering, double hostBytesPerSecond) {
    training = time.training;
    era = time.era;
    constants = time.constants;
    links = time.links;
    memoryBytesPerSecond = time.memoryBytesPerSecond;
    this.gathering = gathering;
    this.hostBytesPerSecond = hostBytesPerSecond;
  }

  /**
   * Prices one rank.
   *
   * @param dense P
   * @param expert Pm
   * @param layers of the rank
   * @param forward seconds of one micro-batch
   * @param backward seconds of one micro-batch
   * @param flushes times per step that the pipeline drains
   */
  void price(
      Candidate c,
      Spread s,
      double dense,
      double expert,
      int layers,
      double forward,
      double backward,
      int flushes) {
    shardedLink = 0;
    shardedExposed = 0;
    dataLink = 0;
    dataExposed = 0;
    optimizer = 0;
    if (training.tuning().adapters()) {
      if (c.memory().sharding() >= 3) {
        sharded(c, s, dense, expert, layers, forward, backward, flushes);
      }
      return;
    }
    if (c.memory().sharding() >= 2) {
      sharded(c, s, dense, expert, layers, forward, backward, flushes);
    } else {
      data(c, s, dense, expert, forward, backward);
    }
    optimizer(c, dense, expert);
  }

  private void sharded(
      Candidate c,
      Spread s,
      double dense,
      double expert,
      int layers,
      double forward,
      double backward,
      int flushes) {
    Dims d = c.dims();
    MemoryPlan memory = c.memory();
    int all = d.cp() * d.dp();
    int n = memory.shardGroup() > 0 ? Math.min(all, memory.shardGroup()) : all;
    int g = Math.min(n, s.dpCp());
    if (n <= 1) {
      return;
    }
    StepConstants.Overlap x = constants.overlap();
    double call = layers * (n > g ? x.shardedCallSeconds() : x.shardedCallInsideSeconds());
    double experts = gathering.allGather(2 * expert, d.expertDp(), s.edp());
    double gather = gathering.allGather(2 * dense, n, g) + experts;
    double scatter =
        gathering.reduceScatter(2 * dense, n, g)
            + gathering.reduceScatter(2 * expert, d.expertDp(), s.edp());
    double again = gather;
    if (memory.secondaryGroup() > 0) {
      int near = Math.min(n, memory.secondaryGroup());
      again = gathering.allGather(2 * dense, near, Math.min(near, g)) + experts;
    }
    boolean weights = memory.sharding() >= 3;
    double f = weights ? gather + call : 0;
    double b = (weights ? again + call : 0) + scatter + call;
    if (n < all) {
      int replicas = all / n;
      int near = Math.max(1, s.dpCp() / n);
      b += 0.5 * links.allReduce(2 * dense / n, replicas, near);
    }
    int times = d.pp() > 1 ? flushes : c.batch().gradientAccumulation();
    double compute = d.pp() > 1 ? (double) c.batch().gradientAccumulation() / flushes : 1;
    shardedLink = times * (f + b);
    shardedExposed = times * (exposed(f, compute * forward) + exposed(b, compute * backward));
    if (!weights) {
      shardedLink += gather + call;
      shardedExposed += exposed(gather + call, compute * forward);
    }
  }

  private double exposed(double link, double compute) {
    StepConstants.Overlap x = constants.overlap();
    return Math.min(
        link,
        Math.max(0, link - compute)
            + x.shardedMutual() * Math.min(link, compute)
            + x.shardedAlways() * link);
  }

  private void data(
      Candidate c, Spread s, double dense, double expert, double forward, double backward) {
    Dims d = c.dims();
    int n = d.cp() * d.dp();
    StepConstants.Overlap x = constants.overlap();
    double bytes = training.gradientType() == GradientType.FP32 ? 4 : 2;
    double reduce;
    double gather = 0;
    if (c.memory().sharding() == 0) {
      reduce =
          links.allReduce(bytes * dense, n, s.dpCp())
              + links.allReduce(bytes * expert, d.expertDp(), s.edp());
    } else {
      int shards = c.memory().shardGroup() > 0 ? Math.min(n, c.memory().shardGroup()) : n;
      int g = Math.min(shards, s.dpCp());
      reduce =
          links.reduceScatter(bytes * dense, shards, g)
              + links.reduceScatter(bytes * expert, d.expertDp(), s.edp());
      gather =
          links.allGather(2 * dense, shards, g)
              + links.allGather(2 * expert, d.expertDp(), s.edp());
      if (shards < n) {
        reduce +=
            links.allReduce(bytes * dense / shards, n / shards, Math.max(1, s.dpCp() / shards));
      }
      if (era.shardByBroadcast() && n > 1) {
        gather += x.broadcastSeconds() * shards;
      }
    }
    dataLink = reduce + gather;
    if (!training.dpOverlap()) {
      dataExposed = dataLink;
      return;
    }
    double times = d.vpp() > 1 ? Math.min(d.pp(), c.batch().gradientAccumulation()) : 1;
    double shown =
        Math.max(0, reduce - x.dataShare() * backward * times)
            + Math.max(0, gather - x.dataShare() * forward * times);
    dataExposed = shown + x.dataHidden() * (dataLink - shown);
  }

  private void optimizer(Candidate c, double dense, double expert) {
    Dims d = c.dims();
    StepConstants.Step x = constants.step();
    double updated = dense + expert;
    if (c.memory().sharding() >= 1) {
      int all = d.cp() * d.dp();
      int n = c.memory().shardGroup() > 0 ? Math.min(all, c.memory().shardGroup()) : all;
      updated = dense / n + expert / d.expertDp();
    }
    double near = 1 - c.memory().optimizerOffload();
    optimizer =
        x.optimizerBytes() * near * updated * era.optimizer() / memoryBytesPerSecond
            + x.weightBytes() * (dense + expert) / memoryBytesPerSecond
            + x.optimizerSeconds();
    if (near < 1) {
      optimizer += 4 * updated * (1 - near) / hostBytesPerSecond;
    }
  }
}
