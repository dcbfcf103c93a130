// Which NCCL carries the replay out?
//
//   libnccl.so.2 as the loader finds it, or the one that --nccl or NCCLOG_NCCL names → "2.28.9"
//
// It is loaded at run time, so that a job's own library can be replayed with. Functions are those
// of nccl.h 2.28.9; later releases kept them.

#pragma once

#include <nccl.h>

#include <string>

namespace ncclog {

/// NCCL's functions. Lives as long as the process: NCCL's threads may still run at its end.
struct NcclLibrary {
  std::string path;     ///< Where the loader found it; as asked for, if it does not tell.
  std::string version;  ///< "2.28.9".

  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) comm_init_rank_config = nullptr;
  decltype(&ncclCommSplit) comm_split = nullptr;
  decltype(&ncclCommFinalize) comm_finalize = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclCommAbort) comm_abort = nullptr;
  decltype(&ncclCommGetAsyncError) comm_get_async_error = nullptr;
  decltype(&ncclGetErrorString) get_error_string = nullptr;
  decltype(&ncclGetLastError) get_last_error = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclReduce) reduce = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) recv = nullptr;
  // Messages take the place of these three where a release lacks them.
  decltype(&ncclAlltoAll) all_to_all = nullptr;
  decltype(&ncclGather) gather = nullptr;
  decltype(&ncclScatter) scatter = nullptr;

  /// `visit(name, function, first release, whether there is no way without it)`.
  static void each_function(auto& self, auto&& visit) {
    visit("ncclGetVersion", self.get_version, "2.0", true);
    visit("ncclGetUniqueId", self.get_unique_id, "2.0", true);
    visit("ncclCommInitRankConfig", self.comm_init_rank_config, "2.14", true);
    visit("ncclCommSplit", self.comm_split, "2.18", false);
    visit("ncclCommFinalize", self.comm_finalize, "2.14", true);
    visit("ncclCommDestroy", self.comm_destroy, "2.0", true);
    visit("ncclCommAbort", self.comm_abort, "2.4", true);
    visit("ncclCommGetAsyncError", self.comm_get_async_error, "2.4", true);
    visit("ncclGetErrorString", self.get_error_string, "2.0", true);
    visit("ncclGetLastError", self.get_last_error, "2.13", true);
    visit("ncclGroupStart", self.group_start, "2.0", true);
    visit("ncclGroupEnd", self.group_end, "2.0", true);
    visit("ncclAllReduce", self.all_reduce, "2.0", true);
    visit("ncclBroadcast", self.broadcast, "2.2", true);
    visit("ncclReduce", self.reduce, "2.0", true);
    visit("ncclAllGather", self.all_gather, "2.0", true);
    visit("ncclReduceScatter", self.reduce_scatter, "2.0", true);
    visit("ncclSend", self.send, "2.7", true);
    visit("ncclRecv", self.recv, "2.7", true);
    visit("ncclAlltoAll", self.all_to_all, "2.28", false);
    visit("ncclGather", self.gather, "2.28", false);
    visit("ncclScatter", self.scatter, "2.28", false);
  }
};

/// Loads `library`; if that is empty, what NCCLOG_NCCL names, else libnccl.so.2. Throws Error if
/// there is none, or if it lacks a function that every replay needs.
NcclLibrary load_nccl(const std::string& library);

/// "2.28.9" of 22809, as ncclGetVersion gives it; up to 2.8 it is 2809.
std::string nccl_version_text(int version);

}  // namespace ncclog
