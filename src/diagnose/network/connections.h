// Who is connected to whom, over what: the connections of a job with the processes at both ends.
//
//   gpu-a:41:60 [7] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/3(5)/GDRDMA
//   → {sends, from rank 7 on gpu-a, to rank 8 on gpu-b, OtherHost, NET, "IB", device 3, through
//      rank 5, GPU Direct RDMA}
//
// A line numbers ranks within its communicator and does not name it, and a process may belong to
// several. An end is named, and called the same or another host, only where all communicators that
// fit the numbers agree; else it is unknown.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"

namespace ncclog {

/// Where the other end of a connection is, seen from the process that announces it.
enum class EdgeReach { Unknown, SameHost, OtherHost };

/// A process as a member of a communicator.
struct RankIn {
  int communicator = -1;
  const CommRank* rank = nullptr;  ///< Owned by the job.
};

/// By process: the ranks that it has, communicator by communicator.
std::vector<std::vector<RankIn>> ranks_by_process(const Job& job);

/// What a path says after "via".
struct PathParts {
  std::string_view text;  ///< All of it.
  Transport transport = Transport::Other;
  std::string_view network;  ///< Of NET: "IB", "Socket", "AWS Libfabric"; else empty.
  int device = -1;           ///< Of NET: number of the NIC in NCCL's list.
  int proxy_rank = -1;       ///< The rank whose NIC is used (PXN); -1: its own.
  bool gpudirect = false;    ///< The NIC reads or writes GPU memory.
  bool multi_node = false;   ///< P2P over NVLink between nodes (MNNVL).
};

/// "NET/IB/3(5)/GDRDMA/Shared", "P2P/CUMEM/read", "direct shared memory". What it gives views `path`.
PathParts parse_path(std::string_view path);

/// A connection as one process announces it, with all channels that use the same path.
struct Edge {
  int process = -1;    ///< Who announces it; into Job::processes.
  bool sends = false;  ///< It is the source.
  int src_rank = -1;   ///< As printed: in a communicator of the process.
  int dst_rank = -1;
  int peer = -1;  ///< The process at the other end; -1: not known for certain.
  EdgeReach reach = EdgeReach::Unknown;
  const PathParts* path = nullptr;  ///< Views the job, and lives as long.
  uint64_t channels = 0;            ///< Bit c: channel c.
  SourceRef where;                  ///< The first line of it.
};

/// All connections of the job, process by process, by ranks. Those of torn processes are left out.
/// Where NCCL_HOSTID is set, hosts are what users call so: ranks of one host name may be far apart,
/// and their reach is unknown. Valid as long as the job is.
const std::vector<Edge>& edges_of(const Job& job);

/// "rank 7 -> rank 8 via NET/IB/3".
std::string edge_phrase(const Edge& edge);

// On which hosts do NVSwitches join all GPUs? There every pair has NVLink, and all pairs are alike.
//
//   gpu-a:41:60 [0] NCCL INFO NVLS multicast support is available on dev 0
//   gpu-a:41:60 [0] NCCL INFO               + NVL[370.8] - NVS/0-0

/// Hosts whose topology names an NVSwitch, or whose GPUs can use multicast, which needs one.
/// Valid as long as the job is.
const std::set<std::string>& nvswitch_hosts(const Job& job);

}  // namespace ncclog
