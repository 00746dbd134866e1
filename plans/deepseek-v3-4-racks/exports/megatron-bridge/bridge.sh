#!/usr/bin/env bash
# meshplan 0.1.0: deepseek-v3
# model deepseek-v3, 256 GPUs of gb200-nvl72
# TP 1, PP 4 x 4 virtual, DP 64, EP 64, ETP 1, micro-batch 1 x 64
# for Megatron-Bridge main of 2026-08 (067f987d)
# note: the plan assumes balanced experts; a router in training comes near them, not at once
set -euo pipefail

# Left-over settings of other jobs slow or break collectives.
unset NCCL_P2P_LEVEL NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_ALGO NCCL_PROTO
export CUDA_DEVICE_MAX_CONNECTIONS=32
export NCCL_NET_GDR_LEVEL=PHB
export NCCL_NET_GDR_C2C=1
export USE_MNNVL=1
export NVLINK_DOMAIN_SIZE=72
export NUM_OF_HYBRID_EP_RANKS_PER_NVLINK_DOMAIN=64

cd "${BRIDGE_PATH:-.}"

RECIPE="${RECIPE:-deepseek_v3_pretrain_config}"
: "${RECIPE:?name a recipe}"

OVERRIDES=(
  model.tensor_model_parallel_size=1
  model.pipeline_model_parallel_size=4
  model.context_parallel_size=1
  model.expert_model_parallel_size=64
  model.expert_tensor_parallel_size=1
  "model.pipeline_model_parallel_layout='Etttt|(tttt|)*11,t*5|tttt|tttt|mL'"
  train.micro_batch_size=1
  train.global_batch_size=4096
  ddp.use_distributed_optimizer=true
  comm_overlap.overlap_grad_reduce=true
  comm_overlap.overlap_param_gather=true
  ddp.grad_reduce_in_fp32=false
  model.recompute_granularity=selective
  'model.recompute_modules=[mla_up_proj]'
  model.moe_grouped_gemm=true
  model.moe_router_dtype=fp32
  model.moe_token_dispatcher_type=flex
  model.moe_flex_dispatcher_backend=hybridep
  model.moe_router_load_balancing_type=aux_loss
  model.moe_aux_loss_coeff=1e-3
  model.cross_entropy_loss_fusion=true
  model.cross_entropy_fusion_impl=native
  model.virtual_pipeline_model_parallel_size=4
  model.seq_length=4096
  dataset.seq_length=4096
  mixed_precision=bf16_with_mxfp8_mixed
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
    --nnodes="${NNODES:-64}"
    --node-rank="${NODE_RANK:-0}"
    --master-addr="${MASTER_ADDR:-127.0.0.1}"
    --master-port="${MASTER_PORT:-29500}")
fi
exec "${LAUNCH[@]}" scripts/training/run_recipe.py --recipe "$RECIPE" --mode pretrain --dataset mock "${OVERRIDES[@]}" "$@"
