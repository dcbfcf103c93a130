// Asking the Flight Recorders of running workers for a dump.
//
//   TORCH_NCCL_DEBUG_INFO_PIPE_FILE=/tmp/ncclog-run-1f0c-rank-   set for the job
//   /tmp/ncclog-run-1f0c-rank-3.pipe                             rank 3 waits there
//   one byte into it                                             nccl_trace_rank_3 beside the logs
//
// PyTorch makes the pipes from 2.3 on, and ends the worker where it cannot
// (torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp, DumpPipe). So they lie in the folder for
// temporary files, which each host has.

#pragma once

#include <string>

namespace ncclog {

/// A new beginning for the names of pipes; empty: pipes cannot be made on this host.
std::string new_pipe_stem();

/// Writes into each pipe at whose other end somebody reads; how many these were.
int ask_for_dumps(const std::string& stem);

/// Removes the pipes of this host.
void remove_pipes(const std::string& stem);

}  // namespace ncclog
