package dev.meshplan.rules;

/** When the interleaved schedule of Megatron-LM can run. */
public final class Interleaving {
  private Interleaving() {}

  /**
   * Whether micro-batches go through a rank's virtual stages in whole groups. Source: Megatron-LM
   * d98e8a64 pipeline_parallel/schedules.
   *
   * @param microBatches of a step
   * @param pp pipeline stages
   * @param group micro-batches that follow each other on one virtual stage; pp unless a
   *     configuration says otherwise
   */
  public static boolean accepts(int microBatches, int pp, int group) {
    return inRange(microBatches, pp, group)
        && (microBatches % group == 0 || microBatches % group >= pp);
  }

  /** Whether the group itself is as large as the pipeline, and no larger than the step. */
  public static boolean inRange(int microBatches, int pp, int group) {
    return group >= pp && group <= microBatches;
  }
}
