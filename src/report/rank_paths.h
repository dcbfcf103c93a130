// Over which paths does each pair of ranks reach each other?
//
//   gpu-a:41:60 [7] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/3/GDRDMA
//   → (7, 8): NET/IB/3/GDRDMA, channel 0
//
// A line numbers ranks within its communicator. With one communicator those are the ranks; with
// several, only connections count whose two processes are certain, under their global ranks.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/job.h"
#include "report/transport_class.h"

namespace ncclog {

/// All connections from one rank to another.
struct RankPath {
  std::set<TransportClass> classes;
  std::string text;       ///< As printed, of the first by name.
  size_t paths = 0;       ///< Different ones.
  uint64_t channels = 0;  ///< Bit c: channel c.
};

struct RankPaths {
  std::map<std::pair<int, int>, RankPath> pairs;  ///< By (from, to).
  std::map<int, std::string> hosts;  ///< Of ranks that appear in pairs; empty: unknown.
  size_t unplaced = 0;               ///< Connections whose ends are not certain.
  size_t torn = 0;                   ///< Connections of torn processes, left out as unsure.
  bool global = false;               ///< Ranks are global ones; else those of one communicator.
};

RankPaths rank_paths(const Job& job);

/// The rank under which `rank` of `comm` appears in `paths`; -1: it does not.
int rank_in_paths(const Job& job, const RankPaths& paths, const Communicator& comm, int rank);

/// "P2P/CUMEM on channels 0-23", "NET/IB/0 and 3 more paths on channels 0-15".
std::string path_phrase(const RankPath& path);

}  // namespace ncclog
