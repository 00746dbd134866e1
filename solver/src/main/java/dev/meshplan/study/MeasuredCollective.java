package dev.meshplan.study;

import dev.meshplan.communication.Collective;
import dev.meshplan.communication.MoeExchange;

/**
 * One row of a file of measured collectives.
 *
 * @param id of the row
 * @param system catalog id; empty = not named
 * @param network catalog id
 * @param domainGpus GPUs of one scale-up domain that work together; 1 = PCIe only
 * @param nodes operating-system images; 0 = not stated
 * @param gpus ranks
 * @param name collective as written
 * @param bytes size as nccl-tests reports it; NaN where the row speaks of tokens
 * @param seconds measured; NaN = only bandwidth
 * @param busBandwidth bytes per second; NaN = only seconds
 * @param dtype of the elements; may be empty
 * @param algorithm forced one, or default
 * @param tokens per rank, of an expert exchange; NaN otherwise
 * @param hidden elements of a token
 * @param topK experts per token
 * @param excluded why the row isn't scored; empty = it is
 */
record MeasuredCollective(
    String id,
    String system,
    String network,
    int domainGpus,
    int nodes,
    int gpus,
    String name,
    double bytes,
    double seconds,
    double busBandwidth,
    String dtype,
    String algorithm,
    double tokens,
    double hidden,
    double topK,
    String excluded) {

  boolean expertExchange() {
    return name.startsWith("moe_");
  }

  /** The collective, or null for one that isn't modelled. */
  Collective collective() {
    return switch (name) {
      case "all_reduce", "allreduce" -> Collective.ALL_REDUCE;
      case "all_gather", "allgather" -> Collective.ALL_GATHER;
      case "reduce_scatter" -> Collective.REDUCE_SCATTER;
      case "alltoall", "all_to_all" -> Collective.ALL_TO_ALL;
      case "sendrecv", "send_recv" -> Collective.SEND_RECV;
      case "broadcast" -> Collective.BROADCAST;
      default -> null;
    };
  }

  /** Kernels of other libraries than NCCL and RCCL. */
  boolean kernel() {
    return expertExchange() || algorithm.equals("custom-ar");
  }

  MoeExchange.Dispatcher dispatcher() {
    if (algorithm.startsWith("hybrid")) {
      return MoeExchange.Dispatcher.HYBRID;
    }
    if (algorithm.startsWith("deepep")) {
      return algorithm.endsWith("-ll")
          ? MoeExchange.Dispatcher.LOW_LATENCY
          : MoeExchange.Dispatcher.DEDUPE;
    }
    return switch (algorithm) {
      case "trtllm-a2a" -> MoeExchange.Dispatcher.DEDUPE;
      case "default", "naive", "alltoall" -> MoeExchange.Dispatcher.NAIVE;
      default -> null;
    };
  }

  /** FP8 travels with a 4-byte scale for every 128 elements. */
  double bytesPerElement() {
    return dtype.startsWith("fp8") ? 1 + 4.0 / 128 : 2;
  }

  boolean sixteenBit() {
    return !dtype.startsWith("fp8") && !dtype.startsWith("int8") && !dtype.startsWith("uint8");
  }
}
