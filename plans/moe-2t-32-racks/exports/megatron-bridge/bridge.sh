#!/usr/bin/env bash
# meshplan 0.1.0: example-moe-2t
# model example-moe-2t, 2048 GPUs of gb200-nvl72
# TP 2, PP 4 x 6 virtual, DP 256, EP 64, ETP 1, micro-batch 1 x 32
# for Megatron-Bridge main of 2026-08 (067f987d)
# note: the plan assumes balanced experts; a router in training comes near them, not at once
# note: no recipe of Megatron-Bridge is known for example-moe-2t: set RECIPE to one that builds this shape
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

RECIPE="${RECIPE:-}"
: "${RECIPE:?name a recipe}"

OVERRIDES=(
  model.tensor_model_parallel_size=2
  model.pipeline_model_parallel_size=4
  model.context_parallel_size=1
  model.expert_model_parallel_size=64
  model.expert_tensor_parallel_size=1
  model.sequence_parallel=true
  model.virtual_pipeline_model_parallel_size=6
  train.micro_batch_size=1
  train.global_batch_size=8192
  ddp.use_distributed_optimizer=true
  comm_overlap.overlap_grad_reduce=true
  comm_overlap.overlap_param_gather=true
  ddp.grad_reduce_in_fp32=false
  model.recompute_granularity=selective
  'model.recompute_modules=[layernorm,mla_up_proj,mlp,moe_act]'
  comm_overlap.tp_comm_overlap=true
  model.moe_grouped_gemm=true
  model.moe_router_dtype=fp32
  model.moe_token_dispatcher_type=flex
  model.moe_flex_dispatcher_backend=hybridep
  model.moe_router_load_balancing_type=aux_loss
  model.moe_aux_loss_coeff=1e-3
  model.cross_entropy_loss_fusion=true
  model.cross_entropy_fusion_impl=native
  model.seq_length=8192
  dataset.seq_length=8192
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
    --nnodes="${NNODES:-512}"
    --node-rank="${NODE_RANK:-0}"
    --master-addr="${MASTER_ADDR:-127.0.0.1}"
    --master-port="${MASTER_PORT:-29500}")
fi
exec "${LAUNCH[@]}" scripts/training/run_recipe.py --recipe "$RECIPE" --mode pretrain --dataset mock "${OVERRIDES[@]}" "$@"
