#!/usr/bin/env bash
# meshplan 0.1.0: qwen3-235b-a22b
# model qwen3-235b-a22b, 256 GPUs of hgx-h100
# TP 1, PP 1, DP 256, EP 2, ETP 1, micro-batch 8 x 1
# for torchtitan main of 2026-08 (b5bcd76c) in Python, releases of 2025 in TOML
# note: config.toml is for releases of 2025, which also read tokenizer and data from it
set -euo pipefail

# Left-over settings of other jobs slow or break collectives.
unset NCCL_P2P_LEVEL NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_ALGO NCCL_PROTO

HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
export PYTHONPATH="$HERE${PYTHONPATH:+:$PYTHONPATH}"
cd "${TORCHTITAN_PATH:-.}"

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
exec "${LAUNCH[@]}" -m torchtitan.train --module meshplan_run --config plan "$@"
