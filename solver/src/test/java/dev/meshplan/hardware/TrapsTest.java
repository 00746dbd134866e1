package dev.meshplan.hardware;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TrapsTest {
  private static String system(String kind, String link, String bandwidth, String more) {
    return """
        id: mine
        name: Mine
        gpu: h100-sxm
        gpus_per_node: 8
        domain: {size: 8, kind: %s, link: %s, bandwidth: %s%s}
        sources: [my sheet]
        """
        .formatted(kind, link, bandwidth, more);
  }

  @ParameterizedTest
  @CsvSource({
    "nvlink1, 160 GB/s, 80.0 GB/s",
    "nvlink2, 300 GB/s, 150 GB/s",
    "nvlink3, 600 GB/s, 300 GB/s",
    "nvlink4, 900 GB/s, 450 GB/s",
    "nvlink5, 1.8 TB/s, 900 GB/s",
    "nvlink6, 3600 GB/s, '1,800 GB/s'",
    "xgmi, 896 GB/s, 448 GB/s",
    "pcie5, 128 GB/s, 64.0 GB/s",
    "ici, 1200 GB/s, 600 GB/s"
  })
  void bothDirectionsTakenForOneIsAnError(String link, String written, String oneWay) {
    List<String> errors = Read.errors(SystemReader::read, system("switch", link, written, ""));
    assertEquals(1, errors.size(), errors.toString());
    assertTrue(
        errors.get(0).endsWith("is both directions; one way is " + oneWay + "."), errors.get(0));
    assertTrue(errors.get(0).startsWith("mine.yaml:5: domain.bandwidth = "), errors.get(0));
  }

  @ParameterizedTest
  @CsvSource({
    "nvlink4, 25 GB/s, 'is one nvlink4 link; a GPU has 18 of them, 450 GB/s one way.'",
    "nvlink4, 50 GB/s, 'is one nvlink4 link; a GPU has 18 of them, 450 GB/s one way.'",
    "nvlink5, 100 GB/s, 'is one nvlink5 link; a GPU has 18 of them, 900 GB/s one way.'",
    "nvlink3, 25 GB/s, 'is one nvlink3 link; a GPU has 12 of them, 300 GB/s one way.'",
    "nvlink4, 700 GB/s, 'is more than nvlink4 carries per GPU: 450 GB/s one way.'"
  })
  void oneLinkTakenForAGpuIsAnError(String link, String written, String message) {
    List<String> errors = Read.errors(SystemReader::read, system("switch", link, written, ""));
    assertEquals(1, errors.size(), errors.toString());
    assertTrue(errors.get(0).endsWith(message), errors.get(0));
  }

  @Test
  void reducedLinksAndMeshPairsAreNoTrap() {
    assertEquals(
        List.of(), Read.errors(SystemReader::read, system("switch", "nvlink4", "200 GB/s", "")));
    assertEquals(
        List.of(),
        Read.errors(
            SystemReader::read,
            system("mesh", "nvlink2", "150 GB/s", ", pair_bandwidth: 25 GB/s")));
  }

  @Test
  void hostLinksOfBothDirectionsAreErrors() {
    List<String> pcie =
        Read.errors(
            SystemReader::read,
            system("switch", "nvlink4", "450 GB/s", ", host_bandwidth: 128 GB/s"));
    assertTrue(pcie.get(0).contains("one way is 63 GB/s"), pcie.toString());
    List<String> c2c =
        Read.errors(
            SystemReader::read,
            system("switch", "nvlink6", "1800 GB/s", ", host_bandwidth: 1.8 TB/s"));
    assertTrue(c2c.get(0).contains("is both directions; one way is 900 GB/s"), c2c.toString());
  }

  @Test
  void anUnknownLinkIsAnErrorWithTheNearestName() {
    List<String> errors =
        Read.errors(SystemReader::read, system("switch", "nvlnk4", "450 GB/s", ""));
    assertTrue(errors.get(0).contains("nvlink4"), errors.toString());
  }

  private static String network(String id, String name, String port) {
    return "id: %s\nname: %s\nkind: infiniband\nport_bandwidth: %s\nsources: [sheet]\n"
        .formatted(id, name, port);
  }

  @Test
  void portsOfBothDirectionsAreErrors() {
    assertTrue(
        Read.errors(Network::read, network("hdr", "InfiniBand HDR", "50 GB/s"))
            .get(0)
            .endsWith("50.0 GB/s of HDR is both directions; one way is 25.0 GB/s."));
    assertTrue(
        Read.errors(Network::read, network("mine", "InfiniBand NDR", "800 Gb/s"))
            .get(0)
            .endsWith("100 GB/s of NDR is both directions; one way is 50.0 GB/s."));
    assertEquals(
        List.of(), Read.errors(Network::read, network("hdr", "InfiniBand HDR", "200 Gb/s")));
  }

  @Test
  void bytesForBitsIsAnError() {
    assertTrue(
        Read.errors(Network::read, network("ndr", "InfiniBand NDR", "400 GB/s"))
            .get(0)
            .contains("400 Gb/s is 50 GB/s"));
  }

  private static String gpu(String memory, String usable, String peaks) {
    return """
        id: mine
        name: Mine
        vendor: NVIDIA
        architecture: hopper
        memory: %s
        usable_memory: %s
        memory_bandwidth: 3350 GB/s
        peak: {%s}
        sources: [sheet]
        """
        .formatted(memory, usable, peaks);
  }

  @Test
  void sparsePeaksAreErrorsWhereNoPartOfTheGenerationReachesThem() {
    List<String> errors =
        Read.errors(
            GpuReader::read, gpu("80 GB", "79.2 GiB", "bf16: 1979 TFLOP/s, fp8: 3958 TFLOP/s"));
    assertEquals(1, errors.size(), errors.toString());
    assertTrue(errors.get(0).contains("with sparsity"), errors.get(0));
  }

  @Test
  void sparsePeaksOfASmallerPartAreWarnings() {
    Gpu l4 = Read.gpu("l4");
    String text =
        gpu("24 GB", "22 GiB", "bf16: 242 TFLOP/s, fp8: 485 TFLOP/s")
            .replace("hopper", "ada")
            .replace("3350", "300");
    List<String> warnings =
        Traps.warnings(Read.good(GpuReader::read, text), List.of(l4, Read.gpu("l40s")));
    assertTrue(
        warnings.get(0).contains("is twice the dense peak of l4: is it the figure with sparsity?"),
        warnings.toString());
  }

  @Test
  void gigabytesAndGibibytesAreToldApart() {
    Gpu gib = Read.good(GpuReader::read, gpu("80 GiB", "79.2 GiB", "bf16: 989 TFLOP/s"));
    assertTrue(Traps.warnings(gib, List.of()).get(0).contains("labels are in GB"));
    Gpu label = Read.good(GpuReader::read, gpu("80 GB", "80 GiB", "bf16: 989 TFLOP/s"));
    assertTrue(Traps.warnings(label, List.of()).get(0).contains("79.2 GiB"));
    Gpu more = Read.good(GpuReader::read, gpu("80 GB", "79.2 GiB", "bf16: 989 TFLOP/s"));
    assertEquals(List.of(), Traps.warnings(more, Read.GPUS.all().values()));
  }

  @Test
  void formatsThatTheGenerationLacksAreErrors() {
    List<String> errors =
        Read.errors(
            GpuReader::read, gpu("80 GB", "79.2 GiB", "bf16: 989 TFLOP/s, nvfp4: 2 PFLOP/s"));
    assertTrue(errors.get(0).contains("is no format of hopper"), errors.toString());
  }

  @Test
  void noFileOfTheCatalogFallsIntoATrap() {
    for (Gpu g : Read.GPUS.all().values()) {
      assertEquals(List.of(), Traps.warnings(g, Read.GPUS.all().values()), g.id());
    }
    for (SystemSpec s : Read.SYSTEMS.all().values()) {
      assertEquals(List.of(), Traps.warnings(s), s.id());
    }
  }
}
