#!/usr/bin/env bash
# meshplan 0.1.0: llama-3.1-70b
# model llama-3.1-70b, 128 GPUs of gb200-nvl72
# TP 4, PP 1, DP 32, micro-batch 4 x 4
# for DeepSpeed main of 2026-08 (edaa7221), Megatron-DeepSpeed of 2025-07 (4efb479d)
# note: Megatron-DeepSpeed was last changed in 2025-07: treat it as legacy
# note: the batch triple holds on 128 GPUs only
set -euo pipefail

# Left-over settings of other jobs slow or break collectives.
unset NCCL_P2P_LEVEL NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_ALGO NCCL_PROTO
export CUDA_DEVICE_MAX_CONNECTIONS=1

HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cd "${MEGATRON_DEEPSPEED_PATH:-.}"
: "${DATA_PATH:?name a tokenized data set, without .bin and .idx}"

MODEL_ARGS=(
  --num-layers 80
  --hidden-size 8192
  --ffn-hidden-size 28672
  --num-attention-heads 64
  --num-key-value-heads 8
  --seq-length 4096
  --max-position-embeddings 4096
  --use-rotary-position-embeddings
  --normalization rmsnorm
  --swiglu
  --disable-bias-linear
  --untie-embeddings-and-output-weights
  --no-query-key-layer-scaling
)

PLAN_ARGS=(
  --tensor-model-parallel-size 4
  --pipeline-model-parallel-size 1
  --no-pipeline-parallel
  --sequence-parallel
  --zero-stage 1
  --micro-batch-size 4
  --global-batch-size 512
  --bf16
  --use-flash-attn-v2
)

# Not part of the plan: optimizer, data, tokenizer.
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
  --tokenizer-type NullTokenizer
  --vocab-size 128255
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
exec "${LAUNCH[@]}" pretrain_gpt.py "${MODEL_ARGS[@]}" "${PLAN_ARGS[@]}" "${JOB_ARGS[@]}" \
  --data-path "$DATA_PATH" --deepspeed --deepspeed_config "$HERE/ds_config.json" "$@"
