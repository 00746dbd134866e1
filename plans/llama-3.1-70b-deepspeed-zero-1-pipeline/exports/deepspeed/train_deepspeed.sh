#!/usr/bin/env bash
# meshplan 0.1.0: llama-3.1-70b
# model llama-3.1-70b, 128 GPUs of hgx-h100
# TP 4, PP 2, DP 16, micro-batch 1, 32 micro-batches a step
# for DeepSpeed main of 2026-08 (edaa7221), Megatron-DeepSpeed of 2025-07 (4efb479d)
set -euo pipefail

# Left-over settings of other jobs slow or break collectives.
unset NCCL_P2P_LEVEL NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_ALGO NCCL_PROTO
export CUDA_DEVICE_MAX_CONNECTIONS=1

MODEL_ARGS=(
  --num-layers 80
  --hidden-size 8192
  --num-attention-heads 64
  --ffn-hidden-size 28672
  --swiglu
  --seq-length 4096
  --max-position-embeddings 4096
  --untie-embeddings-and-output-weights
  --num-key-value-heads 8
)

PLAN_ARGS=(
  --tensor-model-parallel-size 4
  --pipeline-model-parallel-size 2
  --zero-stage 1
  --sequence-parallel
  --micro-batch-size 1
  --global-batch-size 512
  --bf16
  --deepspeed
  --deepspeed_config ds_config.json
)

exec deepspeed --num_nodes 16 --num_gpus 8 ${HOSTFILE:+--hostfile "$HOSTFILE"} \
  "${MEGATRON_DEEPSPEED_PATH:-.}/pretrain_gpt.py" "${MODEL_ARGS[@]}" "${PLAN_ARGS[@]}" "$@"
