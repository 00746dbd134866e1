package dev.meshplan.plan;

import dev.meshplan.config.Errors;
import dev.meshplan.config.InputError;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.NoCostModel;
import dev.meshplan.hardware.Precision;
import java.util.List;
import java.util.stream.Collectors;

/** What the GPUs of a request must offer before anything can be priced on them. */
final class Formats {
  private Formats() {}

  /**
   * The job with a number format that every machine has.
   *
   * @throws NoCostModel when nobody published a value without which nothing can be priced
   */
  static Training of(Training training, List<Machine> machines, String file, Errors errors) {
    for (Machine m : machines) {
      known(m.gpu());
    }
    List<Gpu> without =
        machines.stream().map(Machine::gpu).filter(g -> !g.supports(training.precision())).toList();
    if (without.isEmpty()) {
      return training;
    }
    if (training.assumed().contains("precision")
        && machines.stream().allMatch(m -> m.gpu().supports(Precision.FP16))) {
      return training.withPrecision(Precision.FP16);
    }
    for (Gpu g : without) {
      errors.add(
          new InputError(
              file,
              0,
              "training.precision",
              training.precision().key(),
              "is no format of "
                  + g.id()
                  + "; it has "
                  + g.peaks().keySet().stream()
                      .map(Precision::key)
                      .collect(Collectors.joining(", "))
                  + "."));
    }
    return training;
  }

  private static void known(Gpu gpu) {
    List<String> missing =
        gpu.unknown().stream().filter(k -> k.startsWith("peak") || k.startsWith("memory")).toList();
    if (!missing.isEmpty()) {
      throw new NoCostModel(
          "no cost model for "
              + gpu.id()
              + ": "
              + String.join(" and ", missing)
              + (missing.size() == 1 ? " is" : " are")
              + " not published; give a GPU file of your own with it.");
    }
  }
}
