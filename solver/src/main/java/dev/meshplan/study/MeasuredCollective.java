package dev.meshplan.study;

import dev.meshplan.communication.Collective;
import dev.meshplan.communication.MoeExchange;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * One row of a file of measured collectives.
 *
 * @param id of the row
 * @param source who published it; may be empty
 * @param system catalog id; empty = not named
 * @param network catalog id
 * @param domainGpus GPUs of one scale-up domain that work together; 1 = PCIe only, 0 = not stated
 * @param nodes operating-system images; 0 = not stated
 * @param gpus ranks; 0 = not stated
 * @param name collective as written
 * @param bytes size as nccl-tests reports it; NaN where the row speaks of tokens
 * @param seconds measured; NaN = only bandwidth
 * @param busBandwidth bytes per second; NaN = only seconds
 * @param dtype of the elements; may be empty
 * @param algorithm forced one, or default
 * @param notes for people; when they begin with an algorithm and nothing else, that one ran
 * @param registered whether buffers are registered as symmetric memory
 * @param tokens per rank, of an expert exchange; NaN otherwise
 * @param hidden elements of a token
 * @param topK experts per token
 * @param excluded why its author left the row out; empty = it counts
 * @param fault what can't be read in it; empty = nothing
 */
record MeasuredCollective(
    String id,
    String source,
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
    String notes,
    boolean registered,
    double tokens,
    double hidden,
    double topK,
    String excluded,
    String fault) {
  private static final Set<String> ALGORITHMS =
      Set.of("ring", "tree", "nvls", "nvlstree", "sharp", "collnet");

  /** Pages of one publisher are one source: "github owner/name", or what stands before details. */
  String publisher() {
    String[] words = source.split(" ", 3);
    return words[0].equals("github") && words.length > 1
        ? words[0] + " " + words[1]
        : source.split(" \\(|,", 2)[0];
  }

  boolean expertExchange() {
    return name.startsWith("moe_");
  }

  /** The collective, or null for one that isn't modelled. */
  Collective collective() {
    return switch (plain(name)) {
      case "allreduce" -> Collective.ALL_REDUCE;
      case "allgather" -> Collective.ALL_GATHER;
      case "reducescatter" -> Collective.REDUCE_SCATTER;
      case "alltoall" -> Collective.ALL_TO_ALL;
      case "sendrecv" -> Collective.SEND_RECV;
      case "broadcast", "bcast" -> Collective.BROADCAST;
      default -> null;
    };
  }

  private static String plain(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
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
    return dtype.startsWith("fp8") || dtype.startsWith("float8") ? 1 + 4.0 / 128 : 2;
  }

  /** Whether the switch can add these elements: floats of 16 and 32 bits. */
  boolean addedInSwitch() {
    return List.of("", "half", "float", "bfloat16", "fp16", "bf16", "fp32").contains(dtype)
        || dtype.equals("float16")
        || dtype.equals("float32");
  }

  /**
   * The algorithm that ran, in plain letters: as forced, or what the notes begin with when they say
   * nothing else there ("NVLSTree; out-of-place").
   *
   * @return default when nobody says
   */
  String ran() {
    String forced = plain(algorithm);
    String noted = plain(notes.split("[;,]", 2)[0]);
    return forced.equals("default") && ALGORITHMS.contains(noted) ? noted : forced;
  }
}
