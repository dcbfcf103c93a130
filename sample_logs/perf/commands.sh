#!/usr/bin/env bash
# The runs of this folder on a machine with two GPUs: ./commands.sh FOLDER
# NVLink SHARP stays off (NCCL_NVLS_ENABLE=0).
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$1
export NCCL_NVLS_ENABLE=0 NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH,NET,TUNING
export TORCH_NCCL_ENABLE_TIMING=1 TORCH_FR_BUFFER_SIZE=2000

run() {  # NAME [VARIABLE=VALUE…] [-- ARGUMENTS of bench.py]
  local name=$1 settings=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do settings+=("$1"); shift; done
  [ $# -gt 0 ] && shift
  mkdir -p "$out/$name/logs"
  env "${settings[@]}" timeout 150 python3 -m torch.distributed.run --nproc-per-node 2 \
    --master-port $((29600 + RANDOM % 300)) "$here/bench.py" "$@" >"$out/$name/logs/bench.out" 2>&1
  echo "$name: exit status $?"
}

run healthy
run p2p-off NCCL_P2P_DISABLE=1
run p2p-shm-off NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 -- --max-bytes 268435456
run one-channel NCCL_MAX_NCHANNELS=1
run proto-ll NCCL_PROTO=LL
run algo-ring NCCL_ALGO=Ring
run hosts-over-sockets HOST_EACH=1 -- --max-bytes 268435456
run kernel-beside -- --beside 1 --max-bytes 268435456
for late in healthy-loop late-rank; do
  mkdir -p "$out/$late/logs"
done
run healthy-loop -- --loop 400 --dumps "$out/healthy-loop/logs"
run late-rank -- --loop 400 --late 1 --dumps "$out/late-rank/logs"
mkdir -p "$out/kernel-beside-loop/logs"
run kernel-beside-loop -- --loop 300 --beside 1 --dumps "$out/kernel-beside-loop/logs"
