package dev.meshplan.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Errors;
import dev.meshplan.config.Section;
import dev.meshplan.config.YamlReader;
import dev.meshplan.hardware.Precision;
import dev.meshplan.model.LayerGroup;
import dev.meshplan.model.Model;
import dev.meshplan.model.ModelReader;
import dev.meshplan.model.Parameters;
import dev.meshplan.plan.CpKind;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Module;
import dev.meshplan.plan.Recompute;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RoundTripTest {
  static List<Jobs> jobs() {
    Jobs cp = Jobs.of("llama-3.1-8b", "hgx-h100", 2, 4, 1, 4, 1, 1);
    cp.cpKind = CpKind.ALL_TO_ALL;
    cp.precision = Precision.FP8;
    Jobs moe = Jobs.of("mixtral-8x7b", "hgx-h100", 2, 1, 4, 8, 8, 2);
    moe.memory = new MemoryPlan(1, 0, 0, Recompute.selective(Module.LAYERNORM, Module.MOE_ACT), 0);
    Jobs fsdp = Jobs.of("llama-3.1-8b", "hgx-h100", 1, 1, 1, 16, 1, 1);
    fsdp.memory = new MemoryPlan(3, 8, 0, Recompute.FULL, 0);
    Jobs offload = Jobs.of("gpt-oss-120b", "hgx-h200", 1, 1, 4, 16, 8, 1);
    offload.memory =
        new MemoryPlan(1, 0, 0, new Recompute(Recompute.Granularity.FULL, List.of(), 1.0 / 3), 0.5);
    offload.optimizerBytes = 8;
    return List.of(
        Jobs.llama405(),
        Jobs.deepseekNvl72(),
        cp,
        moe,
        fsdp,
        offload,
        Jobs.of("nemotron-h-56b", "hgx-h100", 8, 1, 2, 4, 1, 1),
        Jobs.of("nemotron3-super-120b", "hgx-h100", 1, 1, 4, 8, 8, 1),
        Jobs.of("llama-4-maverick", "gb200-nvl72", 1, 1, 4, 64, 64, 1),
        Jobs.of("qwen3-235b-a22b", "gb200-nvl72", 1, 1, 8, 32, 8, 1));
  }

  private static String file(Export e, String name) {
    assertTrue(e.ok(), e.refused());
    return e.files().stream().filter(f -> f.name().equals(name)).findFirst().orElseThrow().text();
  }

  @ParameterizedTest
  @MethodSource("jobs")
  void megatronScriptsAndArgumentsReadBackAsThePlan(Jobs jobs) {
    Job job = jobs.build();
    Export e = Exporters.export(Format.MEGATRON, job, false);
    int capability = job.gpu().architecture().blackwell() ? 10 : 9;
    for (String name : List.of("train.sh", "args.yaml")) {
      ForeignPlan p = MegatronReader.read(name, file(e, name), job.gpus(), capability, Map.of());
      assertEquals(List.of(), p.findings(), name);
      assertEquals(job.dims(), p.dims());
      assertEquals(job.plan().batch(), p.batch());
      assertEquals(job.plan().schedule(), p.schedule());
      assertEquals(job.plan().memory().sharding(), p.memory().sharding());
      assertEquals(job.plan().memory().shardGroup(), p.memory().shardGroup());
      assertEquals(
          job.plan().memory().recompute().granularity(), p.memory().recompute().granularity());
      assertEquals(job.plan().memory().recompute().modules(), p.memory().recompute().modules());
      assertEquals(job.plan().memory().optimizerOffload(), p.memory().optimizerOffload());
      assertEquals(job.stageLayers(), p.stageLayers());
      assertEquals(job.mtpLayers(), p.mtpLayers());
      assertEquals(job.training().globalBatch(), p.training().globalBatch());
      assertEquals(job.training().precision(), p.training().precision());
      assertEquals(job.training().cpKind(), p.training().cpKind());
      assertEquals(job.training().optimizerBytes(), p.training().optimizerBytes());
      assertEquals(job.training().gradientType(), p.training().gradientType());
      assertEquals(
          Parameters.total(job.model()),
          Parameters.total(p.model()),
          1e-3 * Parameters.total(job.model()));
      assertEquals(
          job.model().layerKinds().stream().map(k -> k.moe()).toList(),
          p.model().layerKinds().stream().map(k -> k.moe()).toList());
    }
  }

  @Test
  void deepSpeedConfigurationsReadBackAsThePlan() {
    Jobs j = Jobs.of("llama-3.1-8b", "hgx-h100", 1, 4, 1, 4, 1, 1);
    j.cpKind = CpKind.ALL_TO_ALL;
    j.memory = new MemoryPlan(3, 0, 8, Recompute.FULL, 0.5);
    Job job = j.build();
    for (boolean microOnly : List.of(false, true)) {
      String text = file(Exporters.export(Format.DEEPSPEED, job, microOnly), "ds_config.json");
      ForeignPlan p = DeepSpeedReader.read("ds", text, job.gpus(), 1, 1, 1, job.model(), 4096);
      assertEquals(List.of(), p.findings());
      assertEquals(job.dims(), p.dims());
      assertEquals(job.plan().batch(), p.batch());
      assertEquals(job.plan().memory(), p.memory());
      assertEquals(job.training().globalBatch(), p.training().globalBatch());
    }
    Jobs tensor = Jobs.of("gpt3-13b", "hgx-a100-80", 4, 1, 2, 2, 1, 1);
    Job t = tensor.build();
    Export e = Exporters.export(Format.DEEPSPEED, t, false);
    ForeignPlan p =
        DeepSpeedReader.read("ds", file(e, "ds_config.json"), t.gpus(), 4, 2, 1, t.model(), 4096);
    assertEquals(t.dims(), p.dims());
    assertEquals(t.plan().batch(), p.batch());
  }

  @Test
  void torchtitanConfigurationsReadBackAsThePlan() {
    Jobs plain = Jobs.of("llama-3.1-8b", "hgx-h100", 2, 2, 1, 16, 1, 1);
    plain.memory = new MemoryPlan(3, 8, 0, Recompute.FULL, 0);
    plain.cpKind = CpKind.ALL_GATHER;
    Jobs pipeline = Jobs.of("llama-3.1-70b", "hgx-h100", 8, 1, 4, 2, 1, 2);
    pipeline.memory = new MemoryPlan(3, 0, 0, Recompute.NONE, 0);
    Jobs experts = Jobs.of("gpt-oss-20b", "hgx-h100", 1, 1, 1, 16, 8, 1);
    experts.memory = new MemoryPlan(2, 0, 0, Recompute.NONE, 0);
    for (Jobs j : List.of(plain, pipeline, experts)) {
      Job job = j.build();
      Export e = Exporters.export(Format.TORCHTITAN, job, false);
      String toml = file(e, "config.toml");
      ForeignPlan p = TorchTitanReader.read("config.toml", toml, job.gpus(), job.model());
      assertEquals(List.of(), p.findings());
      assertEquals(job.dims(), p.dims());
      assertEquals(job.plan().batch().microBatch(), p.batch().microBatch());
      assertEquals(job.plan().memory(), p.memory());
      assertEquals(job.plan().schedule(), p.schedule());
      if (job.dims().pp() > 1) {
        assertEquals(job.stageLayers(), p.stageLayers());
      }
    }
  }

  @Test
  void everyModelOfTheCatalogIsWrittenAndReadBack() {
    Jobs.CATALOG
        .models()
        .all()
        .forEach(
            (id, m) -> {
              Errors errors = new Errors();
              Section s = YamlReader.parse(id, ModelYaml.write(m), errors);
              errors.throwIfAny();
              Model back = ModelReader.read(s);
              errors.throwIfAny();
              assertEquals(Parameters.total(m), Parameters.total(back), id);
              assertEquals(m.layerKinds(), back.layerKinds(), id);
              assertEquals(
                  m.layers().stream().mapToInt(LayerGroup::layers).sum(), back.layerCount());
            });
  }

  @Test
  void layoutsReadBackStageByStage() {
    String layout = MegatronLayout.write(Jobs.deepseekNvl72().build().plan().stages());
    List<String> stages = MegatronLayoutReader.stages(layout);
    assertEquals(16, stages.size());
    assertEquals(List.of(), MegatronLayoutReader.check(layout, 61, 1, 4));
    assertEquals(
        List.of("Ettt", "tt", "tt", "m", "L"),
        List.of(
            MegatronLayoutReader.stages("Et*3|(tt|)*29,m|L").get(0),
            MegatronLayoutReader.stages("Et*3|(tt|)*29,m|L").get(1),
            MegatronLayoutReader.stages("Et*3|(tt|)*29,m|L").get(29),
            MegatronLayoutReader.stages("Et*3|(tt|)*29,m|L").get(30),
            MegatronLayoutReader.stages("Et*3|(tt|)*29,m|L").get(31)));
  }
}
