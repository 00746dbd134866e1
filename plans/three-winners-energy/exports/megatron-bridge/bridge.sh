#!/usr/bin/env bash
# meshplan 0.1.0: llama-3.1-70b
# model llama-3.1-70b, 128 GPUs of gb200-nvl72
# TP 2, PP 2 x 10 virtual, DP 32, micro-batch 2 x 8
# for Megatron-Bridge main of 2026-08 (067f987d)
set -euo pipefail

# Left-over settings of other jobs slow or break collectives.
unset NCCL_P2P_LEVEL NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_ALGO NCCL_PROTO
export CUDA_DEVICE_MAX_CONNECTIONS=32
export NCCL_NET_GDR_LEVEL=PHB
export NCCL_NET_GDR_C2C=1

cd "${BRIDGE_PATH:-.}"

RECIPE="${RECIPE:-llama31_70b_pretrain_config}"
: "${RECIPE:?name a recipe}"

OVERRIDES=(
  model.tensor_model_parallel_size=2
  model.pipeline_model_parallel_size=2
  model.context_parallel_size=1
  model.sequence_parallel=true
  "model.pipeline_model_parallel_layout='E|(ttt|)*5,tttt|tttt|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|ttL'"
  train.micro_batch_size=2
  train.global_batch_size=512
  ddp.use_distributed_optimizer=true
  comm_overlap.overlap_grad_reduce=true
  comm_overlap.overlap_param_gather=true
  ddp.grad_reduce_in_fp32=false
  comm_overlap.tp_comm_overlap=true
  model.cross_entropy_loss_fusion=true
  model.cross_entropy_fusion_impl=native
  model.virtual_pipeline_model_parallel_size=10
  model.seq_length=4096
  dataset.seq_length=4096
  mixed_precision=bf16_mixed
)

if [[ -n "${RANK:-}" && -n "${WORLD_SIZE:-}" ]]; then
  LAUNCH=(python)
  if command -v numactl >/dev/null && [[ -n "${LOCAL_RANK:-}" ]]; then
    SOCKET=$((LOCAL_RANK / 2))
    LAUNCH=(numactl --cpunodebind="$SOCKET" --membind="$SOCKET" python)
  fi
else
  LAUNCH=(torchrun
    --nproc-per-node=4
    --nnodes="${NNODES:-32}"
    --node-rank="${NODE_RANK:-0}"
    --master-addr="${MASTER_ADDR:-127.0.0.1}"
    --master-port="${MASTER_PORT:-29500}")
fi
exec "${LAUNCH[@]}" scripts/training/run_recipe.py --recipe "$RECIPE" --mode pretrain --dataset mock "${OVERRIDES[@]}" "$@"
