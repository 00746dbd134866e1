package dev.meshplan.plan;

import dev.meshplan.config.Keyed;

/** The software a run uses, by stack and date. Newest first in each stack. */
public enum Era implements Keyed {
  MEGATRON_2026B("megatron-2026b"),
  MEGATRON_2026A("megatron-2026a"),
  MEGATRON_2025("megatron-2025"),
  NEMO_2025("nemo-2025"),
  NEMO_2024("nemo-2024"),
  TORCH_TE_2025("torch-te-2025"),
  TORCH_2025("torch-2024/25"),
  YAFSDP_2024("yafsdp-2024"),
  TORCH_2023("torch-2023"),
  INTERNEVO_2023("internevo-2023"),
  XLA_2024("xla-2024"),
  MEGATRON_2021("megatron-2021/22"),
  MEGATRON_DEEPSPEED_2022("megatron-deepspeed-2022");

  private final String key;

  Era(String key) {
    this.key = key;
  }

  @Override
  public String key() {
    return key;
  }
}
