#!/usr/bin/env bash
# meshplan 0.1.0: qwen3-235b-a22b
# model qwen3-235b-a22b, 256 GPUs of hgx-h100
# TP 1, PP 1, DP 256, EP 2, ETP 1, micro-batch 8 x 1
# for Megatron-LM main of 2026-08 (d98e8a64)
# note: the plan assumes balanced experts; a router in training comes near them, not at once
# note: MODEL_ARGS give the shape; what costs neither time nor memory (rotary base, router scores, initialisation) is yours to add
set -euo pipefail

# Left-over settings of other jobs slow or break collectives.
unset NCCL_P2P_LEVEL NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_ALGO NCCL_PROTO
export CUDA_DEVICE_MAX_CONNECTIONS=8

cd "${MEGATRON_PATH:-.}"

MODEL_ARGS=(
  --num-layers 94
  --hidden-size 4096
  --num-attention-heads 64
  --group-query-attention
  --num-query-groups 4
  --kv-channels 128
  --qk-layernorm
  --disable-bias-linear
  --ffn-hidden-size 1536
  --swiglu
  --num-experts 128
  --moe-ffn-hidden-size 1536
  --moe-router-topk 8
  --seq-length 4096
  --max-position-embeddings 4096
  --position-embedding-type rope
  --normalization RMSNorm
  --untie-embeddings-and-output-weights
)

PLAN_ARGS=(
  --tensor-model-parallel-size 1
  --pipeline-model-parallel-size 1
  --context-parallel-size 1
  --expert-model-parallel-size 2
  --expert-tensor-parallel-size 1
  --micro-batch-size 8
  --global-batch-size 2048
  --use-megatron-fsdp
  --data-parallel-sharding-strategy optim_grads_params
  --ckpt-format fsdp_dtensor
  --no-gradient-accumulation-fusion
  --overlap-grad-reduce
  --overlap-param-gather
  --bf16
  --grad-reduce-in-bf16
  --recompute-granularity full
  --recompute-method uniform
  --recompute-num-layers 1
  --moe-grouped-gemm
  --moe-router-dtype fp32
  --moe-token-dispatcher-type flex
  --moe-flex-dispatcher-backend deepep
  --moe-router-load-balancing-type aux_loss
  --moe-aux-loss-coeff 1e-3
  --transformer-impl transformer_engine
  --cross-entropy-loss-fusion
  --cross-entropy-fusion-impl native
)

# Not part of the plan: optimizer, data, tokenizer. Replace the mock data to train.
JOB_ARGS=(
  --train-iters 50
  --lr 1e-4
  --min-lr 1e-5
  --lr-decay-style cosine
  --weight-decay 0.1
  --clip-grad 1.0
  --attention-dropout 0.0
  --hidden-dropout 0.0
  --log-interval 1
  --log-throughput
  --mock-data
  --tokenizer-type NullTokenizer
  --vocab-size 151936
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
exec "${LAUNCH[@]}" pretrain_gpt.py "${MODEL_ARGS[@]}" "${PLAN_ARGS[@]}" "${JOB_ARGS[@]}" "$@"
