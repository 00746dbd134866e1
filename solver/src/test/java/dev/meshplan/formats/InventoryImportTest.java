package dev.meshplan.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.plan.Catalog;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InventoryImportTest {
  private static SystemSpec system(String id) {
    return Catalog.open(null).systems().get(id, new Errors(), m -> {});
  }

  private static Imported read(String sample, String system) {
    return InventoryImport.read(sample, Samples.text("slurm/" + sample), system(system));
  }

  private static String refusal(String text) {
    InputException e =
        assertThrows(
            InputException.class, () -> InventoryImport.read("t", text, system("gb200-nvl72")));
    return e.getMessage();
  }

  @Test
  void fourWholeRacksAreFourDomains() {
    Imported i = read("block-nvl72.conf", "gb200-nvl72");
    assertEquals(List.of(), i.faults());
    assertFalse(i.partial());
    assertTrue(i.yaml().contains("domains: 4"), i.yaml());
    assertTrue(i.yaml().contains("nodes: \"node[1101-1118]\""), i.yaml());
    assertFalse(i.yaml().contains("healthy"));
  }

  @Test
  void aRackWithANodeOutIsShort() {
    Imported i = read("block-short-rack.conf", "gb200-nvl72");
    assertTrue(i.faults().get(0).contains("b2 has 17 of 18 nodes"));
    assertTrue(i.yaml().contains("healthy"), i.yaml());
    assertTrue(i.yaml().contains("- 68"), i.yaml());
  }

  @Test
  void theBlockTopologyIsChosenAmongSeveral() {
    Imported i = read("multi-topology.yaml", "gb200-nvl72");
    assertTrue(i.understood().contains("topology ib-tree: tree, default"));
    assertTrue(i.understood().contains("topology nvl72: block"));
    assertTrue(i.understood().contains("topology plain: flat"));
    assertTrue(i.yaml().contains("domains: 4"));
    assertTrue(i.yaml().contains("name: rack1"));
  }

  @Test
  void everyNodeOfAnHgxTreeIsADomain() {
    Imported i = read("tree-two-level.conf", "hgx-h100");
    assertTrue(i.yaml().contains("domains: 18"), i.yaml());
    assertFalse(i.partial());
  }

  @Test
  void aTreeDoesNotSayWhichNodesShareARack() {
    Imported i = read("tree-two-level.conf", "gb200-nvl72");
    assertTrue(i.partial());
    assertEquals("", i.yaml());
  }

  @ParameterizedTest
  @ValueSource(strings = {"bad-block-sizes.yaml", "bad-two-types.yaml"})
  void badTopologiesAreRefused(String sample) {
    InputException e = assertThrows(InputException.class, () -> read(sample, "gb200-nvl72"));
    assertTrue(
        e.getMessage()
            .contains(sample.contains("sizes") ? "12 is not the base size 4" : "exactly one"),
        e.getMessage());
  }

  @Test
  void shownTopologyIsRead() {
    String text =
        """
        BlockName=b1 BlockIndex=0 Nodes=gb[001-018] BlockSize=18
        BlockName=b2 BlockIndex=1 Nodes=gb[019-036] BlockSize=18
        AggregatedBlock=b1,b2 BlockIndex=2 Nodes=gb[001-036] BlockSize=36
        """;
    Imported i = InventoryImport.read("t", text, system("gb200-nvl72"));
    assertEquals("scontrol show topology", i.kind());
    assertTrue(i.yaml().contains("domains: 2"), i.yaml());
  }

  @Test
  void aNodeListIsAnInventoryOnlyWhereADomainIsANode() {
    Imported i = InventoryImport.read("t", "node[1-3,7]\nlogin\n", system("hgx-h100"));
    assertTrue(i.yaml().contains("domains: 5"));
    assertTrue(InventoryImport.read("t", "gb[1-18]\n", system("gb200-nvl72")).partial());
  }

  @Test
  void whatSlurmRefusesIsRefused() {
    assertTrue(refusal("BlockName=a Nodes=n[1-2]\nBlockName=a Nodes=n3\n").contains("twice"));
    assertTrue(
        refusal("BlockName=a Nodes=n[1-2]\nBlockName=b Nodes=n2\n")
            .contains("n2: is in a and in b"));
    assertTrue(refusal("BlockName=a Nodes=n[5-2]\n").contains("backwards"));
    assertTrue(refusal("BlockName=a Nodes=n1\nBlockSizes=18,30\n").contains("30 is not"));
    assertTrue(refusal("SwitchName=s Switches=x[1-2]\n").contains("not defined"));
    assertTrue(refusal("hello world\n").contains("no node list"));
  }

  @Test
  void hostListsExpandAndFold() {
    assertEquals(
        List.of("a1", "a2", "a3", "a7", "a09", "a10", "b"), HostList.expand("a[1-3,7,09-10],b"));
    assertEquals("gb[001-018]", HostList.fold(HostList.expand("gb[001-018]")));
    assertEquals("a[1-2],b[9-11],c", HostList.fold(List.of("a1", "a2", "b9", "b10", "b11", "c")));
    assertEquals(4, HostList.expand("r[1-2]n[1-2]").size());
    assertEquals(18, HostList.expand("node[1101-1118]").size());
  }
}
