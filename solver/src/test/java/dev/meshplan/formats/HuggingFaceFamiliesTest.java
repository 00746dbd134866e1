package dev.meshplan.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.InputException;
import dev.meshplan.model.Model;
import dev.meshplan.model.Parameters;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Shapes of public families against the parameter counts that their cards print. */
class HuggingFaceFamiliesTest {
  private static Model read(String keys) {
    String json = "{" + keys.replace('\'', '"') + "}";
    return HuggingFaceConfig.model(
        "config.json", json, "x", "", new ArrayList<>(), new ArrayList<>());
  }

  private static String base(String type, int h, int l, int a, int vocabulary) {
    return "'model_type':'%s','hidden_size':%d,'num_hidden_layers':%d,'num_attention_heads':%d,'vocab_size':%d,"
        .formatted(type, h, l, a, vocabulary);
  }

  /** Type, hidden, layers, heads, vocabulary, other keys, billions of parameters. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gpt_neox|6144|44|64|50432|'intermediate_size':24576|20.55",
        "phi|2560|32|32|51200|'intermediate_size':10240|2.780",
        "cohere|8192|40|64|256000|'intermediate_size':22528,'num_key_value_heads':64|34.98",
        "cohere2|4096|32|32|256000|'intermediate_size':14336,'num_key_value_heads':8,'sliding_window':4096|8.03",
        "opt|4096|32|32|50272|'ffn_dim':16384,'max_position_embeddings':2048,'word_embed_proj_dim':4096|6.658",
        "starcoder2|6144|40|48|49152|'intermediate_size':24576,'num_key_value_heads':4,'use_bias':true,'tie_word_embeddings':false|15.96",
        "stablelm|5120|40|32|100352|'intermediate_size':13824,'num_key_value_heads':8,'use_parallel_residual':true,'qk_layernorm':true|12.14",
        "olmo|4096|32|32|50304|'intermediate_size':11008|6.888",
        "olmoe|2048|16|16|50304|'intermediate_size':1024,'num_experts':64,'num_experts_per_tok':8|6.919",
        "granite|4096|40|32|49155|'intermediate_size':12800,'num_key_value_heads':8|8.171",
        "qwen|4096|32|32|151936|'intermediate_size':22016|7.721",
        "deepseek|2048|28|16|102400|'intermediate_size':10944,'moe_intermediate_size':1408,'n_routed_experts':64,'n_shared_experts':2,'num_experts_per_tok':6,'first_k_dense_replace':1|16.38",
        "ernie4_5_moe|2560|28|20|103424|'intermediate_size':12288,'moe_intermediate_size':1536,'moe_num_experts':64,'moe_k':6,'moe_num_shared_experts':2,'moe_layer_start_index':1,'num_key_value_heads':4|21.83",
        "phimoe|4096|32|32|32064|'intermediate_size':6400,'num_local_experts':16,'num_experts_per_tok':2,'num_key_value_heads':8|41.87",
        "glm|4096|40|32|151552|'intermediate_size':13696,'num_key_value_heads':2|9.40",
        "internlm2|6144|48|48|92544|'intermediate_size':16384,'num_key_value_heads':8|19.86",
        "seed_oss|5120|64|80|155136|'intermediate_size':27648,'num_key_value_heads':8,'head_dim':128|36.15",
        "smollm3|2048|36|16|128256|'intermediate_size':11008,'num_key_value_heads':4|3.075",
        "qwen3_next|2048|48|16|151936|'intermediate_size':5120,'moe_intermediate_size':512,'num_experts':512,'num_experts_per_tok':10,'shared_expert_intermediate_size':512,'head_dim':256,'num_key_value_heads':2|79.67"
      })
  void countsAreThoseOfTheCards(
      String type, int h, int l, int a, int vocabulary, String other, double billions) {
    Model m = read(base(type, h, l, a, vocabulary) + other);
    assertEquals(1, Parameters.total(m) / 1e9 / billions, 0.004, type);
    assertEquals(l, m.layerCount());
  }

  @Test
  void otherNamesOfTheSameKeysAreRead() {
    Model gptj =
        read(
            "'model_type':'gptj','n_embd':4096,'n_layer':28,'n_head':16,'n_positions':2048,'vocab_size':50400");
    assertEquals(1, Parameters.total(gptj) / 6.053e9, 0.002);
    assertTrue(gptj.parallelBlock());
    assertEquals(1, gptj.normsPerLayer());
    Model mpt =
        read(
            "'model_type':'mpt','d_model':4096,'n_heads':32,'n_layers':32,'expansion_ratio':4,"
                + "'max_seq_len':2048,'vocab_size':50432,'no_bias':true,'attn_config':{'alibi':true}");
    assertEquals(1, Parameters.total(mpt) / 6.649e9, 0.002);
    Model dbrx =
        read(
            "'model_type':'dbrx','d_model':6144,'n_heads':48,'n_layers':40,'max_seq_len':32768,"
                + "'vocab_size':100352,'attn_config':{'kv_n_heads':8},"
                + "'ffn_config':{'ffn_hidden_size':10752,'moe_num_experts':16,'moe_top_k':4}");
    assertEquals(1, Parameters.total(dbrx) / 131.6e9, 0.002);
    Model starcoder =
        read(
            "'model_type':'gpt_bigcode','n_embd':6144,'n_layer':40,'n_head':48,'n_inner':24576,"
                + "'n_positions':8192,'vocab_size':49152,'multi_query':true");
    assertEquals(1, Parameters.total(starcoder) / 15.52e9, 0.002);
    Model mamba =
        read(
            "'model_type':'mamba2','hidden_size':2560,'num_hidden_layers':64,'num_heads':80,"
                + "'head_dim':64,'state_size':128,'n_groups':1,'conv_kernel':4,'vocab_size':50288,"
                + "'tie_word_embeddings':true");
    assertEquals(1, Parameters.total(mamba) / 2.70e9, 0.004);
  }

  @Test
  void parallelBlocksAreKnown() {
    assertTrue(
        read(base("phi", 2560, 32, 32, 51200) + "'intermediate_size':10240").parallelBlock());
    String neox = base("gpt_neox", 2560, 32, 32, 50432) + "'intermediate_size':10240";
    assertTrue(read(neox).parallelBlock());
    assertFalse(read(neox + ",'use_parallel_residual':false").parallelBlock());
    assertFalse(
        read(base("llama", 4096, 2, 32, 32000) + "'intermediate_size':11008").parallelBlock());
  }

  @Test
  void languageHalvesOfMultimodalModelsAreRead() {
    Model vl =
        read(
            "'model_type':'qwen2_5_vl','vision_config':{'depth':32},'text_config':{"
                + base("qwen2_5_vl_text", 3584, 28, 28, 152064)
                + "'intermediate_size':18944,'num_key_value_heads':4,'tie_word_embeddings':false}");
    assertEquals(1, Parameters.total(vl) / 7.616e9, 0.002);
    Model llava =
        read(
            "'model_type':'llava','text_config':{"
                + base("llama", 4096, 32, 32, 32064)
                + "'intermediate_size':11008}");
    assertEquals(32, llava.layerCount());
  }

  @ParameterizedTest
  @CsvSource({"bert", "t5", "whisper", "mamba", "jamba", "gemma3n", "rwkv", "deepseek_v32"})
  void familiesWithOtherPartsAreRefusedAndNotGuessed(String type) {
    InputException e =
        assertThrows(
            InputException.class,
            () -> read(base(type, 1024, 2, 16, 32000) + "'intermediate_size':4096"));
    assertTrue(e.getMessage().contains("the shape would be a guess"), e.getMessage());
  }

  @Test
  void missingKeysAreNamedTogether() {
    InputException e =
        assertThrows(InputException.class, () -> read("'model_type':'llama','hidden_size':4096"));
    assertTrue(
        e.getMessage().contains("num_hidden_layers") && e.getMessage().contains("vocab_size"));
  }
}
