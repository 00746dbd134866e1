#!/usr/bin/env bash
# meshplan 0.1.0: deepseek-v3
# model deepseek-v3, 256 GPUs of gb200-nvl72
# TP 1, PP 4 x 4 virtual, DP 64, EP 64, ETP 1, micro-batch 1 x 64
# for Megatron-LM main of 2026-08 (d98e8a64)
# note: the plan assumes balanced experts; a router in training comes near them, not at once
# note: MODEL_ARGS give the shape; what costs neither time nor memory (rotary base, router scores, initialisation) is yours to add
set -euo pipefail

# Left-over settings of other jobs slow or break collectives.
unset NCCL_P2P_LEVEL NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_ALGO NCCL_PROTO
export CUDA_DEVICE_MAX_CONNECTIONS=32
export NCCL_NET_GDR_LEVEL=PHB
export NCCL_NET_GDR_C2C=1
export USE_MNNVL=1
export NVLINK_DOMAIN_SIZE=72
export NUM_OF_HYBRID_EP_RANKS_PER_NVLINK_DOMAIN=64

cd "${MEGATRON_PATH:-.}"

MODEL_ARGS=(
  --num-layers 61
  --hidden-size 7168
  --num-attention-heads 128
  --multi-latent-attention
  --q-lora-rank 1536
  --kv-lora-rank 512
  --qk-head-dim 128
  --qk-pos-emb-head-dim 64
  --v-head-dim 128
  --no-rope-fusion
  --disable-bias-linear
  --ffn-hidden-size 18432
  --swiglu
  --num-experts 256
  --moe-ffn-hidden-size 2048
  --moe-router-topk 8
  --moe-layer-freq '([0]*3+[1]*58)'
  --moe-shared-expert-intermediate-size 2048
  --moe-router-num-groups 8
  --moe-router-group-topk 4
  --seq-length 4096
  --max-position-embeddings 4096
  --position-embedding-type rope
  --normalization RMSNorm
  --untie-embeddings-and-output-weights
  --mtp-num-layers 1
)

PLAN_ARGS=(
  --tensor-model-parallel-size 1
  --pipeline-model-parallel-size 4
  --context-parallel-size 1
  --expert-model-parallel-size 64
  --expert-tensor-parallel-size 1
  --pipeline-model-parallel-layout 'Etttt|(tttt|)*11,t*5|tttt|tttt|mL'
  --micro-batch-size 1
  --global-batch-size 4096
  --use-distributed-optimizer
  --overlap-grad-reduce
  --overlap-param-gather
  --bf16
  --fp8-format e4m3
  --fp8-recipe mxfp8
  --fp8-param-gather
  --reuse-grad-buf-for-mxfp8-param-ag
  --grad-reduce-in-bf16
  --recompute-granularity selective
  --recompute-modules mla_up_proj
  --moe-grouped-gemm
  --moe-router-dtype fp32
  --moe-token-dispatcher-type flex
  --moe-flex-dispatcher-backend hybridep
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
  --vocab-size 129280
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
exec "${LAUNCH[@]}" pretrain_gpt.py "${MODEL_ARGS[@]}" "${PLAN_ARGS[@]}" "${JOB_ARGS[@]}" "$@"
