#!/usr/bin/env bash
# meshplan 0.1.0: mixtral-8x22b
# model mixtral-8x22b, 128 GPUs of hgx-h100
# TP 1, CP 2, PP 4 x 7 virtual, DP 16, EP 8, ETP 1, micro-batch 1 x 16
# for Megatron-Bridge main of 2026-08 (067f987d)
# note: the plan assumes balanced experts; a router in training comes near them, not at once
# note: no recipe of Megatron-Bridge is known for mixtral-8x22b: set RECIPE to one that builds this shape
set -euo pipefail

# Left-over settings of other jobs slow or break collectives.
unset NCCL_P2P_LEVEL NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_ALGO NCCL_PROTO
export CUDA_DEVICE_MAX_CONNECTIONS=1

cd "${BRIDGE_PATH:-.}"

RECIPE="${RECIPE:-}"
: "${RECIPE:?name a recipe}"

OVERRIDES=(
  model.tensor_model_parallel_size=1
  model.pipeline_model_parallel_size=4
  model.context_parallel_size=2
  model.cp_comm_type=p2p
  model.expert_model_parallel_size=8
  model.expert_tensor_parallel_size=1
  model.virtual_pipeline_model_parallel_size=7
  train.micro_batch_size=1
  train.global_batch_size=256
  ddp.use_distributed_optimizer=true
  comm_overlap.overlap_grad_reduce=true
  comm_overlap.overlap_param_gather=true
  ddp.grad_reduce_in_fp32=false
  model.recompute_granularity=selective
  'model.recompute_modules=[moe_act]'
  model.moe_grouped_gemm=true
  model.moe_router_dtype=fp32
  model.moe_token_dispatcher_type=flex
  model.moe_flex_dispatcher_backend=deepep
  model.moe_router_load_balancing_type=aux_loss
  model.moe_aux_loss_coeff=1e-3
  model.cross_entropy_loss_fusion=true
  model.cross_entropy_fusion_impl=native
  model.seq_length=4096
  dataset.seq_length=4096
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
    --nnodes="${NNODES:-16}"
    --node-rank="${NODE_RANK:-0}"
    --master-addr="${MASTER_ADDR:-127.0.0.1}"
    --master-port="${MASTER_PORT:-29500}")
fi
exec "${LAUNCH[@]}" scripts/training/run_recipe.py --recipe "$RECIPE" --mode pretrain --dataset mock "${OVERRIDES[@]}" "$@"
