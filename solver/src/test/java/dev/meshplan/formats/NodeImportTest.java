package dev.meshplan.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputException;
import dev.meshplan.config.Section;
import dev.meshplan.config.YamlReader;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.PathKind;
import dev.meshplan.hardware.SystemReader;
import dev.meshplan.hardware.SystemSpec;
import dev.meshplan.plan.Catalog;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeImportTest {
  private static final Catalog CATALOG = Catalog.open(null);

  private static NodeTopology topology(String name) {
    return TopologyMatrix.topology(name, Samples.text("topo-m/" + name + ".txt"));
  }

  private static Gpu gpu(String id) {
    return id == null ? null : CATALOG.gpus().get(id, new Errors(), m -> {});
  }

  private static Imported matrix(String name, String gpu) {
    return TopologyMatrix.read(name, Samples.text("topo-m/" + name + ".txt"), "node", gpu(gpu), 0);
  }

  private static Imported xml(String name, String gpu) {
    return NcclTopology.read(name, Samples.text("nccl-xml/" + name + ".xml"), "node", gpu(gpu), 0);
  }

  private static SystemSpec system(Imported i) {
    Errors errors = new Errors();
    Section s = YamlReader.parse("x", i.yaml(), errors);
    SystemSpec spec = SystemReader.read(s);
    errors.throwIfAny();
    return spec;
  }

  private static boolean says(List<String> list, String part) {
    return list.stream().anyMatch(l -> l.contains(part));
  }

  private static void kind(NodeTopology t, String a, String b, PathKind kind) {
    assertEquals(kind, t.path(a, b).kind(), a + " to " + b);
  }

  @ParameterizedTest
  @CsvSource({
    "01-hgx-h200-8gpu-8nic-tabs, 8, 8",
    "02-gb200-compute-tray, 4, 8",
    "03-gb200-handaligned-no-nic, 4, 0",
    "04-h100-4gpu-nv6-noncontiguous-cpus, 4, 4",
    "05-rtx3090-4gpu-nv4-pairs, 4, 0",
    "07-l40s-8gpu-node-sys-1nic, 8, 1",
    "08-l40s-4gpu-2nic, 4, 2",
    "09-pcie-switch-8gpu-pxb-pix-mlx5names, 8, 2",
    "11-7gpu-mlx4-mixed-tabs-spaces, 7, 1",
    "12-dgx1-v100-hybrid-cube-mesh, 8, 4",
    "13-p40-old-driver-soc, 8, 1",
    "14-ansi-underlined-header-2gpu, 2, 2",
    "15-crlf-of-01, 8, 8",
    "16-dgx2-16gpu-truncated, 16, 10",
    "18-epyc-4gpu-5nic-odd-cpu-lists, 4, 5",
    "19-rtx5090-2gpu-phb, 2, 0",
    "21-single-gpu-header-unindented, 1, 16",
    "22-wrapped-header-8gpu, 8, 2",
    "24-preamble-and-rows-out-of-order, 3, 1",
    "25-topo-mp-pcie-only-truncated, 8, 14",
    "26-dgx-a100-12nic-truncated, 8, 12"
  })
  void everyMatrixHasItsGpusAndNicsAndIsSymmetric(String name, int gpus, int nics) {
    NodeTopology t = topology(name);
    assertEquals(gpus, t.gpus().size());
    assertEquals(nics, t.nics().size());
    assertEquals(List.of(), t.asymmetries());
  }

  @Test
  void railOrderOfTheH200NodeIsNotIndexOrder() {
    NodeTopology t = topology("01-hgx-h200-8gpu-8nic-tabs");
    int[] nic = {4, 1, 0, 3, 6, 7, 5, 2};
    for (int g = 0; g < 8; g++) {
      assertEquals("mlx5_" + nic[g] + " (PIX)", t.nearestNics("GPU" + g));
    }
    assertEquals(List.of(0, 0, 0, 0, 1, 1, 1, 1), t.numa());
    SystemSpec s = system(matrix("01-hgx-h200-8gpu-8nic-tabs", "h200-sxm"));
    assertEquals(8, s.domain().size());
    assertEquals(SystemSpec.Fabric.SWITCH, s.domain().kind());
    assertEquals(450e9, s.domain().bandwidth());
    assertEquals(8, s.nicsPerNode());
  }

  @Test
  void carriageReturnsChangeNothing() {
    assertEquals(topology("01-hgx-h200-8gpu-8nic-tabs").paths(), topology("15-crlf-of-01").paths());
  }

  @Test
  void aGraceTrayIsPartialUntilTheRackIsNamed() {
    NodeTopology t = topology("02-gb200-compute-tray");
    assertEquals(List.of(0, 0, 1, 1), t.numa());
    assertEquals(List.of(2, 10, 18, 26), t.gpuNuma());
    kind(t, "GPU0", "mlx5_0", PathKind.SYS);
    kind(t, "mlx5_2", "mlx5_3", PathKind.PIX);
    kind(t, "mlx5_6", "mlx5_7", PathKind.PIX);
    Imported i = matrix("02-gb200-compute-tray", "gb200");
    assertTrue(i.partial());
    assertTrue(says(i.missing(), "--domain-gpus"));
    Imported rack =
        TopologyMatrix.read(
            "t", Samples.text("topo-m/02-gb200-compute-tray.txt"), "rack", gpu("gb200"), 72);
    assertFalse(rack.partial(), rack.text());
    assertEquals(72, system(rack).domain().size());
    assertEquals(900e9, system(rack).domain().bandwidth());
    assertTrue(system(rack).host().grace());
    assertEquals(
        topology("02-gb200-compute-tray").numa(), topology("03-gb200-handaligned-no-nic").numa());
  }

  @Test
  void fourGpusWithSixLinksEachPairHaveNoSwitch() {
    NodeTopology t = topology("04-h100-4gpu-nv6-noncontiguous-cpus");
    assertEquals(List.of(3, 1, 7, 5), t.numa());
    assertEquals("6,14,22,30", t.cpuAffinity().get(0));
    SystemSpec s = system(matrix("04-h100-4gpu-nv6-noncontiguous-cpus", "h100-sxm"));
    assertEquals(SystemSpec.Fabric.MESH, s.domain().kind());
    assertEquals(450e9, s.domain().bandwidth());
    assertEquals(150e9, s.domain().pairBandwidth());
  }

  @Test
  void bridgedPairsAreDomainsOfTwo() {
    NodeTopology t = topology("05-rtx3090-4gpu-nv4-pairs");
    assertEquals(
        List.of(List.of("GPU0", "GPU2"), List.of("GPU1", "GPU3")),
        t.groups(p -> p.kind() == PathKind.NVL));
    Imported i = matrix("05-rtx3090-4gpu-nv4-pairs", null);
    assertTrue(says(i.understood(), "GPU0, GPU2"));
    assertTrue(i.yaml().contains("kind: pairs") && i.yaml().contains("size: 2"));
  }

  @Test
  void socketsAreFoundWhereThereIsNoNvlink() {
    Imported i = matrix("07-l40s-8gpu-node-sys-1nic", "l40s");
    assertTrue(says(i.understood(), "2 CPU socket(s): [4, 4]"));
    assertEquals(1, system(i).domain().size());
    assertEquals(SystemSpec.Fabric.PCIE, system(i).domain().kind());
    NodeTopology t = topology("08-l40s-4gpu-2nic");
    kind(t, "GPU0", "mlx5_0", PathKind.SYS);
    kind(t, "GPU2", "mlx5_0", PathKind.NODE);
    assertEquals(List.of(0, 0, 1, 1), t.numa());
  }

  @Test
  void pcieDomainsReachOverSwitchesOnly() {
    NodeTopology t = topology("09-pcie-switch-8gpu-pxb-pix-mlx5names");
    assertEquals(
        List.of(List.of("GPU2", "GPU3"), List.of("GPU6", "GPU7")),
        t.groups(p -> p.kind().compareTo(PathKind.PIX) <= 0).stream()
            .filter(g -> g.size() > 1)
            .toList());
    assertEquals(
        4, system(matrix("09-pcie-switch-8gpu-pxb-pix-mlx5names", "l40s")).domain().size());
    assertEquals(8, system(matrix("13-p40-old-driver-soc", "l40s")).domain().size());
    Imported seven = matrix("11-7gpu-mlx4-mixed-tabs-spaces", "l40s");
    assertEquals(7, system(seven).gpusPerNode());
    assertEquals(3, system(seven).domain().size());
    assertTrue(says(seven.assumed(), "3 to 4"));
    kind(topology("13-p40-old-driver-soc"), "GPU0", "mlx5_0", PathKind.SYS);
  }

  @Test
  void theHybridCubeMeshHasPairsWithoutALink() {
    NodeTopology t = topology("12-dgx1-v100-hybrid-cube-mesh");
    assertEquals(2, t.links("GPU0", "GPU3"));
    assertEquals(1, t.links("GPU0", "GPU1"));
    kind(t, "GPU0", "GPU5", PathKind.SYS);
    assertEquals(List.of("mlx5_0", "mlx5_2", "mlx5_1", "mlx5_3"), t.nics());
    assertEquals(-1, t.numa().get(0));
    SystemSpec s = system(matrix("12-dgx1-v100-hybrid-cube-mesh", "v100-sxm-16"));
    assertEquals(8, s.domain().size());
    assertEquals(SystemSpec.Fabric.MESH, s.domain().kind());
    assertEquals(150e9, s.domain().bandwidth());
    assertEquals(25e9, s.domain().pairBandwidth());
    assertEquals(16, s.domain().directLinks().size());
  }

  @Test
  void anUnderlinedHeaderIsRead() {
    NodeTopology t = topology("14-ansi-underlined-header-2gpu");
    assertEquals(12, t.links("GPU0", "GPU1"));
    kind(t, "GPU0", "NIC0", PathKind.PXB);
    kind(t, "GPU1", "NIC0", PathKind.SYS);
  }

  @Test
  void aTruncatedMatrixIsPartialAndNothingIsInvented() {
    Imported i = matrix("16-dgx2-16gpu-truncated", "v100-sxm-16");
    assertTrue(i.partial());
    assertEquals("", i.yaml());
    assertTrue(says(i.missing(), "11 of 16 GPU rows"));
    assertEquals(6, topology("16-dgx2-16gpu-truncated").links("GPU3", "GPU15"));
    assertEquals(null, topology("16-dgx2-16gpu-truncated").path("GPU9", "GPU8"));
    assertEquals("", topology("16-dgx2-16gpu-truncated").cpuAffinity().get(4));
    Imported a = matrix("26-dgx-a100-12nic-truncated", "a100-sxm-80");
    assertTrue(a.partial() && a.yaml().isEmpty());
    NodeTopology t = topology("26-dgx-a100-12nic-truncated");
    assertEquals(List.of(3, 3, 1, 1), t.numa().subList(0, 4));
    assertEquals("NIC0, NIC1 (PXB)", t.nearestNics("GPU0"));
    assertEquals("NIC0, NIC1 (PXB)", t.nearestNics("GPU1"));
    assertEquals("", t.cpuAffinity().get(4));
  }

  @Test
  void thePcieOnlyFormHidesNvlinkAndIsPartial() {
    Imported i = matrix("25-topo-mp-pcie-only-truncated", "h100-sxm");
    assertTrue(says(i.missing(), "-mp"));
    assertEquals("", i.yaml());
  }

  @Test
  void rdmaNamesComeThroughTheLegend() {
    NodeTopology t = topology("18-epyc-4gpu-5nic-odd-cpu-lists");
    assertEquals(
        List.of("roceo12399", "roceo12409", "rocep13s0f0", "rocep55s0f0", "rocep181s0f0"),
        t.nics());
    kind(t, "roceo12399", "roceo12409", PathKind.PIX);
    assertEquals("0,2,4,6,8,10", t.cpuAffinity().get(0));
  }

  @Test
  void aPairBehindTheHostBridgeHasNoDomain() {
    Imported i = matrix("19-rtx5090-2gpu-phb", "l40s");
    assertEquals(1, system(i).domain().size());
  }

  @Test
  void anUnindentedHeaderIsNoDataRow() {
    NodeTopology t = topology("21-single-gpu-header-unindented");
    assertEquals("0-31,64-91", t.cpuAffinity().get(0));
    kind(t, "GPU0", "NIC15", PathKind.SYS);
    assertEquals(0, t.numa().get(0));
  }

  @Test
  void aWrappedHeaderIsJoined() {
    NodeTopology t = topology("22-wrapped-header-8gpu");
    assertEquals(18, t.links("GPU7", "GPU0"));
    assertEquals("mlx5_0 (PXB)", t.nearestNics("GPU0"));
  }

  @Test
  void rowsAreFoundByLabel() {
    NodeTopology t = topology("24-preamble-and-rows-out-of-order");
    kind(t, "GPU0", "mlx5_0", PathKind.PIX);
    kind(t, "GPU1", "mlx5_0", PathKind.SYS);
    kind(t, "GPU2", "mlx5_0", PathKind.NODE);
  }

  @Test
  void instancesOfASlicedGpuAreRefused() {
    InputException e =
        assertThrows(InputException.class, () -> matrix("27-mig-nvidia-smi-L", "a100-sxm-80"));
    assertTrue(e.getMessage().contains("7 MIG instances (1g.10gb)"), e.getMessage());
  }

  @Test
  void anAsymmetricMatrixAndAGpuWithoutNvlinkAreFaults() {
    String text = Samples.text("topo-m/22-wrapped-header-8gpu.txt");
    Imported i =
        TopologyMatrix.read(
            "t", text.replaceFirst("GPU1    NV18", "GPU1    SYS "), "x", gpu("h100-sxm"), 0);
    assertTrue(says(i.faults(), "GPU0 to GPU1 is NV18, back it is SYS"), i.text());
    String lone = "     GPU0 GPU1 GPU2\nGPU0  X   NV12 SYS\nGPU1 NV12  X   SYS\nGPU2 SYS SYS  X \n";
    Imported dead = TopologyMatrix.read("t", lone, "x", gpu("a100-sxm-80"), 0);
    assertTrue(says(dead.faults(), "GPU2 has no NVLink"), dead.text());
  }

  @Test
  void anythingElseIsRefused() {
    assertThrows(
        InputException.class, () -> TopologyMatrix.read("t", "hello GPU0\n", "x", null, 0));
    InputException e =
        assertThrows(
            InputException.class,
            () -> TopologyMatrix.read("t", " GPU0 GPU1\nGPU0 X QPI\nGPU1 QPI X\n", "x", null, 0));
    assertTrue(e.getMessage().contains("GPU0 to GPU1 = QPI"));
  }

  @Test
  void ncclDumpOfAVirtualMachineWithSwitches() {
    Imported i = xml("01-h100-8gpu-vm-nvswitch-8nic", "h100-sxm");
    assertFalse(i.partial(), i.text());
    assertTrue(says(i.understood(), "4 NVSwitches"));
    assertTrue(says(i.understood(), "GPU0: compute capability 90, 18 NVLinks"));
    assertTrue(says(i.understood(), "NICs of 25.0 GB/s"));
    assertTrue(says(i.understood(), "GPU0 is nearest to mlx5_7 (PIX)"));
    SystemSpec s = system(i);
    assertEquals(8, s.domain().size());
    assertEquals(SystemSpec.Fabric.SWITCH, s.domain().kind());
    assertEquals(450e9, s.domain().bandwidth());
    assertEquals(8, s.nicsPerNode());
  }

  @Test
  void unknownNumaAndChipToChipLinksAreRead() {
    Imported i = xml("02-gb10-c2c-arm64-numa-minus-one", null);
    assertTrue(says(i.understood(), "C2C to the CPU of 345 GB/s"));
    assertFalse(says(i.understood(), "NUMA node"));
    assertTrue(says(i.understood(), "1 GPUs, 2 NICs"));
  }

  @Test
  void aSkeletonOfBusIdsHasNoGpus() {
    Imported i = xml("03-g5.12xlarge-static-skeleton", null);
    assertTrue(i.partial());
    assertEquals("", i.yaml());
    assertTrue(says(i.missing(), "NCCL_TOPO_DUMP_FILE"));
  }

  @Test
  void invisibleSwitchesAreSwitches() {
    Imported i = xml("04-h200-vm-invisible-nvswitch-fragment", "h200-sxm");
    assertTrue(says(i.understood(), "does not show"));
    assertTrue(says(i.understood(), "18 NVLinks"));
    assertTrue(says(i.missing(), "one GPU"), i.text());
  }

  @Test
  void partsOfOneDeviceAreCountedOnce() {
    Imported i = xml("06-vr200-mlopart-fragment", null);
    assertTrue(says(i.understood(), "1 GPUs"));
    assertTrue(says(i.understood(), "counted once"));
    assertTrue(says(i.understood(), "36 NVLinks"));
  }

  @Test
  void xmlWithADoctypeOrAnotherRootIsRefused() {
    assertThrows(
        InputException.class,
        () ->
            NcclTopology.read(
                "x", "<!DOCTYPE a [<!ENTITY b \"c\">]><system>&b;</system>", "x", null, 0));
    assertThrows(InputException.class, () -> NcclTopology.read("x", "<graph/>", "x", null, 0));
  }
}
