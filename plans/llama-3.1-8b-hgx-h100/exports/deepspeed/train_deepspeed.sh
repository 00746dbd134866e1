#!/usr/bin/env bash
# meshplan 0.1.0: llama-3.1-8b
# model llama-3.1-8b, 8 GPUs of hgx-h100
# TP 2, PP 1, DP 4, micro-batch 2, 16 micro-batches a step
# for DeepSpeed main of 2026-08 (edaa7221), Megatron-DeepSpeed of 2025-07 (4efb479d)
set -euo pipefail

# Left-over settings of other jobs slow or break collectives.
unset NCCL_P2P_LEVEL NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_ALGO NCCL_PROTO
export CUDA_DEVICE_MAX_CONNECTIONS=1

MODEL_ARGS=(
  --num-layers 32
  --hidden-size 4096
  --num-attention-heads 32
  --ffn-hidden-size 14336
  --swiglu
  --seq-length 8192
  --max-position-embeddings 8192
  --untie-embeddings-and-output-weights
  --num-key-value-heads 8
)

PLAN_ARGS=(
  --tensor-model-parallel-size 2
  --pipeline-model-parallel-size 1
  --no-pipeline-parallel
  --zero-stage 1
  --sequence-parallel
  --micro-batch-size 2
  --global-batch-size 128
  --bf16
  --deepspeed
  --deepspeed_config ds_config.json
)

exec deepspeed --num_nodes 1 --num_gpus 8 ${HOSTFILE:+--hostfile "$HOSTFILE"} \
  "${MEGATRON_DEEPSPEED_PATH:-.}/pretrain_gpt.py" "${MODEL_ARGS[@]}" "${PLAN_ARGS[@]}" "$@"
