#!/usr/bin/env bash
# meshplan 0.1.0: qwen3-235b-a22b
# model qwen3-235b-a22b, 256 GPUs of hgx-h100
# TP 1, PP 1, DP 256, EP 2, ETP 1, micro-batch 8, 1 micro-batches a step
# for torchtitan main of 2026-08 (b5bcd76c) as CLI overrides, releases of 2025 as TOML
set -euo pipefail

# Left-over settings of other jobs slow or break collectives.
unset NCCL_P2P_LEVEL NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_ALGO NCCL_PROTO

MODULE="${MODULE:-qwen3}"
CONFIG="${CONFIG:-qwen3_235b_a22b}"
: "${MODULE:?name a module}" "${CONFIG:?name a configuration}"

OVERRIDES=(
  --training.num_tokens_per_microbatch_per_dp_rank=32768
  --training.seq_len=4096
  --parallelism.data_parallel_replicate_degree=1
  --parallelism.data_parallel_shard_degree=256
  --parallelism.fsdp_reshard_after_forward=default
  --parallelism.tensor_parallel_degree=1
  --parallelism.context_parallel_degree=1
  --parallelism.pipeline_parallel_degree=1
  --parallelism.expert_parallel_degree=2
  --parallelism.enable_sequence_parallel=false
  --activation_checkpoint.mode=full
)

if [[ -n "${RANK:-}" && -n "${WORLD_SIZE:-}" ]]; then
  LAUNCH=(python)
  if command -v numactl >/dev/null && [[ -n "${LOCAL_RANK:-}" ]]; then
    SOCKET=$((LOCAL_RANK / 4))
    LAUNCH=(numactl --cpunodebind="$SOCKET" --membind="$SOCKET" python)
  fi
else
  LAUNCH=(torchrun
    --nproc-per-node=8
    --nnodes="${NNODES:-32}"
    --node-rank="${NODE_RANK:-0}"
    --master-addr="${MASTER_ADDR:-127.0.0.1}"
    --master-port="${MASTER_PORT:-29500}")
fi
exec "${LAUNCH[@]}" -m torchtitan.train --module "$MODULE" --config "$CONFIG" "${OVERRIDES[@]}" "$@"
