#!/bin/bash
# Starts the training on each node.
export NCCL_DEBUG=INFO
export NCCL_TIMEOUT=3600
export NCCL_SHM_DIR=/scratch/shm
export NCCL_SHM_USE_CUDA_MEMORY=1
export NCCL_ASYNC_ERROR_HANDLING=1
export NCCL_IB_DISBALE=0
export NCCL_SOCKET_IFNAME==eth0
export NCCL_IB_HCA=mlx5_0,mlx5_1
export NCCL_IB_DISABLE=1
export OMP_NUM_THREADS=8

torchrun --nproc_per_node=8 train.py
