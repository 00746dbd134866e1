package dev.meshplan.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The batch script is run by bash, with stand-ins for what Slurm answers. */
class SlurmScriptTest {
  @TempDir Path folder;

  /** Exit status, then the lines that srun saw: its arguments, and a host for each rank. */
  private record Run(int status, List<String> lines) {}

  private void tool(String name, String body) throws IOException {
    Path file = folder.resolve(name);
    Files.writeString(file, "#!/usr/bin/env bash\n" + body);
    assertTrue(file.toFile().setExecutable(true));
  }

  /**
   * Runs a script.
   *
   * @param granted nodes in the order in which Slurm names them
   * @param blocks a line of {@code scontrol show topology} for each
   */
  private Run run(Export export, List<String> granted, List<String> blocks) throws IOException {
    for (OutputFile f : export.files()) {
      Files.writeString(folder.resolve(f.name()), f.text());
    }
    Files.writeString(folder.resolve("blocks"), String.join("\n", blocks) + "\n");
    tool(
        "scontrol",
        "if [[ $2 == hostnames ]]; then tr , '\\n' <<< \"$3\"; else cat \"$PLACE/blocks\"; fi\n");
    tool("srun", "echo \"$*\" | head -n 1\n[[ -z ${SLURM_HOSTFILE:-} ]] || cat $SLURM_HOSTFILE\n");
    ProcessBuilder b = new ProcessBuilder("bash", folder.resolve("job.sbatch").toString());
    b.environment().put("PATH", folder + ":" + System.getenv("PATH"));
    b.environment().put("PLACE", folder.toString());
    b.environment().put("SLURM_SUBMIT_DIR", folder.toString());
    b.environment().put("SLURM_JOB_NODELIST", String.join(",", granted));
    b.redirectErrorStream(true);
    try {
      Process p = b.start();
      String said = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Run(p.waitFor(), said.lines().toList());
    } catch (IOException absent) {
      assumeTrue("true".equals(System.getenv("CI")), "bash is not installed");
      throw absent;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  /** Racks of 18 trays whose names do not sort like the racks. */
  private static List<String> rack(String name) {
    return IntStream.range(0, 18).mapToObj(i -> name + String.format("%02d", i)).toList();
  }

  private static String block(String name, List<String> nodes) {
    return "BlockName=" + name + " BlockIndex=0 Nodes=" + String.join(",", nodes) + " BlockSize=18";
  }

  private static List<String> sorted(List<String> a, List<String> b) {
    List<String> all = new ArrayList<>(a);
    all.addAll(b);
    all.sort(null);
    return all;
  }

  private static Export export(Jobs j) {
    Export e = Exporters.export(Format.SLURM, j.build(), false);
    assertTrue(e.ok(), e.refused());
    return e;
  }

  @Test
  void ranksFollowRacksWhateverTheHostsAreCalled() throws IOException {
    Jobs j = Jobs.of("deepseek-v3", "gb200-nvl72", 1, 1, 2, 64, 64, 1);
    List<String> first = rack("z").subList(0, 16);
    List<String> second = rack("a").subList(0, 16);
    Run r =
        run(
            export(j),
            sorted(first, second),
            List.of(block("b1", rack("z")), block("b2", rack("a"))));
    assertEquals(0, r.status(), r.lines().toString());
    assertTrue(r.lines().get(0).startsWith("--distribution=arbitrary --ntasks=128 "));
    List<String> hosts = new ArrayList<>(first);
    hosts.addAll(second);
    List<String> each =
        hosts.stream().flatMap(h -> IntStream.range(0, 4).mapToObj(g -> h)).toList();
    assertEquals(each, r.lines().subList(1, r.lines().size()));
  }

  @Test
  void aSegmentThatLeavesItsRackStopsTheJob() throws IOException {
    Jobs j = Jobs.of("deepseek-v3", "gb200-nvl72", 1, 1, 2, 64, 64, 1);
    List<String> all = sorted(rack("z").subList(0, 14), rack("a"));
    Run r = run(export(j), all, List.of(block("b1", rack("z")), block("b2", rack("a"))));
    assertNotEquals(0, r.status());
    assertTrue(r.lines().toString().contains("spans b1 and b2"), r.lines().toString());
  }

  @Test
  void blocksThatEndInsideATrayStartOnlyTheRanksOfTheMap() throws IOException {
    Jobs j = Jobs.of("deepseek-v3", "gb200-nvl72", 1, 1, 1, 32, 16, 1);
    j.block = 18;
    List<String> granted = rack("n").subList(0, 9);
    Run r = run(export(j), granted, List.of(block("b1", rack("n"))));
    assertEquals(0, r.status(), r.lines().toString());
    List<String> hosts = r.lines().subList(1, r.lines().size());
    assertEquals(32, hosts.size());
    assertEquals(
        Segments.of(j.build()).map().stream()
            .map(s -> granted.get(s.node()))
            .collect(Collectors.toList()),
        hosts);
  }

  @Test
  void plainServersNeedNoListOfHosts() throws IOException {
    Jobs j = Jobs.of("llama-3.1-8b", "hgx-h100", 1, 1, 1, 16, 1, 1);
    Run r = run(export(j), List.of("h1", "h2"), List.of());
    assertEquals(0, r.status(), r.lines().toString());
    assertEquals(1, r.lines().size());
    assertTrue(r.lines().get(0).startsWith("--distribution=block --ntasks=16 "));
  }
}
