// Which few of many peers are not like the others?
//
//   receives by rank: 15 x "with GDRDMA", rank 11 "without"   → odd: rank 11
//   8 x "P2P", 8 x "SHM"                                      → nobody: there is no rule to break
//
// Peers are odd only where at most a quarter of them differ and three others at least are alike.
// What a place in the host explains is no oddity: where rank 3 and rank 11, both the fourth of
// their host, differ from all others, hosts are built that way.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/job.h"

namespace ncclog {

/// What each peer shows: equal texts for what is alike. Peers that show nothing are not in it. They
/// are into Job::processes, or whatever else peers are numbered by; each once.
using PeerValues = std::vector<std::pair<int, std::string>>;

struct OddOnes {
  std::vector<int> odd;  ///< Sorted; empty: nobody is.
  std::string common;    ///< What the others show; empty where nothing is common.
  size_t alike = 0;      ///< How many show it.
};

/// The few that differ from all others.
OddOnes odd_ones(const PeerValues& values);

/// Place of each process in its host, from 0, by the bus id of its GPU, then by rank. -1: its host
/// is unknown, or runs another number of ranks than most hosts do. Owned by the job.
const std::vector<int>& places_in_host(const Job& job);

/// Takes those out of `odd.odd` who stand where no process of another host shows `odd.common`.
void excuse_places(const Job& job, const PeerValues& values, OddOnes& odd);

/// The few that differ from the processes at the same place of other hosts.
OddOnes odd_at_place(const Job& job, const PeerValues& values);

}  // namespace ncclog
