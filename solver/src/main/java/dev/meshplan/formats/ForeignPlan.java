package dev.meshplan.formats;

import dev.meshplan.estimate.Adapters;
import dev.meshplan.model.Model;
import dev.meshplan.plan.Batch;
import dev.meshplan.plan.Dims;
import dev.meshplan.plan.MemoryPlan;
import dev.meshplan.plan.Schedule;
import dev.meshplan.plan.Training;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The plan that a configuration of another tool describes.
 *
 * @param kind what the file is
 * @param model the shape in it; null when it has none
 * @param modelName what it calls its model, such as a Hugging Face name; empty when it does not
 * @param adapters of a LoRA job; null when all weights are trained
 * @param dims degrees; dp is 1 when they do not multiply up to the GPUs, which a finding says
 * @param batch micro-batch and accumulation; null when the file does not say them
 * @param schedule of the pipeline
 * @param memory sharding, recompute, offload
 * @param stageLayers layers of each virtual stage; empty = as even as possible
 * @param mtpLayers multi-token-prediction layers
 * @param training the job
 * @param flags what was read, by flag or key
 * @param findings what is wrong by the file alone
 * @param notes what could not be read or was filled in
 */
public record ForeignPlan(
    String kind,
    Model model,
    String modelName,
    Adapters adapters,
    Dims dims,
    Batch batch,
    Schedule schedule,
    MemoryPlan memory,
    List<Integer> stageLayers,
    int mtpLayers,
    Training training,
    Map<String, String> flags,
    List<Finding> findings,
    List<String> notes) {
  public ForeignPlan {
    stageLayers = List.copyOf(stageLayers);
    findings = List.copyOf(findings);
    notes = List.copyOf(notes);
  }

  /** The same with one more note. */
  public ForeignPlan withNote(String note) {
    List<String> more = new ArrayList<>(notes);
    more.add(note);
    return new ForeignPlan(
        kind,
        model,
        modelName,
        adapters,
        dims,
        batch,
        schedule,
        memory,
        stageLayers,
        mtpLayers,
        training,
        flags,
        findings,
        more);
  }
}
