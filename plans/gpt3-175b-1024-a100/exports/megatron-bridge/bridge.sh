#!/usr/bin/env bash
# meshplan 0.1.0: gpt3-175b
# model gpt3-175b, 1024 GPUs of hgx-a100-80
# TP 4, PP 8 x 12 virtual, DP 32, micro-batch 2 x 24
# for Megatron-Bridge main of 2026-08 (067f987d)
# note: no recipe of Megatron-Bridge is known for gpt3-175b: set RECIPE to one that builds this shape
set -euo pipefail

# Left-over settings of other jobs slow or break collectives.
unset NCCL_P2P_LEVEL NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_ALGO NCCL_PROTO
export CUDA_DEVICE_MAX_CONNECTIONS=1

cd "${BRIDGE_PATH:-.}"

RECIPE="${RECIPE:-}"
: "${RECIPE:?name a recipe}"

OVERRIDES=(
  model.tensor_model_parallel_size=4
  model.pipeline_model_parallel_size=8
  model.context_parallel_size=1
  model.sequence_parallel=true
  model.virtual_pipeline_model_parallel_size=12
  train.micro_batch_size=2
  train.global_batch_size=1536
  ddp.use_distributed_optimizer=true
  comm_overlap.overlap_grad_reduce=true
  comm_overlap.overlap_param_gather=true
  ddp.grad_reduce_in_fp32=false
  comm_overlap.tp_comm_overlap=true
  model.cross_entropy_loss_fusion=true
  model.cross_entropy_fusion_impl=native
  model.seq_length=2048
  dataset.seq_length=2048
  mixed_precision=bf16_mixed
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
    --nnodes="${NNODES:-128}"
    --node-rank="${NODE_RANK:-0}"
    --master-addr="${MASTER_ADDR:-127.0.0.1}"
    --master-port="${MASTER_PORT:-29500}")
fi
exec "${LAUNCH[@]}" scripts/training/run_recipe.py --recipe "$RECIPE" --mode pretrain --dataset mock "${OVERRIDES[@]}" "$@"
