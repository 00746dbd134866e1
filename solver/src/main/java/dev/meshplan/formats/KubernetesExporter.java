package dev.meshplan.formats;

import dev.meshplan.config.Text;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes a plan as a JobSet with Kueue's topology annotations, and a ComputeDomain where NVLink
 * joins nodes.
 */
final class KubernetesExporter {
  private static final String CLIQUE = "nvidia.com/gpu.clique";

  private KubernetesExporter() {}

  static Export export(Job job) {
    int pools = job.plan().placement().pools().size();
    if (pools > 1) {
      return Export.refusal(
          Format.KUBERNETES,
          new Refusal(
              "one replicated job has one kind of pod, this plan stands on " + pools + " pools",
              "one JobSet with a replicated job per pool, with --to ranks"));
    }
    Segments segments = Segments.of(job);
    boolean joined = job.system().domain().size() > job.gpusPerNode();
    if (segments.perNode() == 0) {
      return Export.refusal(
          Format.KUBERNETES,
          new Refusal(
              "pods hold whole nodes and start equally many processes, but this plan's nodes do not",
              "blocks of whole nodes (such as 8, 36 or 72 GPUs)"));
    }
    if (segments.working() < segments.nodes() && segments.working() > segments.segmentNodes()) {
      return Export.refusal(
          Format.KUBERNETES,
          new Refusal(
              "Kueue's slices are of equal size, but the last one of this plan has "
                  + segments.working() % segments.segmentNodes()
                  + " of "
                  + segments.segmentNodes()
                  + " pods",
              "a number of GPUs that fills its blocks"));
    }
    String name = Quoting.slug(job.name());
    List<Object> documents = new ArrayList<>();
    if (joined) {
      documents.add(computeDomain(name));
    }
    documents.add(jobSet(job, name, segments, joined));
    List<String> notes =
        List.of(
            "the pod's entry point is train.sh (--to megatron) at /workspace; set the image",
            "a slice is "
                + segments.segmentNodes()
                + " pods, one pod is one node of "
                + job.gpusPerNode()
                + " GPUs");
    String head = job.comment(Format.KUBERNETES, notes);
    return Export.of(
        Format.KUBERNETES,
        List.of(
            new OutputFile("job.yaml", head + documents(documents)),
            new OutputFile("kueue.yaml", head + documents(kueue(joined)))),
        notes);
  }

  private static String documents(List<Object> list) {
    return String.join("---\n", list.stream().map(Text::yaml).toList());
  }

  private static Map<String, Object> object(String version, String kind, String name) {
    Map<String, Object> o = new LinkedHashMap<>();
    o.put("apiVersion", version);
    o.put("kind", kind);
    o.put("metadata", map("name", name));
    return o;
  }

  private static Map<String, Object> map(Object... pairs) {
    Map<String, Object> m = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      m.put((String) pairs[i], pairs[i + 1]);
    }
    return m;
  }

  private static Map<String, Object> computeDomain(String name) {
    Map<String, Object> o = object("resource.nvidia.com/v1beta1", "ComputeDomain", name);
    o.put(
        "spec",
        map(
            "numNodes",
            0,
            "channel",
            map(
                "resourceClaimTemplate",
                map("name", name + "-channel"),
                "allocationMode",
                "Single")));
    return o;
  }

  private static Map<String, Object> jobSet(
      Job job, String name, Segments segments, boolean joined) {
    Map<String, Object> annotations = new LinkedHashMap<>();
    if (joined && segments.working() <= segments.segmentNodes()) {
      annotations.put("kueue.x-k8s.io/podset-required-topology", CLIQUE);
    } else if (joined) {
      annotations.put("kueue.x-k8s.io/podset-slice-required-topology", CLIQUE);
      annotations.put(
          "kueue.x-k8s.io/podset-slice-size", Integer.toString(segments.segmentNodes()));
    } else {
      annotations.put("kueue.x-k8s.io/podset-unconstrained-topology", "true");
    }
    String host = name + "-workers-0-0." + name;
    List<Object> env = new ArrayList<>();
    env.add(map("name", "NNODES", "value", Integer.toString(segments.working())));
    env.add(map("name", "MASTER_ADDR", "value", host));
    env.add(map("name", "MASTER_PORT", "value", "29500"));
    env.add(
        map(
            "name",
            "NODE_RANK",
            "valueFrom",
            map(
                "fieldRef",
                map(
                    "fieldPath",
                    "metadata.annotations['batch.kubernetes.io/job-completion-index']"))));
    Map<String, Object> resources = map("limits", map("nvidia.com/gpu", job.gpusPerNode()));
    Map<String, Object> container =
        map(
            "name",
            "trainer",
            "image",
            "REPLACE_ME",
            "command",
            List.of("bash", "/workspace/train.sh"));
    container.put("env", env);
    Map<String, Object> pod = new LinkedHashMap<>();
    pod.put("restartPolicy", "Never");
    if (joined) {
      resources.put("claims", List.of(map("name", "channel")));
      pod.put(
          "resourceClaims",
          List.of(map("name", "channel", "resourceClaimTemplateName", name + "-channel")));
    }
    container.put("resources", resources);
    // NCCL passes data between the processes of a node through shared memory; 64 MB are usual.
    container.put("volumeMounts", List.of(map("name", "shm", "mountPath", "/dev/shm")));
    pod.put("containers", List.of(container));
    pod.put("volumes", List.of(map("name", "shm", "emptyDir", map("medium", "Memory"))));
    Map<String, Object> template = map("metadata", map("annotations", annotations), "spec", pod);
    Map<String, Object> batch =
        map(
            "parallelism",
            segments.working(),
            "completions",
            segments.working(),
            "completionMode",
            "Indexed",
            "backoffLimit",
            0,
            "template",
            template);
    Map<String, Object> o = object("jobset.x-k8s.io/v1alpha2", "JobSet", name);
    Map<String, Object> metadata = new LinkedHashMap<>();
    metadata.put("name", name);
    metadata.put("labels", map("kueue.x-k8s.io/queue-name", "training"));
    metadata.put(
        "annotations",
        map(
            "meshplan.dev/name",
            Quoting.comment(job.name()),
            "meshplan.dev/processes-per-node",
            Integer.toString(segments.perNode())));
    o.put("metadata", metadata);
    o.put(
        "spec",
        map(
            "replicatedJobs",
            List.of(map("name", "workers", "replicas", 1, "template", map("spec", batch)))));
    return o;
  }

  private static List<Object> kueue(boolean joined) {
    List<Object> levels = new ArrayList<>();
    if (joined) {
      levels.add(map("nodeLabel", CLIQUE));
    }
    levels.add(map("nodeLabel", "kubernetes.io/hostname"));
    Map<String, Object> topology = object("kueue.x-k8s.io/v1beta2", "Topology", "scale-up");
    topology.put("spec", map("levels", levels));
    Map<String, Object> flavor = object("kueue.x-k8s.io/v1beta2", "ResourceFlavor", "scale-up");
    flavor.put(
        "spec",
        map("topologyName", "scale-up", "nodeLabels", map("nvidia.com/gpu.present", "true")));
    return List.of(topology, flavor);
  }
}
