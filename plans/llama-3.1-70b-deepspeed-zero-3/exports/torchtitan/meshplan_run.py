# meshplan 0.1.0: llama-3.1-70b
# model llama-3.1-70b, 128 GPUs of hgx-h100
# TP 1, PP 1, DP 128, micro-batch 4 x 1
# for torchtitan main of 2026-08 (b5bcd76c) in Python, releases of 2025 in TOML
# note: config.toml is for releases of 2025, which also read tokenizer and data from it
from torchtitan.distributed.activation_checkpoint import FullAC
from torchtitan.models.llama3 import model_registry
from torchtitan.models.llama3.config_registry import llama3_70b


def plan():
    config = llama3_70b()
    config.model_spec = model_registry("70B")
    config.training.num_tokens_per_microbatch_per_dp_rank = 16384
    config.training.num_tokens_per_train_step = 2097152
    config.training.max_context_length = 4096
    config.training.steps = 50
    config.parallelism.data_parallel_replicate_degree = 1
    config.parallelism.data_parallel_shard_degree = 128
    config.parallelism.fsdp_reshard_after_forward = "default"
    config.parallelism.tensor_parallel_degree = 1
    config.parallelism.enable_sequence_parallel = False
    config.parallelism.context_parallel_degree = 1
    config.parallelism.pipeline_parallel_degree = 1
    config.parallelism.expert_parallel_degree = 1
    config.activation_checkpoint = FullAC.Config()
    return config
