// How is a planned call made?
//
//   {"op": "Reduce", "count": 1024, …, "root": 0}  →  ncclReduce(send, receive, 1024, …, 0, comm,
//   …)

#pragma once

#include <nccl.h>

#include <string>

#include "replay/exec/nccl_library.h"
#include "replay/plan.h"

namespace ncclog {

/// On what a call is made. Buffers are in the GPU's memory and large enough.
struct CallTarget {
  const void* send = nullptr;
  void* receive = nullptr;
  ncclComm_t comm = nullptr;
  int rank = 0;  ///< In the communicator.
  int nranks = 1;
  cudaStream_t stream = nullptr;
};

/// Enqueues the call; the job's own reductions as a sum. AlltoAll, Gather and Scatter are made of
/// messages where the library lacks them, in a group of their own as NCCL's documentation has it.
ncclResult_t issue_call(const NcclLibrary& nccl, const PlannedCall& call, const CallTarget& on);

/// True if that is what issue_call() does.
bool is_made_of_messages(const NcclLibrary& nccl, const PlannedCall& call);

/// "ncclAllReduce".
std::string function_name(const PlannedCall& call);

}  // namespace ncclog
