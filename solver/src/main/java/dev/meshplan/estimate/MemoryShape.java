package dev.meshplan.estimate;

import dev.meshplan.model.Attention;
import dev.meshplan.model.FeedForward;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.model.Parameters;
import dev.meshplan.plan.LossKernel;
import dev.meshplan.plan.Recompute;
import dev.meshplan.plan.Training;
import java.util.ArrayList;
import java.util.List;

/**
 * What one layer of each kind, the embedding and the head weigh on one GPU for given TP, CP, EP,
 * ETP, micro-batch and recompute; arrays are by the model's distinct kinds. Elements for
 * parameters, bytes for tensors.
 */
final class MemoryShape {
  /**
   * Weight matrix shapes of the kinds: bit k of the mask is set when kind k has it. Matrices of one
   * role (attention, mlp, experts, shared experts) share a block where their shapes are equal.
   */
  private record Placeholder(char role, double rows, double columns, int kinds) {}

  /** Elements of matrices divided by TP, of replicated ones, of the rank's experts. */
  final double[] tensor;

  final double[] replicated;
  final double[] expert;

  /** Bytes kept per layer and micro-batch; recreated at once in backward; alive in backward. */
  final double[] kept;

  final double[] working;
  final double[] transients;
  final List<List<MemoryItem>> items = new ArrayList<>();
  final int kinds;
  final int lastKind;
  final double embedding;
  final double headMatrix;
  final double headNorm;
  final double mtpTensor;
  final double mtpReplicated;
  final double mtpKept;
  final double inputIds;
  final double residual;

  /** Output of a stage that DeepSpeed's pipeline keeps until the backward pass. */
  final double stageOutput;

  final double headBytes;

  /** The block that usually fails to be allocated first. */
  final double fp32LogitsBytes;

  final double mtpHeadBytes;
  final double tokens;
  private final double[] placeholderBytes;
  private final int[] placeholderKinds;

  MemoryShape(
      Model model,
      Training training,
      MemoryOptions options,
      MemoryProfile.Style style,
      int tp,
      int cp,
      int ep,
      int etp,
      int microBatch,
      Recompute recompute) {
    MemoryItems source = new MemoryItems(model, training, options, tp, cp, etp, microBatch);
    List<LayerKind> list = model.distinctKinds();
    kinds = list.size();
    List<LayerKind> all = model.layerKinds();
    lastKind = list.indexOf(all.get(all.size() - 1));
    tensor = new double[kinds];
    replicated = new double[kinds];
    expert = new double[kinds];
    kept = new double[kinds];
    working = new double[kinds];
    transients = new double[kinds];
    double h = model.hidden();
    double q = source.residualSplit();
    tokens = source.tokens();
    List<Placeholder> shapes = new ArrayList<>();
    for (int k = 0; k < kinds; k++) {
      LayerKind kind = list.get(k);
      Parameters.Layer p = Parameters.layer(model, kind);
      Attention a = kind.attention();
      double extraHeads =
          a == null || a.kind() != Attention.Kind.GQA
              ? 0
              : Parameters.attentionTensor(h, a, Math.max(a.kvHeads(), tp))
                  - Parameters.attentionTensor(h, a, a.kvHeads());
      tensor[k] = (p.tensor() + extraHeads) / tp;
      replicated[k] = p.replicated();
      expert[k] = p.expert() / ((double) ep * etp);
      List<MemoryItem> own = source.of(kind);
      items.add(own);
      MemoryRecompute r =
          MemoryRecompute.of(own, kind, recompute, style, options, tokens, h, q, tp);
      kept[k] = r.keptBytes();
      working[k] = r.workingBytes();
      transients[k] = source.backwardBytes(kind);
      matrices(kind, h, tp, etp, 1 << k, shapes);
    }
    double padded = Math.ceil(model.vocabulary() / (128.0 * tp)) * 128;
    double positions =
        model.positions() == Model.Positions.LEARNED
            ? h * (model.maxSequence() > 0 ? model.maxSequence() : training.sequence())
            : 0;
    headMatrix = padded * h;
    embedding = headMatrix + positions + (model.embeddingNorm() ? model.norm().vectors() * h : 0);
    headNorm = model.norm().vectors() * h;
    mtpTensor = tensor[lastKind] + 2 * h * h / tp;
    mtpReplicated = replicated[lastKind] + 3 * h * model.norm().vectors();
    mtpKept = kept[lastKind] + 8 * tokens * h / q;
    inputIds = 16 * tokens;
    residual = 2 * tokens * h / q;
    stageOutput = style == MemoryProfile.Style.DEEPSPEED ? residual : 0;
    placeholderBytes = new double[shapes.size()];
    placeholderKinds = new int[shapes.size()];
    for (int i = 0; i < shapes.size(); i++) {
      placeholderBytes[i] = 2 * shapes.get(i).rows() * shapes.get(i).columns();
      placeholderKinds[i] = shapes.get(i).kinds();
    }
    double logits = 2 * tokens * padded;
    boolean accumulates = training.gradientFusion() && !training.tuning().adapters();
    double weightGradient = accumulates && style != MemoryProfile.Style.FSDP ? 2 * headMatrix : 0;
    double gathered = logits + weightGradient + 4 * tokens * h;
    double copies = training.lossKernel() == LossKernel.PLAIN ? 5 : 3;
    double chunks = options.lossChunks();
    boolean fused = training.lossKernel() == LossKernel.FUSED;
    double loss;
    if (chunks > 1) {
      loss = copies * logits / chunks + weightGradient + 4 * tokens * h;
    } else if (fused) {
      loss = gathered;
    } else {
      loss = Math.max(copies * logits, gathered);
    }
    headBytes = 2 * residual + loss;
    fp32LogitsBytes = 2 * logits;
    mtpHeadBytes = (fused ? 1 : 2) * logits / chunks;
  }

  private static void matrices(
      LayerKind kind, double h, double tp, double etp, int bit, List<Placeholder> shapes) {
    Attention a = kind.attention();
    if (a != null) {
      double out = a.heads() * (double) a.valueDim() / tp;
      switch (a.kind()) {
        case GQA -> {
          double kv = Math.max(a.kvHeads() / tp, 1);
          matrix(
              a.heads() / tp * a.headDim() + kv * (a.headDim() + a.valueDim()),
              h,
              'a',
              bit,
              shapes);
          matrix(h, out, 'a', bit, shapes);
        }
        case MLA -> {
          Attention.Mla m = a.mla();
          double heads = a.heads() / tp;
          if (m.qRank() > 0) {
            matrix(m.qRank(), h, 'a', bit, shapes);
          }
          matrix(heads * a.headDim(), m.qRank() > 0 ? m.qRank() : h, 'a', bit, shapes);
          matrix(m.kvRank() + m.rope(), h, 'a', bit, shapes);
          matrix(heads * (m.nope() + a.valueDim()), m.kvRank(), 'a', bit, shapes);
          matrix(h, out, 'a', bit, shapes);
        }
        case SSM -> {
          double inner = a.heads() * (double) a.headDim() / tp;
          double bc = 2.0 * a.state().groups() * a.state().stateDim() / tp;
          matrix(2 * inner + bc + a.heads() / tp, h, 'a', bit, shapes);
          matrix(h, inner, 'a', bit, shapes);
        }
        case LINEAR -> {
          double keys = 2.0 * a.state().groups() * a.state().stateDim() / tp;
          matrix(keys + out * (a.gate() ? 2 : 1), h, 'a', bit, shapes);
          matrix(h, out, 'a', bit, shapes);
        }
      }
    }
    FeedForward f = kind.feedForward();
    if (f == null) {
      return;
    }
    pair(f.width() / tp, h, f.firstOutputs(), 'm', bit, shapes);
    pair(f.sharedWidth() / tp, h, f.firstOutputs(), 's', bit, shapes);
    if (f.moe()) {
      double width = f.latentWidth() > 0 ? f.latentWidth() : h;
      pair(f.expertWidth() / etp, width, f.firstOutputs(), 'e', bit, shapes);
    }
  }

  private static void pair(
      double width, double h, double outputs, char role, int bit, List<Placeholder> shapes) {
    if (width > 0) {
      matrix(outputs * width, h, role, bit, shapes);
      matrix(h, width, role, bit, shapes);
    }
  }

  private static void matrix(
      double rows, double columns, char role, int bit, List<Placeholder> shapes) {
    for (int i = 0; i < shapes.size(); i++) {
      Placeholder p = shapes.get(i);
      if (p.role() == role && p.rows() == rows && p.columns() == columns) {
        shapes.set(i, new Placeholder(role, rows, columns, p.kinds() | bit));
        return;
      }
    }
    shapes.add(new Placeholder(role, rows, columns, bit));
  }

  /** Bytes of one cached 16-bit block per distinct weight shape of the kinds in the mask. */
  double placeholderBytes(int mask) {
    double sum = 0;
    for (int i = 0; i < placeholderBytes.length; i++) {
      if ((placeholderKinds[i] & mask) != 0) {
        sum += placeholderBytes[i];
      }
    }
    return sum;
  }
}
