#!/usr/bin/env bash
# meshplan 0.1.0: llama-3.1-70b
# model llama-3.1-70b, 128 GPUs of gb200-nvl72
# TP 2, PP 2 x 10 virtual, DP 32, micro-batch 2 x 8
# for Megatron-LM main of 2026-08 (d98e8a64)
# note: MODEL_ARGS give the shape; what costs neither time nor memory (rotary base, router scores, initialisation) is yours to add
set -euo pipefail

# Left-over settings of other jobs slow or break collectives.
unset NCCL_P2P_LEVEL NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_ALGO NCCL_PROTO
export CUDA_DEVICE_MAX_CONNECTIONS=32
export NCCL_NET_GDR_LEVEL=PHB
export NCCL_NET_GDR_C2C=1

cd "${MEGATRON_PATH:-.}"

MODEL_ARGS=(
  --num-layers 80
  --hidden-size 8192
  --num-attention-heads 64
  --group-query-attention
  --num-query-groups 8
  --kv-channels 128
  --disable-bias-linear
  --ffn-hidden-size 28672
  --swiglu
  --seq-length 4096
  --max-position-embeddings 4096
  --position-embedding-type rope
  --normalization RMSNorm
  --untie-embeddings-and-output-weights
)

PLAN_ARGS=(
  --tensor-model-parallel-size 2
  --pipeline-model-parallel-size 2
  --context-parallel-size 1
  --sequence-parallel
  --pipeline-model-parallel-layout 'E|(ttt|)*5,tttt|tttt|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|ttL'
  --micro-batch-size 2
  --global-batch-size 512
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
  --vocab-size 128256
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
exec "${LAUNCH[@]}" pretrain_gpt.py "${MODEL_ARGS[@]}" "${PLAN_ARGS[@]}" "${JOB_ARGS[@]}" "$@"
