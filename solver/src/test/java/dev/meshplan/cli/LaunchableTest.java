package dev.meshplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

/** A plan says at once where its framework has no way to build the model. */
class LaunchableTest {
  private static boolean refused(String model, String framework) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code =
        Main.run(
            new PrintWriter(out, true),
            new PrintWriter(err, true),
            "plan",
            "--model=" + model,
            "--system=hgx-a100-80",
            "--gpus=64",
            "--global-batch=64",
            "--sequence=2048",
            "--framework=" + framework);
    assertEquals(0, code, err.toString());
    return out.toString().contains("Note: No launch file for ");
  }

  @Test
  void onlyModelsThatTheFrameworkCannotBuildAreTold() {
    // ALiBi positions: Megatron-LM has none.
    assertEquals(true, refused("bloom-proto-20b", "megatron"));
    assertEquals(false, refused("bloom-proto-20b", "any"));
    assertEquals(false, refused("llama-2-7b", "megatron"));
    assertEquals(false, refused("llama-2-7b", "deepspeed"));
    // No flag of Megatron-LM says a parallel block, but a provider of Megatron-Bridge does.
    assertEquals(false, refused("falcon-40b", "megatron"));
  }
}
