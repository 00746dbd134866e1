package dev.meshplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FormatCommandsTest {
  private static final String PARALLEL =
      "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --ffn-hidden-size 14336 --swiglu"
          + " --group-query-attention --num-query-groups 8 --untie-embeddings-and-output-weights"
          + " --disable-bias-linear --normalization RMSNorm --position-embedding-type rope"
          + " --vocab-size 128256 --seq-length 8192 --micro-batch-size 1 --global-batch-size 64"
          + " --bf16 ";

  @TempDir Path folder;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
  }

  private String file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text).toString();
  }

  private String sample(String path) throws IOException {
    try (InputStream in = FormatCommandsTest.class.getResourceAsStream("/samples/" + path)) {
      Path to = folder.resolve(Path.of(path).getFileName());
      Files.copy(in, to);
      return to.toString();
    }
  }

  @Test
  void modelsSystemsAndInventoriesAreImported() throws IOException {
    assertEquals(0, run("import", "model", sample("hf/qwen3-32b.json"), "--id", "mine"));
    assertTrue(out.toString().contains("id: mine\n"));
    String matrix = sample("topo-m/01-hgx-h200-8gpu-8nic-tabs.txt");
    assertEquals(0, run("import", "system", matrix, "--gpu", "h200-sxm"));
    assertTrue(out.toString().contains("bandwidth: 450 GB/s"));
    String blocks = sample("slurm/block-nvl72.conf");
    assertEquals(0, run("import", "inventory", blocks, "--system", "gb200-nvl72"));
    assertTrue(out.toString().contains("domains: 4"));
    assertEquals(2, run("import", "system", sample("topo-m/27-mig-nvidia-smi-L.txt")));
    assertTrue(err.toString().contains("MIG"));
  }

  @Test
  void anImportedModelPlansAndItsExportAuditsAsTheSamePlan() throws IOException {
    String model = folder.resolve("mine.yaml").toString();
    String config = sample("hf/llama-3.1-8b.json");
    assertEquals(0, run("import", "model", config, "--id", "mine", "-o", model));
    String request =
        file(
            "request.yaml",
            "model: "
                + model
                + "\ncluster: {system: hgx-h100, gpus: 8}\n"
                + "training: {global_batch: 64, sequence: 8192, precision: bf16}\n"
                + "fix: {tp: 2, pp: 2, vpp: 1}\n");
    String to = folder.resolve("launch").toString();
    assertEquals(0, run("export", request, "--to", "megatron,slurm,ranks", "-o", to));
    String script = folder.resolve("launch/megatron/train.sh").toString();
    assertTrue(Files.exists(folder.resolve("launch/slurm/job.sbatch")));
    int code = run("audit", script, "--system", "hgx-h100", "--gpus", "8", "--no-best");
    assertEquals(0, code, out.toString() + err);
    assertTrue(out.toString().contains("Megatron-LM arguments: TP 2, PP 2, DP 2"), out.toString());
    assertTrue(out.toString().contains("no rule is broken"));
  }

  @Test
  void auditReturnsTheGravestFinding() throws IOException {
    String fine =
        file(
            "fine.sh",
            "x.py "
                + PARALLEL
                + "--tensor-model-parallel-size 8 --sequence-parallel"
                + " --use-distributed-optimizer\n");
    assertEquals(0, run("audit", fine, "--system", "hgx-h100", "--gpus", "8", "--no-best"));
    String large = file("large.sh", "x.py " + PARALLEL + "\n");
    assertEquals(6, run("audit", large, "--system", "hgx-h100", "--gpus", "8", "--no-best"));
    assertTrue(out.toString().contains("CUDA out of memory"));
    String broken = file("broken.sh", "x.py " + PARALLEL + "--tensor-model-parallel-size 3\n");
    assertEquals(7, run("audit", broken, "--system", "hgx-h100", "--gpus", "8", "--no-best"));
    assertTrue(out.toString().contains("is not divisible by total_model_size"));
    assertEquals(2, run("audit", file("no.sh", "echo\n"), "--system", "hgx-h100", "--gpus", "8"));
    assertEquals(2, run("audit", fine, "--system", "hgx-h1000", "--gpus", "8"));
    assertTrue(err.toString().contains("hgx-h100"));
  }

  @Test
  void deepSpeedNeedsItsModelAndSequence() throws IOException {
    String json =
        file(
            "ds.json",
            "{\"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": 1,"
                + " \"bf16\": {\"enabled\": true}, \"zero_optimization\": {\"stage\": 3}}");
    String[] base = {"audit", json, "--system", "hgx-h100", "--gpus", "16", "--no-best"};
    assertEquals(2, run(base));
    assertTrue(err.toString().contains("--sequence N"));
    assertEquals(
        0,
        run(
            "audit",
            json,
            "--system",
            "hgx-h100",
            "--gpus",
            "16",
            "--no-best",
            "--model",
            "llama-3.1-8b",
            "--sequence",
            "4096"),
        out.toString());
  }

  @Test
  void anUnknownFormatNamesTheNearest() throws IOException {
    String request = file("r.yaml", "model: llama-3.1-8b\n");
    assertEquals(2, run("export", request, "--to", "megatron-lm"));
    assertTrue(err.toString().contains("megatron"));
    assertFalse(err.toString().contains("Exception"));
  }
}
