package dev.meshplan.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.config.Errors;
import dev.meshplan.config.YamlReader;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.GpuReader;
import dev.meshplan.hardware.Precision;
import dev.meshplan.plan.Catalog;
import dev.meshplan.plan.Problem;
import dev.meshplan.plan.Problems;
import dev.meshplan.units.Basis;
import org.junit.jupiter.api.Test;

/** One measured step against the constants of a GPU. */
class StepCalibrationTest {
  private static final Catalog CATALOG = Catalog.open(null);

  private static Problem problem() {
    Errors errors = new Errors();
    return Problems.read(
        YamlReader.parse(
            "request.yaml",
            """
            model: llama-3.1-70b
            cluster: {system: hgx-h100, gpus: 64}
            training: {global_batch: 128, sequence: 8192, precision: bf16, era: nemo-2025}
            fix: {tp: 4, cp: 2, pp: 4, vpp: 5}
            """,
            errors),
        CATALOG);
  }

  @Test
  void aSlowerStepMovesTheMatrixProductsOfADenseModel() {
    double predicted = StepCalibration.of(problem(), 10, Double.NaN).predictedSeconds();
    StepCalibration.Result r = StepCalibration.of(problem(), predicted * 1.08, Double.NaN);
    assertEquals("gemm.bf16", r.key());
    assertTrue(r.after() < r.before());
    assertEquals(predicted * 1.08, r.afterSeconds(), 1e-3 * predicted);
  }

  @Test
  void anImpossibleStepMovesNothingAndSaysWhereToLook() {
    StepCalibration.Result r = StepCalibration.of(problem(), 1, Double.NaN);
    assertNull(r.key());
    assertTrue(r.why().contains("recompute"), r.why());
  }

  @Test
  void theWrittenFileHoldsTheMeasuredConstant() {
    StepCalibration.Result r = StepCalibration.of(problem(), 15.5, Double.NaN);
    assertNotNull(r.key());
    String text =
        CalibratedFile.gpu("h100-sxm.yaml", CATALOG.gpus().text("h100-sxm"), r, "a measured step");
    Errors errors = new Errors();
    Gpu gpu = GpuReader.read(YamlReader.parse("h100-sxm.yaml", text, errors));
    errors.throwIfAny();
    assertEquals(r.after(), gpu.efficiency().gemm().get(Precision.BF16).value(), 1e-3);
    assertEquals(Basis.MEASURED, gpu.efficiency().gemm().get(Precision.BF16).basis());
  }

  @Test
  void moreMemoryThanPredictedLowersTheShareToPlanWith() {
    StepCalibration.Result none = StepCalibration.of(problem(), 15, Double.NaN);
    StepCalibration.Result more = StepCalibration.of(problem(), 15, none.predictedBytes() * 1.25);
    assertEquals(0.92 / 1.25, more.memoryShare(), 1e-9);
  }
}
