// What kernels report about the job's hosts, tied to the ranks that it concerns.
//
//   node-a.dmesg: [77123.456789] NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, name=python3, …
//   + node-a:4242:4300 [2] NCCL INFO ncclCommInitRank comm 0x5a rank 2 … busId 1b000 …
//     → host node-a, rank 2
//
// The host is what the line's prefix names, else the one host of the job that the file's path
// names. Nothing is tied by likeness: a bus id alone fits one GPU of every host. Kernel lines of
// dmesg carry the time since boot, so no event is ordered against the job.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/source_ref.h"

namespace ncclog {

/// How a kernel's event concerns the job.
enum class KernelRelation {
  Process,    ///< It names the pid of a process of the job.
  Gpu,        ///< It names host and bus id of a GPU that the job uses.
  Host,       ///< It is about a host of the job; whether about a part that the job uses is unknown.
  Unknown,    ///< Nothing tells which host it is about.
  OtherGpu,   ///< It names a GPU that no rank of the job uses.
  OtherHost,  ///< It is about a host on which the job does not run.
};

struct KernelEvent {
  uint16_t kind = 0;  ///< Index of the message kind: Xid, Sxid, OomKill, …
  SourceRef where;
  std::string text;    ///< The line.
  std::string host;    ///< Empty: nothing names it.
  std::string bus_id;  ///< As printed; empty: none.
  int code = -1;       ///< Of Xid and SXid.
  int64_t pid = -1;
  std::string name;  ///< Of the process with that pid.
  KernelRelation relation = KernelRelation::Unknown;
  int process = -1;  ///< Into Job::processes; set for Process and Gpu.
  int rank = -1;     ///< Global rank it concerns; -1: unknown.
};

}  // namespace ncclog
