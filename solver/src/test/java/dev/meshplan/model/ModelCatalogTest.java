package dev.meshplan.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Library;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVRecord;
import org.junit.jupiter.api.Test;

class ModelCatalogTest {
  private static final Library<Model> MODELS =
      new Library<>("models", "model", ModelReader::read, null);

  @Test
  void everyFileLoadsAndIsNamedByItsId() {
    assertTrue(MODELS.names().size() >= 88);
    MODELS.all().forEach((id, m) -> assertEquals(id, m.id()));
  }

  @Test
  void noAliasHidesAnotherName() {
    List<String> seen = new ArrayList<>(MODELS.ids());
    for (Map.Entry<String, Model> e : MODELS.all().entrySet()) {
      for (String alias : e.getValue().aliases()) {
        assertFalse(seen.contains(alias), alias + " of " + e.getKey());
        assertEquals(e.getKey(), MODELS.id(alias));
        seen.add(alias);
      }
    }
  }

  @Test
  void countsMeetThePublishersFiguresWithinOnePercentOrTheFileSaysWhyNot() {
    List<String> wrong = new ArrayList<>();
    for (Model m : MODELS.all().values()) {
      Model.Published p = m.published();
      double total = Parameters.total(m) + (p.withMtp() ? m.mtpLayers() * Parameters.mtp(m) : 0);
      double active = Parameters.active(m, p.convention());
      boolean totalOff = p.total() > 0 && Math.abs(total / p.total() - 1) > 0.01;
      boolean activeOff = p.active() > 0 && Math.abs(active / p.active() - 1) > 0.01;
      if ((totalOff || activeOff) != !p.mismatch().isEmpty()
          || totalOff != p.mismatch().contains("total:")
          || activeOff != p.mismatch().contains("active:")) {
        wrong.add(
            "%s: total %.4g of %.4g, active %.4g of %.4g, mismatch '%s'"
                .formatted(m.id(), total, p.total(), active, p.active(), p.mismatch()));
      }
    }
    assertEquals(List.of(), wrong);
  }

  @Test
  void countsEqualTheArithmeticOfTheCollectedConfigurations() throws IOException {
    List<String> wrong = new ArrayList<>();
    for (CSVRecord r : rows()) {
      Model m = MODELS.all().get(r.get("model"));
      assertNotNull(m, r.get("model"));
      assertEquals(Integer.parseInt(r.get("layers")), m.layerCount(), m.id());
      double total = Parameters.total(m);
      compare(wrong, m.id() + " total", r.get("computed_total_params"), total);
      compare(
          wrong,
          m.id() + " with MTP",
          m.mtpLayers() > 0 ? r.get("computed_total_with_mtp") : "",
          total + m.mtpLayers() * Parameters.mtp(m));
      if (m.moe()) {
        compare(
            wrong,
            m.id() + " active",
            r.get("computed_active_incl_all_embeddings"),
            Parameters.active(m, Model.ActiveConvention.ALL));
        compare(
            wrong,
            m.id() + " active without input embedding",
            r.get("computed_active_excl_input_embedding"),
            Parameters.active(m, Model.ActiveConvention.WITHOUT_INPUT_EMBEDDING));
        compare(
            wrong,
            m.id() + " active without embeddings",
            r.get("computed_active_excl_embedding_and_head"),
            Parameters.active(m, Model.ActiveConvention.WITHOUT_EMBEDDINGS));
      }
    }
    assertEquals(List.of(), wrong);
  }

  private static void compare(List<String> wrong, String what, String expected, double actual) {
    if (!expected.isEmpty()) {
      double error = actual / Double.parseDouble(expected) - 1;
      if (Math.abs(error) > 1e-4) {
        wrong.add(
            "%s: %.0f instead of %s (%+.3f%%)".formatted(what, actual, expected, error * 100));
      }
    }
  }

  private static List<CSVRecord> rows() throws IOException {
    try (Reader in =
        new InputStreamReader(
            ModelCatalogTest.class.getResourceAsStream("/model/published_counts.csv"),
            StandardCharsets.UTF_8)) {
      return CSVFormat.DEFAULT
          .builder()
          .setHeader()
          .setSkipHeaderRecord(true)
          .get()
          .parse(in)
          .getRecords();
    }
  }
}
