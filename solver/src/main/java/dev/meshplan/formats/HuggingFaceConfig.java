package dev.meshplan.formats;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputError;
import dev.meshplan.config.InputException;
import dev.meshplan.config.Names;
import dev.meshplan.config.Section;
import dev.meshplan.config.YamlReader;
import dev.meshplan.model.LayerGroup;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.model.ModelReader;
import dev.meshplan.model.Parameters;
import dev.meshplan.units.Quantity;
import java.util.ArrayList;
import java.util.List;

/** Importer of Hugging Face {@code config.json} files: the shape of the language model in it. */
public final class HuggingFaceConfig {
  private static final int MOST_PATTERN = 24;

  private HuggingFaceConfig() {}

  /**
   * The model as YAML of the catalog.
   *
   * @param file names it in messages
   * @param text the JSON
   * @param id id of the new model
   * @param as a known {@code model_type} to read an unknown one as; empty = none
   * @throws InputException with every problem, when it isn't understood whole
   */
  public static Imported read(String file, String text, String id, String as) {
    List<String> understood = new ArrayList<>();
    List<String> assumed = new ArrayList<>();
    Model model = model(file, text, id, as, understood, assumed);
    return new Imported(
        "Hugging Face config.json",
        understood,
        assumed,
        List.of(),
        List.of(),
        ModelYaml.write(model));
  }

  /** The model itself; fills what was understood and assumed. */
  static Model model(
      String file,
      String text,
      String id,
      String as,
      List<String> understood,
      List<String> assumed) {
    Errors errors = new Errors();
    Section top = YamlReader.parse(file, text.replace('\t', ' '), errors);
    errors.throwIfAny();
    Section s = top;
    for (String nested : List.of("text_config", "llm_config", "language_config")) {
      if (top.isSection(nested)) {
        s = top.section(nested, true);
        understood.add("the language model is under " + nested);
      }
    }
    String outer = top.text("model_type", "");
    String type = s.text("model_type", outer);
    HuggingFaceFamily family = HuggingFaceFamily.of(as.isEmpty() ? type : as);
    if (family == null && as.isEmpty()) {
      family = HuggingFaceFamily.of(outer);
    }
    if (family == null) {
      String wrong = as.isEmpty() ? type : as;
      throw new InputException(
          file,
          "model_type",
          wrong,
          "is a family whose defaults are not known, so the shape would be a guess."
              + Names.hint(wrong, HuggingFaceFamily.types())
              + " Read it as a known one with --as TYPE ("
              + String.join(", ", HuggingFaceFamily.types())
              + "), or write the model file by hand (models/README.md).");
    }
    if (!as.isEmpty() && !as.equals(type)) {
      assumed.add("model_type " + type + " is read as " + family.type + ", as asked");
    }
    HuggingFaceLayers layers = new HuggingFaceLayers(s, family, assumed);
    Model model = assemble(id, file, top, s, family, layers, assumed);
    errors = s.errors();
    for (InputError e : top.errors().list()) {
      errors.add(e);
    }
    errors.throwIfAny();
    check(file, model);
    report(model, understood);
    if (top.has("quantization_config") || s.has("quantization_config")) {
      understood.add("quantization_config is about the stored weights; training size is unchanged");
    }
    return model;
  }

  private static Model assemble(
      String id,
      String file,
      Section top,
      Section s,
      HuggingFaceFamily family,
      HuggingFaceLayers layers,
      List<String> assumed) {
    int hidden = layers.hidden();
    int vocabulary = Keys.positive(s, "vocab_size", "padded_vocab_size");
    int max =
        Keys.optional(
            s, 0, "max_position_embeddings", "n_positions", "n_ctx", "seq_length", "max_seq_len");
    boolean tied = family.tied;
    if (s.has("tie_word_embeddings")) {
      tied = s.flag("tie_word_embeddings", tied);
    } else if (top.has("tie_word_embeddings")) {
      tied = top.flag("tie_word_embeddings", tied);
    } else {
      assumed.add(
          "tie_word_embeddings is absent: the default of "
              + family.type
              + " is "
              + (tied ? "tied" : "not tied"));
    }
    Model.Positions positions = s.flag("alibi", false) ? Model.Positions.ALIBI : family.positions;
    int norms = layers.newFalcon() ? 2 : family.norms;
    int mtp = (int) s.integer("num_nextn_predict_layers", 0, 64, 0);
    List<LayerKind> kinds = layers.kinds();
    return new Model(
        id,
        List.of(),
        family.type,
        hidden,
        vocabulary,
        tied,
        positions,
        max,
        family.norm,
        norms,
        family == HuggingFaceFamily.BLOOM,
        s.flag(
            "use_parallel_residual",
            s.flag("parallel_attn", family.parallelBlock()) || layers.newFalcon()),
        groups(kinds),
        mtp,
        new Model.Published(0, 0, Model.ActiveConvention.ALL, false, ""),
        layers.notes(),
        List.of("Hugging Face configuration " + file));
  }

  /** Consecutive layers folded into the fewest groups of repeated patterns, greedily. */
  static List<LayerGroup> groups(List<LayerKind> kinds) {
    List<LayerGroup> groups = new ArrayList<>();
    int at = 0;
    while (at < kinds.size()) {
      int bestPeriod = 1;
      int bestRepeat = 1;
      for (int p = 1; p <= Math.min(MOST_PATTERN, kinds.size() - at); p++) {
        int r = 1;
        while (at + (r + 1) * p <= kinds.size()
            && kinds.subList(at, at + p).equals(kinds.subList(at + r * p, at + (r + 1) * p))) {
          r++;
        }
        if (r > 1 && p * r > bestPeriod * bestRepeat) {
          bestPeriod = p;
          bestRepeat = r;
        }
      }
      groups.add(new LayerGroup(bestRepeat, kinds.subList(at, at + bestPeriod)));
      at += bestPeriod * bestRepeat;
    }
    return groups;
  }

  private static void check(String file, Model model) {
    Errors errors = new Errors();
    Section again = YamlReader.parse(file, ModelYaml.write(model), errors);
    Model read = again == null ? null : ModelReader.read(again);
    errors.throwIfAny();
    if (read == null || Parameters.total(read) != Parameters.total(model)) {
      throw new IllegalStateException("the written model does not read back as it was");
    }
  }

  private static void report(Model m, List<String> understood) {
    understood.add(
        m.layerCount()
            + " layers of hidden size "
            + m.hidden()
            + ", vocabulary "
            + m.vocabulary()
            + (m.tiedEmbeddings() ? ", tied embeddings" : ", separate output head"));
    for (LayerKind k : m.distinctKinds()) {
      long n = m.layerKinds().stream().filter(k::equals).count();
      understood.add(n + " layers of " + HuggingFaceLayers.describe(k));
    }
    if (m.mtpLayers() > 0) {
      understood.add(m.mtpLayers() + " multi-token-prediction layer(s)");
    }
    understood.add(
        Quantity.count(Parameters.total(m))
            + " parameters, "
            + Quantity.count(Parameters.active(m, Model.ActiveConvention.ALL))
            + " used per token (embeddings counted, MTP not)");
  }
}
