package dev.meshplan.formats;

import dev.meshplan.config.Keyed;

/** What a plan can be written for, with the version that the output is made for. */
public enum Format implements Keyed {
  MEGATRON("megatron", "Megatron-LM main of 2026-08 (d98e8a64)", "shell script and args YAML"),
  MEGATRON_BRIDGE(
      "megatron-bridge", "Megatron-Bridge main of 2026-08 (067f987d)", "recipe overrides"),
  DEEPSPEED(
      "deepspeed",
      "DeepSpeed main of 2026-08 (edaa7221), Megatron-DeepSpeed of 2025-07 (4efb479d)",
      "JSON and launch script"),
  TORCHTITAN(
      "torchtitan",
      "torchtitan main of 2026-08 (b5bcd76c) in Python, releases of 2025 in TOML",
      "configuration in Python, and TOML"),
  ACCELERATE("accelerate", "Accelerate main of 2026-07 (16cb6eb8)", "FSDP2 YAML"),
  SLURM("slurm", "Slurm 25.05 or newer", "batch script and rank map"),
  SLURM_TOPOLOGY(
      "slurm-topology", "Slurm 25.05 or newer (topology.conf: 23.11 or newer)", "topology files"),
  KUBERNETES(
      "kubernetes",
      "JobSet v1alpha2, Kueue v1beta2, ComputeDomain v1beta1",
      "JobSet, Kueue topology, ComputeDomain"),
  RANKS("ranks", "meshplan", "rank map as CSV and JSON");

  private final String key;
  private final String target;
  private final String content;

  Format(String key, String target, String content) {
    this.key = key;
    this.target = target;
    this.content = content;
  }

  @Override
  public String key() {
    return key;
  }

  /** Versions of the consumer that the output was made for. */
  public String target() {
    return target;
  }

  /** What is written. */
  public String content() {
    return content;
  }
}
