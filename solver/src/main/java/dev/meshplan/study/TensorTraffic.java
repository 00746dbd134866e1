package dev.meshplan.study;

import dev.meshplan.communication.Collective;
import dev.meshplan.communication.Communication;
import dev.meshplan.communication.Group;
import dev.meshplan.communication.SeedProfile;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Link;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.model.Model;
import dev.meshplan.model.Parameters;
import java.util.Arrays;
import java.util.List;

/**
 * What tensor parallelism sends in one forward pass over some tokens: two all-reduces a layer, one
 * where attention and MLP stand side by side.
 */
public final class TensorTraffic {
  private static final double ELEMENT_BYTES = 2;

  private TensorTraffic() {}

  /**
   * One number of tokens.
   *
   * @param tokens in one pass (sequences when decoding, prompt when filling)
   * @param messages all-reduces of the pass
   * @param messageBytes size of one
   * @param sentBytes what one GPU sends in the pass
   * @param delaySeconds what all messages take when they are empty
   * @param bandwidthSeconds the rest
   * @param seconds together
   * @param weightSeconds reading this GPU's share of the weights once, at the nominal rate
   * @param weightShare {@code seconds} over {@code weightSeconds}
   * @param limit delay, both or bandwidth
   */
  public record Line(
      int tokens,
      double messages,
      double messageBytes,
      double sentBytes,
      double delaySeconds,
      double bandwidthSeconds,
      double seconds,
      double weightSeconds,
      double weightShare,
      SeedProfile.Limit limit) {}

  /**
   * With nominal bandwidth and one delay per message.
   *
   * @param link over which the group talks; null = the system's
   */
  public static List<Line> seed(
      Model model, int tensor, List<Integer> tokens, SystemSpec system, Gpu gpu, Link link) {
    boolean own = link == null;
    Link used = own ? link(system) : link;
    double bandwidth = own ? system.domain().bandwidth() : link.oneWay();
    return tokens.stream()
        .map(
            t -> {
              SeedProfile.Cost c =
                  SeedProfile.allReduce(
                      messages(model),
                      bytes(model, t),
                      tensor,
                      bandwidth,
                      SeedProfile.delaySeconds(used));
              return line(model, tensor, t, gpu, c);
            })
        .toList();
  }

  /** With the estimator's times. */
  public static List<Line> priced(
      Model model, int tensor, List<Integer> tokens, Communication communication, Gpu gpu) {
    int domain = communication.fabric().system().domain().size();
    Group g = Group.of(tensor, Math.min(tensor, domain));
    double messages = messages(model);
    double delay = messages * communication.seconds(Collective.ALL_REDUCE, 1, g);
    return tokens.stream()
        .map(
            t -> {
              double all =
                  messages * communication.seconds(Collective.ALL_REDUCE, bytes(model, t), g);
              double sent = messages * Collective.ALL_REDUCE.wireBytes(bytes(model, t), tensor);
              return line(
                  model, tensor, t, gpu, new SeedProfile.Cost(messages, sent, all - delay, delay));
            })
        .toList();
  }

  private static Line line(Model model, int tensor, int tokens, Gpu gpu, SeedProfile.Cost c) {
    double weights = weightBytes(model) / tensor / gpu.memoryBandwidth();
    return new Line(
        tokens,
        c.messages(),
        bytes(model, tokens),
        c.sentBytes(),
        c.delaySeconds(),
        c.bandwidthSeconds(),
        c.seconds(),
        weights,
        c.seconds() / weights,
        c.limit());
  }

  /**
   * 16-bit weights that a pass reads: all but the table of input embeddings, which is looked up.
   */
  static double weightBytes(Model model) {
    return ELEMENT_BYTES * (Parameters.total(model) - Parameters.embedding(model));
  }

  private static double messages(Model model) {
    return (model.parallelBlock() ? 1.0 : 2.0) * model.layerCount();
  }

  private static double bytes(Model model, int tokens) {
    return ELEMENT_BYTES * model.hidden() * tokens;
  }

  private static Link link(SystemSpec system) {
    return Arrays.stream(Link.values())
        .filter(l -> l.key().equals(system.domain().link()))
        .findFirst()
        .orElse(Link.OTHER);
  }
}
