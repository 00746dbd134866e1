package dev.meshplan.hardware;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Section;
import dev.meshplan.model.ModelReader;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What every catalog reader must refuse, and how it must say so. */
class ReaderStrictnessTest {
  private static final Map<String, String> GOOD =
      Map.of(
          "model",
          """
          id: m
          hidden: 64
          vocabulary: 1000
          attention:
            a: {heads: 4, head_dim: 16}
          feed_forward:
            d: {width: 256}
            e: {experts: 8, top_k: 2, expert_width: 64}
          layers:
            - {repeat: 2, kinds: [a + d, a + e]}
          sources: [x]
          """,
          "gpu",
          """
          id: g
          name: G
          vendor: V
          architecture: hopper
          memory: 80 GB
          usable_memory: 79.2 GiB
          memory_bandwidth: 3000 GB/s
          peak: {bf16: 900 TFLOP/s}
          power: {peak: 700 W}
          sources: [x]
          """,
          "system",
          """
          id: s
          name: S
          gpu: h100-sxm
          gpus_per_node: 8
          domain: {size: 8, kind: switch, link: nvlink4, bandwidth: 450 GB/s}
          sources: [x]
          """,
          "network",
          """
          id: n
          name: N
          kind: roce
          port_bandwidth: 400 Gb/s
          latency: 5 us
          sources: [x]
          """,
          "offer",
          """
          id: o
          name: O
          system: hgx-h100
          kind: rent
          base: 2.5 USD/GPU-hour
          date: "2026"
          sources: [x]
          """);

  private static final Map<String, Function<Section, ?>> READERS =
      Map.of(
          "model", ModelReader::read,
          "gpu", GpuReader::read,
          "system", SystemReader::read,
          "network", Network::read,
          "offer", Offer::read);

  private static List<String> errors(String kind, String text) {
    return Read.errors(READERS.get(kind), text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"model", "gpu", "system", "network", "offer"})
  void whatIsRightIsRead(String kind) {
    assertEquals(List.of(), errors(kind, GOOD.get(kind)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"model", "gpu", "system", "network", "offer"})
  void unknownKeysGetTheNearestOne(String kind) {
    List<String> errors = errors(kind, GOOD.get(kind) + "sorces: [y]\n");
    assertEquals(1, errors.size(), errors.toString());
    int line = (int) GOOD.get(kind).lines().count() + 1;
    assertTrue(
        errors
            .get(0)
            .startsWith("mine.yaml:" + line + ": sorces: is not a key here. Nearest: sources"),
        errors.get(0));
  }

  @ParameterizedTest
  @ValueSource(strings = {"model", "gpu", "system", "network", "offer"})
  void everyLineThatMustBeThereIsMissedByName(String kind) {
    for (String line : GOOD.get(kind).lines().toList()) {
      int colon = line.indexOf(':');
      if (colon < 0 || line.startsWith(" ") || line.endsWith(":")) {
        continue;
      }
      String key = line.substring(0, colon);
      boolean optional =
          List.of("usable_memory", "memory_bandwidth", "peak", "power", "latency").contains(key);
      List<String> errors = errors(kind, GOOD.get(kind).replace(line + "\n", ""));
      assertEquals(
          !optional, errors.stream().anyMatch(e -> e.contains(" " + key)), key + " " + errors);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"model", "gpu", "system", "network", "offer"})
  void aKeyGivenTwiceIsAnError(String kind) {
    List<String> errors = errors(kind, GOOD.get(kind) + "id: again\n");
    assertTrue(errors.toString().contains("is given twice (first on line 1)"), errors.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"model", "gpu", "system", "network", "offer"})
  void anchorsAreRefused(String kind) {
    List<String> errors =
        errors(kind, GOOD.get(kind).replace("sources: [x]", "sources: &a [x]\nnotes: *a"));
    assertTrue(errors.toString().contains("anchor"), errors.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"model", "gpu", "system", "network", "offer"})
  void hugeFilesAreRefusedUnread(String kind) {
    List<String> errors = errors(kind, GOOD.get(kind) + "notes: " + "x".repeat(5 << 20) + "\n");
    assertEquals(1, errors.size());
    assertTrue(errors.get(0).contains("larger than 4 MiB"), errors.get(0));
  }

  @ParameterizedTest
  @ValueSource(strings = {"model", "gpu", "system", "network", "offer"})
  void listsScalarsAndSecondDocumentsAreRefused(String kind) {
    assertFalse(errors(kind, "- a\n- b\n").isEmpty());
    assertFalse(errors(kind, "just text\n").isEmpty());
    assertFalse(errors(kind, "").isEmpty());
    assertTrue(
        errors(kind, GOOD.get(kind) + "---\nid: two\n").toString().contains("more than one"));
  }

  @ParameterizedTest
  @CsvSource({
    "gpu, memory: 80 GB, memory: 80, 'has no unit; write it like 80 GiB'",
    "gpu, memory_bandwidth: 3000 GB/s, memory_bandwidth: 3000, 'has no unit'",
    "gpu, '{bf16: 900 TFLOP/s}', '{bf16: 900}', 'has no unit; write it like 989 TFLOP/s'",
    "gpu, '{peak: 700 W}', '{peak: 700}', 'has no unit; write it like 700 W'",
    "system, bandwidth: 450 GB/s, bandwidth: 450, 'has no unit; write it like 450 GB/s'",
    "network, port_bandwidth: 400 Gb/s, port_bandwidth: 400, 'has no unit'",
    "network, latency: 5 us, latency: 5, 'has no unit; write it like 5 us'",
    "offer, base: 2.5 USD/GPU-hour, base: 2.5, 'has no unit; write it like 2.5 USD/GPU-hour'"
  })
  void bareNumbersAreErrorsThatShowTheSpelling(
      String kind, String right, String wrong, String message) {
    List<String> errors = errors(kind, GOOD.get(kind).replace(right, wrong));
    assertEquals(1, errors.size(), errors.toString());
    assertTrue(errors.get(0).contains(message), errors.get(0));
  }

  @ParameterizedTest
  @CsvSource({
    "gpu, memory: 80 GB, memory: 80 GB/s",
    "gpu, '{bf16: 900 TFLOP/s}', '{bf16: 900 TB/s}'",
    "gpu, '{peak: 700 W}', '{peak: 700 GB}'",
    "system, bandwidth: 450 GB/s, bandwidth: 450 GB",
    "network, port_bandwidth: 400 Gb/s, port_bandwidth: 400 Gb",
    "network, latency: 5 us, latency: 5 GB",
    "offer, base: 2.5 USD/GPU-hour, base: 2.5 EUR/GPU-hour"
  })
  void unitsOfSomethingElseAreErrors(String kind, String right, String wrong) {
    List<String> errors = errors(kind, GOOD.get(kind).replace(right, wrong));
    assertEquals(1, errors.size(), errors.toString());
    assertTrue(errors.get(0).contains("does not belong here; use one of"), errors.get(0));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "model | hidden: 64 | hidden: 0 | hidden",
        "model | hidden: 64 | hidden: 6.4 | must be a whole number",
        "model | heads: 4 | heads: -4 | heads",
        "model | {heads: 4, | {heads: 4, kv_heads: 3, | must divide heads",
        "model | top_k: 2 | top_k: 9 | top_k",
        "model | repeat: 2 | repeat: 0 | repeat",
        "model | a + d, | a + x, | is no attention or feed_forward of this file",
        "model | a + d, | a + a, | is no attention or feed_forward of this file",
        "model | width: 256 | gated: maybe, width: 256 | must be true or false",
        "model | {width: 256} | {gated: false} | width",
        "gpu | hopper | hoper | hopper",
        "gpu | 79.2 GiB | 100 GiB | is more than the memory label",
        "gpu | 900 TFLOP/s} | 900 TFLOP/s, fp12: 1 TFLOP/s} | is not a key here",
        "gpu | memory: 80 GB | memory: -80 GB | memory",
        "gpu | sources: [x] | sources: [] | must name where",
        "gpu | power: | efficiency: {attention: 1.5}\\npower: | attention",
        "system | size: 8 | size: 0 | size",
        "system | kind: switch | kind: swich | switch",
        "system | 450 GB/s} | 450 GB/s, pair_bandwidth: 460 GB/s} | more than the bandwidth",
        "system | 450 GB/s} | 450 GB/s, blocks: [9]} | blocks",
        "system | 450 GB/s} | 450 GB/s, axes: [3, 3]} | must multiply up",
        "network | kind: roce | oversubscription: 0.5\\nkind: roce | oversubscription",
        "offer | kind: rent | kind: lease | rent",
        "offer | kind: rent | low: 3 USD/GPU-hour\\nkind: rent | must lie between low and high"
      })
  void impossibleValuesAreErrors(String kind, String right, String wrong, String message) {
    String text = GOOD.get(kind).replace(right, wrong.replace("\\n", "\n"));
    assertFalse(text.equals(GOOD.get(kind)), right);
    List<String> errors = errors(kind, text);
    assertTrue(errors.toString().contains(message), errors.toString());
    assertTrue(errors.stream().allMatch(e -> e.startsWith("mine.yaml:")), errors.toString());
  }

  @Test
  void everythingWrongIsToldAtOnce() {
    List<String> errors =
        errors(
            "gpu",
            GOOD.get("gpu")
                .replace("memory: 80 GB\n", "memory: 80\n")
                .replace("hopper", "hoper")
                .replace("700 W", "700")
                .replace("vendor: V\n", ""));
    assertEquals(4, errors.size(), errors.toString());
  }
}
