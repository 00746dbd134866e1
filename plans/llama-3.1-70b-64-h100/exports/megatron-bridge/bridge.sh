#!/usr/bin/env bash
# meshplan 0.1.0: llama-3.1-70b
# model llama-3.1-70b, 64 GPUs of hgx-h100
# TP 4, CP 2, PP 2 x 7 virtual, DP 4, micro-batch 1 x 64
# for Megatron-Bridge main of 2026-08 (067f987d)
set -euo pipefail

# Left-over settings of other jobs slow or break collectives.
unset NCCL_P2P_LEVEL NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_ALGO NCCL_PROTO
export CUDA_DEVICE_MAX_CONNECTIONS=1

cd "${BRIDGE_PATH:-.}"

RECIPE="${RECIPE:-llama31_70b_pretrain_config}"
: "${RECIPE:?name a recipe}"

OVERRIDES=(
  model.tensor_model_parallel_size=4
  model.pipeline_model_parallel_size=2
  model.context_parallel_size=2
  model.cp_comm_type=p2p
  model.sequence_parallel=true
  "model.pipeline_model_parallel_layout='E|tttt|t*7|t*7|t*5|t*5|t*7|t*7|t*7|t*7|t*7|t*7|t*7|tttL'"
  train.micro_batch_size=1
  train.global_batch_size=256
  ddp.use_distributed_optimizer=true
  comm_overlap.overlap_grad_reduce=true
  comm_overlap.overlap_param_gather=true
  ddp.grad_reduce_in_fp32=false
  comm_overlap.tp_comm_overlap=true
  model.cross_entropy_loss_fusion=true
  model.cross_entropy_fusion_impl=native
  model.virtual_pipeline_model_parallel_size=7
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
    --nnodes="${NNODES:-8}"
    --node-rank="${NODE_RANK:-0}"
    --master-addr="${MASTER_ADDR:-127.0.0.1}"
    --master-port="${MASTER_PORT:-29500}")
fi
exec "${LAUNCH[@]}" scripts/training/run_recipe.py --recipe "$RECIPE" --mode pretrain --dataset mock "${OVERRIDES[@]}" "$@"
