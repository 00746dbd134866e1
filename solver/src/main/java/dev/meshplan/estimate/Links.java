package dev.meshplan.estimate;

import dev.meshplan.communication.Collective;
import dev.meshplan.communication.Communication;
import dev.meshplan.communication.Fabric;
import dev.meshplan.communication.Group;
import dev.meshplan.communication.MoeExchange;
import dev.meshplan.hardware.Network;
import dev.meshplan.plan.Dispatcher;
import dev.meshplan.plan.Machine;

/** Seconds of the messages that a step sends, by group size and members per scale-up domain. */
class Links {
  private final Communication communication;
  private final MoeExchange.Dispatcher deduplicating;

  /**
   * @param blackwell whether deduplicating kernels write straight into the experts' buffers
   *     (HybridEP, the default of Megatron's recipes there) or forward (DeepEP)
   */
  Links(Communication communication, boolean blackwell) {
    this.communication = communication;
    deduplicating = blackwell ? MoeExchange.Dispatcher.HYBRID : MoeExchange.Dispatcher.DEDUPE;
  }

  static Links of(Machine machine, Communication communication) {
    return new Links(communication, machine.gpu().architecture().blackwell());
  }

  /**
   * The links of a machine whose software reaches at most so many bytes per second and GPU between
   * domains.
   */
  static Links capped(Machine machine, double bytesPerSecond) {
    Network n = machine.network();
    if (n == null) {
      return of(machine, new Communication(fabric(machine, null)));
    }
    double port = n.perGpuBandwidth(machine.system());
    if (port <= bytesPerSecond) {
      return of(machine, new Communication(fabric(machine, n)));
    }
    Network capped = n.withPortBandwidth(n.portBandwidth() * bytesPerSecond / port);
    return of(machine, new Communication(fabric(machine, capped)));
  }

  private static Fabric fabric(Machine machine, Network network) {
    return Fabric.of(machine.system(), machine.gpu(), network);
  }

  /** All-gather of a buffer whose full size is given. Seconds. */
  double allGather(double bytes, int n, int perDomain) {
    return collective(Collective.ALL_GATHER, bytes, n, perDomain);
  }

  /** Reduce-scatter of a buffer whose full size is given. Seconds. */
  double reduceScatter(double bytes, int n, int perDomain) {
    return collective(Collective.REDUCE_SCATTER, bytes, n, perDomain);
  }

  /** All-reduce of a buffer. Seconds. */
  double allReduce(double bytes, int n, int perDomain) {
    return collective(Collective.ALL_REDUCE, bytes, n, perDomain);
  }

  /** All-to-all of what one rank holds for all. Seconds. */
  double allToAll(double bytes, int n, int perDomain) {
    return collective(Collective.ALL_TO_ALL, bytes, n, perDomain);
  }

  private double collective(Collective c, double bytes, int n, int perDomain) {
    return n <= 1 || bytes <= 0
        ? 0
        : communication.seconds(c, bytes, Group.of(n, Math.min(n, perDomain)));
  }

  /**
   * Sending tokens to their experts and bringing the results back, in 16 bit. Seconds.
   *
   * @param tokens per rank
   * @param width elements of one token
   * @param topK experts per token
   * @param domainLimit domains that a token may reach; 0 = no limit
   * @param imbalance busiest rank over the mean
   */
  double exchange(
      Dispatcher dispatcher,
      double tokens,
      double width,
      int topK,
      int n,
      int perDomain,
      int domainLimit,
      double imbalance) {
    if (n <= 1) {
      return 0;
    }
    MoeExchange e =
        new MoeExchange(
            tokens,
            width,
            topK,
            n,
            Math.min(n, perDomain),
            2,
            domainLimit,
            dispatcher == Dispatcher.DEDUPE ? deduplicating : MoeExchange.Dispatcher.NAIVE,
            imbalance);
    return communication.dispatchSeconds(e) + communication.combineSeconds(e);
  }

  /** A message between neighbouring pipeline stages or ring members. Seconds. */
  double send(double bytes, boolean crosses) {
    return communication.sendSeconds(bytes, crosses);
  }
}
