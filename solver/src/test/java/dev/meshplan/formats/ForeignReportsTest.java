package dev.meshplan.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.plan.Catalog;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Reports of machines and schedulers in the forms that people paste. */
class ForeignReportsTest {
  private static Imported nodes(String text, String system) {
    SystemSpec s = Catalog.open(null).systems().get(system, new Errors(), m -> {});
    return InventoryImport.read("nodes.txt", text, s);
  }

  private static Imported matrix(String text) {
    return TopologyMatrix.read("topo.txt", text, "box", null, 0);
  }

  @Test
  void nodesThatAreDownAreLeftOutAndNamed() {
    Imported i =
        nodes(
            """
            NodeName=n01 Arch=x86_64 CoresPerSocket=56
               Gres=gpu:h100:8(S:0-1)
               State=MIXED ThreadsPerCore=2

            NodeName=n02 Arch=x86_64
               Gres=gpu:h100:8
               State=DOWN*+DRAIN ThreadsPerCore=2
               Reason=fell off the bus

            NodeName=n03 Arch=x86_64
               Gres=gpu:h100:7
               State=IDLE
            NodeName=n04
               Gres=gpu:8
               State=ALLOCATED
            """,
            "hgx-h100");
    assertEquals("scontrol show node", i.kind());
    assertTrue(i.understood().contains("all: 2 nodes, n01,n04"), i.understood().toString());
    assertEquals(
        List.of("n02 is DOWN*+DRAIN: left out", "n03 has 7 GPUs, not 8: left out"), i.faults());
    assertTrue(i.yaml().contains("domains: 2"));
  }

  @Test
  void sinfoAndHostfilesAreRead() {
    Imported sinfo =
        nodes(
            """
            PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST
            batch*       up   infinite      3   idle node[01-03]
            batch*       up   infinite      1  drain node04
            """,
            "hgx-h100");
    assertTrue(sinfo.understood().contains("all: 3 nodes, node[01-03]"));
    assertEquals(List.of("node04 is drain: left out"), sinfo.faults());
    Imported hosts =
        nodes("worker-0 slots=8\nworker-1 slots=8 # two\nworker-2 slots=4\n", "hgx-h100");
    assertTrue(hosts.understood().contains("all: 2 nodes, worker-[0-1]"), hosts.text());
    assertEquals(List.of("worker-2 offers 4 slots, not 8: left out"), hosts.faults());
  }

  @Test
  void nodesOfARackDoNotSayTheirDomain() {
    Imported i = nodes("NodeName=gb001 Gres=gpu:gb200:4 State=IDLE\n", "gb200-nvl72");
    assertTrue(i.partial());
    assertEquals("", i.yaml());
    InputException none =
        assertThrows(
            InputException.class,
            () -> nodes("NodeName=gb001 Gres=gpu:gb200:4 State=DOWN\n", "gb200-nvl72"));
    assertTrue(none.getMessage().contains("gb001 is DOWN: left out"));
  }

  @Test
  void otherReportsAreRefusedWithTheCommandThatIsRead() {
    String amd =
        """
        ====================== ROCm System Management Interface ======================
        ========================= Link Type between two GPUs =========================
               GPU0         GPU1
        GPU0   0            XGMI
        GPU1   XGMI         0
        """;
    assertTrue(
        assertThrows(InputException.class, () -> matrix(amd)).getMessage().contains("rocm-smi"));
    for (String other :
        List.of(
            "", "GPU 0: NVIDIA A100 (UUID: GPU-a)\n", "| NVIDIA-SMI 550.54 |\n", "19:00.0 3D\n")) {
      assertTrue(
          assertThrows(InputException.class, () -> matrix(other))
              .getMessage()
              .contains("nvidia-smi topo -m prints"));
    }
  }

  @Test
  void everyPairOfAMeshHasItsOwnNumberOfLinks() {
    Imported i =
        matrix(
            """
            \tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity
            GPU0\t X \tNV2\tNV1\tNV1\t0-19
            GPU1\tNV2\t X \tNV1\tNV1\t0-19
            GPU2\tNV1\tNV1\t X \tNV2\t0-19
            GPU3\tNV1\tNV1\tNV2\t X \t0-19
            """);
    assertTrue(i.text().contains("direct links, 1 to 2 a pair, 4 a GPU"), i.text());
    assertTrue(!i.text().contains("no direct link"), i.text());
  }
}
