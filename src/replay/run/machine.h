// What do CUDA, the driver and NCCL give a replay on this machine, and what went wrong with a call
// of theirs?
//
//   libnccl.so.2 as the loader finds it → 2.28.9        GPU 0: NVIDIA H200, no process on it
//   rank 1: ncclAllReduce on communicator 0 (call 28): ncclInvalidArgument, invalid argument

#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/collectives.h"
#include "base/posix.h"
#include "replay/run/gpus.h"

namespace ncclog {

// Which NCCL carries the replay out?
//
//   libnccl.so.2 as the loader finds it, or the one that --nccl or NCCLOG_NCCL names → "2.28.9"
//
// It is loaded at run time, so that a job's own library can be replayed with. Functions are those
// of nccl.h 2.28.9; later releases kept them.

/// A function of the library, whatever its type; nullptr: it has none of that name.
struct LoadedFunction {
  void* address = nullptr;

  template <typename Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(address);
  }
};

/// NCCL's functions. Lives as long as the process: NCCL's threads may still run at its end.
struct NcclLibrary {
  /// Loads `library`; if that is empty, what NCCLOG_NCCL names, else libnccl.so.2. Throws Error if
  /// there is none, or if it lacks a function that every replay needs.
  explicit NcclLibrary(const std::string& library);

  std::string path;  ///< Where the loader found it; as asked for, if it does not tell.
  void* handle = nullptr;
  std::string version;  ///< "2.28.9".

  decltype(&ncclGetVersion) get_version = need("ncclGetVersion", "2.0");
  decltype(&ncclGetUniqueId) get_unique_id = need("ncclGetUniqueId", "2.0");
  decltype(&ncclCommInitRankConfig) comm_init_rank_config = need("ncclCommInitRankConfig", "2.14");
  decltype(&ncclCommSplit) comm_split = find("ncclCommSplit");
  decltype(&ncclCommFinalize) comm_finalize = need("ncclCommFinalize", "2.14");
  decltype(&ncclCommDestroy) comm_destroy = need("ncclCommDestroy", "2.0");
  decltype(&ncclCommAbort) comm_abort = need("ncclCommAbort", "2.4");
  decltype(&ncclCommGetAsyncError) comm_get_async_error = need("ncclCommGetAsyncError", "2.4");
  decltype(&ncclGetErrorString) get_error_string = need("ncclGetErrorString", "2.0");
  decltype(&ncclGetLastError) get_last_error = need("ncclGetLastError", "2.13");
  decltype(&ncclGroupStart) group_start = need("ncclGroupStart", "2.0");
  decltype(&ncclGroupEnd) group_end = need("ncclGroupEnd", "2.0");
  decltype(&ncclAllReduce) all_reduce = find(Operation::AllReduce);
  decltype(&ncclBroadcast) broadcast = find(Operation::Broadcast);
  decltype(&ncclReduce) reduce = find(Operation::Reduce);
  decltype(&ncclAllGather) all_gather = find(Operation::AllGather);
  decltype(&ncclReduceScatter) reduce_scatter = find(Operation::ReduceScatter);
  decltype(&ncclSend) send = find(Operation::Send);
  decltype(&ncclRecv) recv = find(Operation::Recv);
  decltype(&ncclAlltoAll) all_to_all = find(Operation::AlltoAll);
  decltype(&ncclGather) gather = find(Operation::Gather);
  decltype(&ncclScatter) scatter = find(Operation::Scatter);

  LoadedFunction find(const char* function) const;
  /// `since`: the first release that has it.
  LoadedFunction need(const char* function, std::string_view since) const;
  /// Needed, unless messages can take its place.
  LoadedFunction find(Operation operation) const;
};

// Did a function of CUDA or NCCL do what it was asked?
//
//   rank 1: ncclAllReduce on communicator 0 (call 28): ncclInvalidArgument, invalid argument;
//     AllReduce : invalid count -1
//
// One way to ask and one form of the answer, whoever calls.

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

// What a rank holds of its GPU: memory, streams, events. Each gives its own back. Late, while the
// process ends, that may fail, and nobody is left to tell.

/// Memory of the current GPU.
class GpuMemory {
 public:
  GpuMemory() = default;

  /// Allocates at least `bytes`, so that there is an address even for none. Throws Error.
  GpuMemory(int64_t bytes, int rank);

  char* at(int64_t byte) const { return address_.get() + byte; }

 private:
  std::unique_ptr<char, FreedBy<cudaFree>> address_;
};

/// A stream that does not wait for the default one.
using GpuStream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, FreedBy<cudaStreamDestroy>>;
GpuStream make_stream(int rank);

/// A place in a stream.
class GpuEvent {
 public:
  /// `takes_time`: of two recorded ones the time between them can be asked for.
  explicit GpuEvent(int rank, bool takes_time = false);

  void record(cudaStream_t stream);

  /// Whether the stream has come there. Throws Error if the GPU failed.
  bool is_reached() const;

  /// Microseconds from `start` to here; both are reached.
  double microseconds_since(const GpuEvent& start) const;

 private:
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, FreedBy<cudaEventDestroy>> event_;
  int rank_ = -1;
};

// Which GPUs does this machine have, and does one of them answer?

/// Asks driver and CUDA without making a context on any GPU. Never throws: what stands in the way
/// is its `problem`.
ReplayMachine query_gpus();

/// Fills and compares 16 MiB on that GPU, in a context of this process.
GpuCheck probe_gpu(int gpu);

// What would carry a replay out here?

/// GPUs, shared memory and the NCCL that NcclLibrary() finds for `library`. Never throws: what is
/// missing is said in the result.
ReplayMachine query_machine(const std::string& library);

}  // namespace ncclog
