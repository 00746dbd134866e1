# meshplan 0.1.0: qwen3-235b-a22b
# model qwen3-235b-a22b, 256 GPUs of hgx-h100
# TP 1, PP 1, DP 256, EP 2, ETP 1, micro-batch 8 x 1
# for torchtitan main of 2026-08 (b5bcd76c) in Python, releases of 2025 in TOML
# note: config.toml is for releases of 2025, which also read tokenizer and data from it
from torchtitan.distributed.activation_checkpoint import FullAC
from torchtitan.models.qwen3 import model_registry
from torchtitan.models.qwen3.config_registry import qwen3_30b_a3b


def plan():
    config = qwen3_30b_a3b()
    config.model_spec = model_registry("235B-A22B")
    config.training.num_tokens_per_microbatch_per_dp_rank = 32768
    config.training.num_tokens_per_train_step = 8388608
    config.training.max_context_length = 4096
    config.training.steps = 50
    config.parallelism.data_parallel_replicate_degree = 1
    config.parallelism.data_parallel_shard_degree = 256
    config.parallelism.fsdp_reshard_after_forward = "default"
    config.parallelism.tensor_parallel_degree = 1
    config.parallelism.enable_sequence_parallel = False
    config.parallelism.context_parallel_degree = 1
    config.parallelism.pipeline_parallel_degree = 1
    config.parallelism.expert_parallel_degree = 2
    config.activation_checkpoint = FullAC.Config()
    return config
