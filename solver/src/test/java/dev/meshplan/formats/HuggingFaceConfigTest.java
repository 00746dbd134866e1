package dev.meshplan.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.model.Attention;
import dev.meshplan.model.LayerKind;
import dev.meshplan.model.Model;
import dev.meshplan.model.Parameters;
import dev.meshplan.plan.Catalog;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HuggingFaceConfigTest {
  private static Model read(String name) {
    return HuggingFaceConfig.model(
        name, Samples.text("hf/" + name + ".json"), name, "", new ArrayList<>(), new ArrayList<>());
  }

  private static long moeLayers(Model m) {
    return m.layerKinds().stream().filter(LayerKind::moe).count();
  }

  @ParameterizedTest
  @CsvSource({
    // published totals in billions; nemotron-nas: the sum of its four blocks by hand
    "gpt2, 0.1244",
    "falcon-7b, 6.92",
    "falcon-40b-oldkeys, 41.3",
    "chatglm-4-9b-oldkeys, 9.40",
    "llama-3.1-8b, 8.03",
    "qwen3-32b, 32.8",
    "qwen3-moe-235b-a22b, 235.1",
    "mixtral-8x7b, 46.7",
    "minimax-m2.5, 228.7",
    "gpt-oss-120b, 116.8",
    "llama4-scout-nested, 107.8",
    "llama4-maverick-nested, 400.7",
    "qwen2-moe-57b-a14b, 57.4",
    "gemma-2-9b, 9.24",
    "deepseek-v2, 235.7",
    "deepseek-v3, 671.0",
    "kimi-k2, 1026.4",
    "nemotron-h-56b, 56.0"
  })
  void parametersAreThePublishedOnes(String name, double billions) {
    double total = Parameters.total(read(name));
    assertEquals(billions, total / 1e9, billions * 0.01, name);
  }

  @ParameterizedTest
  @CsvSource({
    "llama-3.1-8b, llama-3.1-8b",
    "qwen3-32b, qwen3-32b",
    "qwen3-moe-235b-a22b, qwen3-235b-a22b",
    "qwen2-moe-57b-a14b, qwen2-57b-a14b",
    "mixtral-8x7b, mixtral-8x7b",
    "gpt-oss-120b, gpt-oss-120b",
    "gpt2, gpt2-124m",
    "llama4-maverick-nested, llama-4-maverick",
    "llama4-scout-nested, llama-4-scout",
    "gemma-2-9b, gemma-2-9b",
    "deepseek-v2, deepseek-v2",
    "deepseek-v3, deepseek-v3",
    "kimi-k2, kimi-k2",
    "nemotron-h-56b, nemotron-h-56b",
    "falcon-40b-oldkeys, falcon-40b"
  })
  void anImportedShapeIsTheOneOfTheCatalog(String sample, String id) {
    Model catalog = Catalog.open(null).models().get(id, new Errors(), m -> {});
    Model read = read(sample);
    assertEquals(Parameters.total(catalog), Parameters.total(read), id);
    assertEquals(catalog.layerCount(), read.layerCount());
    assertEquals(catalog.mtpLayers(), read.mtpLayers());
    assertEquals(
        Parameters.active(catalog, Model.ActiveConvention.ALL),
        Parameters.active(read, Model.ActiveConvention.ALL),
        id);
  }

  @Test
  void gpt2HasLearnedPositionsBiasTiedEmbeddingsAndAFourfoldMlp() {
    Model m = read("gpt2");
    assertEquals(Model.Positions.LEARNED, m.positions());
    assertEquals(1024, m.maxSequence());
    assertTrue(m.tiedEmbeddings());
    LayerKind k = m.layerKinds().get(0);
    assertEquals(4 * 768, k.feedForward().width());
    assertTrue(k.feedForward().bias() && k.attention().qkvBias() && k.attention().outBias());
    assertEquals(124_439_808.0, Parameters.total(m));
  }

  @Test
  void falcon7bHasOneKvHeadAnd71Heads() {
    Attention a = read("falcon-7b").layerKinds().get(0).attention();
    assertEquals(71, a.heads());
    assertEquals(1, a.kvHeads());
    assertFalse(read("falcon-7b").layerKinds().get(0).feedForward().gated());
  }

  @Test
  void oldFalconKeysAreRead() {
    Model m = read("falcon-40b-oldkeys");
    assertEquals(60, m.layerCount());
    assertEquals(8, m.layerKinds().get(0).attention().kvHeads());
  }

  @Test
  void chatglmKeysAreRead() {
    Model m = read("chatglm-4-9b-oldkeys");
    assertEquals(151552, m.vocabulary());
    assertEquals(2, m.layerKinds().get(0).attention().kvHeads());
    assertTrue(m.layerKinds().get(0).feedForward().gated());
    assertTrue(m.layerKinds().get(0).attention().qkvBias());
    assertEquals(131072, m.maxSequence());
  }

  @Test
  void headDimensionNeedNotBeHiddenOverHeads() {
    Attention a = read("qwen3-moe-235b-a22b").layerKinds().get(0).attention();
    assertEquals(8192, a.heads() * a.headDim());
    assertEquals(4, a.kvHeads());
    assertEquals(256, read("gemma-2-9b").layerKinds().get(0).attention().headDim());
    assertTrue(read("gemma-2-9b").tiedEmbeddings());
  }

  @Test
  void expertCountsAreFoundUnderEveryName() {
    assertEquals(8, read("mixtral-8x7b").experts());
    assertEquals(256, read("minimax-m2.5").experts());
    assertEquals(128, read("gpt-oss-120b").experts());
    assertEquals(64, read("qwen2-moe-57b-a14b").experts());
    assertEquals(384, read("kimi-k2").experts());
    assertEquals(14336, read("mixtral-8x7b").layerKinds().get(0).feedForward().expertWidth());
    assertEquals(2880, read("gpt-oss-120b").layerKinds().get(0).feedForward().expertWidth());
  }

  @Test
  void mixtureOfExpertsLayersAreWhereTheConfigurationPutsThem() {
    assertEquals(24, moeLayers(read("llama4-maverick-nested")));
    assertTrue(read("llama4-maverick-nested").layerKinds().get(1).moe());
    assertEquals(16384, read("llama4-maverick-nested").layerKinds().get(0).feedForward().width());
    assertEquals(48, moeLayers(read("llama4-scout-nested")));
    assertEquals(58, moeLayers(read("deepseek-v3")));
    assertEquals(60, moeLayers(read("kimi-k2")));
    assertEquals(59, moeLayers(read("deepseek-v2")));
    assertEquals(28, moeLayers(read("qwen2-moe-57b-a14b")));
  }

  @Test
  void sharedExpertsAreCounted() {
    assertEquals(20480, read("qwen2-moe-57b-a14b").layerKinds().get(0).feedForward().sharedWidth());
    assertTrue(read("qwen2-moe-57b-a14b").layerKinds().get(0).feedForward().sharedGate());
    assertEquals(3072, read("deepseek-v2").layerKinds().get(5).feedForward().sharedWidth());
    assertEquals(8192, read("llama4-scout-nested").layerKinds().get(0).feedForward().sharedWidth());
  }

  @Test
  void latentAttentionIgnoresKeyValueHeads() {
    Model m = read("deepseek-v3");
    Attention a = m.layerKinds().get(0).attention();
    assertEquals(Attention.Kind.MLA, a.kind());
    assertEquals(512, a.mla().kvRank());
    assertEquals(1, m.mtpLayers());
    assertEquals(8, m.layerKinds().get(10).feedForward().routerGroups());
    assertEquals(4, m.layerKinds().get(10).feedForward().routerTopGroups());
    assertEquals(0, read("kimi-k2").mtpLayers());
  }

  @Test
  void slidingAndFullLayersAlternate() {
    Model m = read("gpt-oss-120b");
    assertEquals(128, m.layerKinds().get(0).attention().window());
    assertEquals(0, m.layerKinds().get(1).attention().window());
    assertEquals(1, m.layers().size());
    assertEquals(18, m.layers().get(0).repeat());
    assertEquals(4096, read("gemma-2-9b").layerKinds().get(0).attention().window());
    assertEquals(0, read("gemma-2-9b").layerKinds().get(1).attention().window());
    assertEquals(0, read("mixtral-8x7b").layerKinds().get(0).attention().window());
  }

  @Test
  void hybridSymbolsBecomeSingleMixerLayers() {
    Model m = read("nemotron-h-56b");
    assertEquals(118, m.layerCount());
    assertEquals(
        54,
        m.layerKinds().stream()
            .filter(k -> k.attention() != null && !k.attention().softmax())
            .count());
    assertEquals(54, m.layerKinds().stream().filter(k -> k.feedForward() != null).count());
    assertEquals(
        10,
        m.layerKinds().stream()
            .filter(k -> k.attention() != null && k.attention().softmax())
            .count());
  }

  @Test
  void blocksOfASearchedModelHaveTheirOwnSizes() {
    List<LayerKind> kinds = read("nemotron-nas-49b-null-fields").layerKinds();
    assertEquals(4, kinds.size());
    assertEquals(14336, kinds.get(0).feedForward().width());
    assertEquals(8, kinds.get(0).attention().kvHeads());
    assertEquals(null, kinds.get(1).attention());
    assertEquals(7168, kinds.get(1).feedForward().width());
    assertEquals(null, kinds.get(2).feedForward());
    assertEquals(28672, kinds.get(3).feedForward().width());
  }

  @Test
  void whatWasAssumedIsSaid() {
    Imported i = HuggingFaceConfig.read("gemma.json", Samples.text("hf/gemma-2-9b.json"), "g", "");
    assertTrue(i.assumed().stream().anyMatch(a -> a.contains("tie_word_embeddings")));
    assertTrue(i.understood().stream().anyMatch(u -> u.contains("42 layers")));
    assertTrue(i.text().contains("# understood: "));
  }

  @Test
  void anUnknownFamilyIsRefusedWithTheNearestOnes() {
    InputException e =
        assertThrows(
            InputException.class,
            () ->
                HuggingFaceConfig.read(
                    "c.json", "{\"model_type\": \"qwen9\", \"hidden_size\": 64}", "x", ""));
    assertTrue(e.getMessage().contains("qwen2") && e.getMessage().contains("--as TYPE"));
  }

  @Test
  void allMissingKeysAreReportedAtOnce() {
    InputException e =
        assertThrows(
            InputException.class,
            () -> HuggingFaceConfig.read("c.json", "{\"model_type\": \"llama\"}", "x", ""));
    for (String key :
        List.of("hidden_size", "num_attention_heads", "num_hidden_layers", "vocab_size")) {
      assertTrue(e.getMessage().contains(key), e.getMessage());
    }
  }

  @Test
  void headsThatDoNotDivideAreRefused() {
    assertThrows(
        InputException.class,
        () ->
            HuggingFaceConfig.read(
                "c.json",
                Samples.text("hf/llama-3.1-8b.json")
                    .replace("\"num_key_value_heads\": 8", "\"num_key_value_heads\": 5"),
                "x",
                ""));
  }
}
