#!/usr/bin/env bash
# meshplan 0.1.0: gpt3-175b
# model gpt3-175b, 1024 GPUs of hgx-a100-80
# TP 4, PP 8 x 12 virtual, DP 32, micro-batch 2 x 24
# for Megatron-LM main of 2026-08 (d98e8a64)
# note: MODEL_ARGS give the shape; what costs neither time nor memory (rotary base, router scores, initialisation) is yours to add
set -euo pipefail

# Left-over settings of other jobs slow or break collectives.
unset NCCL_P2P_LEVEL NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_ALGO NCCL_PROTO
export CUDA_DEVICE_MAX_CONNECTIONS=1

cd "${MEGATRON_PATH:-.}"

MODEL_ARGS=(
  --num-layers 96
  --hidden-size 12288
  --num-attention-heads 96
  --kv-channels 128
  --ffn-hidden-size 49152
  --seq-length 2048
  --max-position-embeddings 2048
  --position-embedding-type learned_absolute
  --normalization LayerNorm
)

PLAN_ARGS=(
  --tensor-model-parallel-size 4
  --pipeline-model-parallel-size 8
  --context-parallel-size 1
  --sequence-parallel
  --num-virtual-stages-per-pipeline-rank 12
  --micro-batch-size 2
  --global-batch-size 1536
  --use-distributed-optimizer
  --overlap-grad-reduce
  --overlap-param-gather
  --bf16
  --grad-reduce-in-bf16
  --tp-comm-overlap
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
  --vocab-size 50257
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
exec "${LAUNCH[@]}" pretrain_gpt.py "${MODEL_ARGS[@]}" "${PLAN_ARGS[@]}" "${JOB_ARGS[@]}" "$@"
