package dev.meshplan.estimate;

import dev.meshplan.config.Keyed;
import dev.meshplan.units.Basis;

/** One line of a rank's memory, in the order of the breakdown: up to reading A, then B, then C. */
public enum MemoryLine implements Keyed {
  WEIGHTS(Reading.A, Basis.DERIVED),
  SECONDARY_WEIGHTS(Reading.A, Basis.DERIVED),
  FP8_WEIGHTS(Reading.A, Basis.DERIVED),
  ADAPTERS(Reading.A, Basis.ASSUMED),
  MAIN_GRADIENTS(Reading.A, Basis.DERIVED),
  OPTIMIZER(Reading.A, Basis.DERIVED),
  ACTIVATIONS(Reading.A, Basis.DERIVED),
  RECOMPUTE_WORKING_SET(Reading.A, Basis.DERIVED),
  TRANSIENT(Reading.A, Basis.DERIVED),
  PLACEHOLDER_GRADIENTS(Reading.A, Basis.DERIVED),
  FSDP_GATHER(Reading.A, Basis.DERIVED),
  PIPELINE_BUFFERS(Reading.A, Basis.DERIVED),
  WORKSPACE(Reading.A, Basis.FITTED_ON_ONE_SOURCE),
  /** What the optimizer step needs beyond the blocks that activations leave free. */
  STEP_TEMPORARIES(Reading.A, Basis.DERIVED),
  /** The allocator keeps activation blocks, so the rest of the temporaries comes on top. */
  STEP_TEMPORARIES_RESERVED(Reading.B, Basis.DERIVED),
  RESERVED_SLACK(Reading.B, Basis.MEASURED),
  CONTEXT(Reading.C, Basis.ASSUMED),
  COMMUNICATION(Reading.C, Basis.ASSUMED),
  UNEXPLAINED(Reading.C, Basis.FITTED_ON_ONE_SOURCE);

  /** A allocator, B reserved, C device. */
  public enum Reading implements Keyed {
    A,
    B,
    C
  }

  private final Reading reading;
  private final Basis basis;

  MemoryLine(Reading reading, Basis basis) {
    this.reading = reading;
    this.basis = basis;
  }

  /** The first reading that contains the line. */
  public Reading reading() {
    return reading;
  }

  public Basis basis() {
    return basis;
  }

  static final int COUNT = values().length;
}
