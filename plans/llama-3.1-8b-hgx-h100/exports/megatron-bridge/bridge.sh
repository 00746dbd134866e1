#!/usr/bin/env bash
# meshplan 0.1.0: llama-3.1-8b
# model llama-3.1-8b, 8 GPUs of hgx-h100
# TP 1, PP 2 x 6 virtual, DP 4, micro-batch 1 x 32
# for Megatron-Bridge main of 2026-08 (067f987d)
set -euo pipefail

# Left-over settings of other jobs slow or break collectives.
unset NCCL_P2P_LEVEL NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_ALGO NCCL_PROTO
export CUDA_DEVICE_MAX_CONNECTIONS=32

cd "${BRIDGE_PATH:-.}"

RECIPE="${RECIPE:-llama31_8b_pretrain_config}"
: "${RECIPE:?name a recipe}"

OVERRIDES=(
  model.tensor_model_parallel_size=1
  model.pipeline_model_parallel_size=2
  model.context_parallel_size=1
  "model.pipeline_model_parallel_layout='Ett|(ttt|)*10,L'"
  train.micro_batch_size=1
  train.global_batch_size=128
  ddp.use_distributed_optimizer=true
  comm_overlap.overlap_grad_reduce=true
  comm_overlap.overlap_param_gather=true
  ddp.grad_reduce_in_fp32=false
  model.cross_entropy_loss_fusion=true
  model.cross_entropy_fusion_impl=native
  model.virtual_pipeline_model_parallel_size=6
  model.seq_length=8192
  dataset.seq_length=8192
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
    --nnodes="${NNODES:-1}"
    --node-rank="${NODE_RANK:-0}"
    --master-addr="${MASTER_ADDR:-127.0.0.1}"
    --master-port="${MASTER_PORT:-29500}")
fi
exec "${LAUNCH[@]}" scripts/training/run_recipe.py --recipe "$RECIPE" --mode pretrain --dataset mock "${OVERRIDES[@]}" "$@"
