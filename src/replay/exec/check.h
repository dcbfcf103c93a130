// Did a function of CUDA or NCCL do what it was asked?
//
//   rank 1: ncclAllReduce on communicator 0 (call 28): ncclInvalidArgument, invalid argument;
//     AllReduce : invalid count -1
//
// One way to ask and one form of the answer, whoever calls.

#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdint>
#include <string>

#include "replay/exec/nccl_library.h"

namespace ncclog {

/// Where in the plan a function is called. -1: it is about none in particular.
struct CallSite {
  std::string function;   ///< "cudaMalloc", "ncclAllReduce", …
  int rank = -1;          ///< Of the plan.
  int communicator = -1;  ///< Likewise.
  int64_t call = -1;      ///< Into calls_in() of the rank.
};

/// Throws Error unless `result` is a success.
void check(cudaError_t result, const CallSite& site);

/// Throws Error unless `result` is ncclSuccess or ncclInProgress. `comm` adds the last error that
/// NCCL has of it; nullptr: that of the thread.
void check(ncclResult_t result, const CallSite& site, const NcclLibrary& nccl, ncclComm_t comm);

}  // namespace ncclog
