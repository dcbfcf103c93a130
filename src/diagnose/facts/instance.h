// What is a rule or a fact asked about? The whole job, a host, a process, a rank, a communicator, two
// ranks with a connection.
//
//   Channel 00/0 : 1[1] -> 2[2] via NET/IB/0     rank_pair: ranks 1 and 2

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"

namespace ncclog {

enum class Scope { Job, Host, Process, Rank, Communicator, RankPair };

/// As rule files spell it: "job", "host", …, "rank_pair".
constexpr std::string_view enum_words(Scope) {
  return "job|host|process|rank|communicator|rank_pair";
}

/// One thing of a scope, and the processes that speak for it.
struct Instance {
  Scope scope = Scope::Job;
  std::vector<int> processes;  ///< Into Job::processes, ascending.
  std::string host;            ///< Scope::Host; empty for processes whose host is unknown.
  int rank = -1;               ///< Scope::Rank; -1 for lines that name nobody.
  int communicator = -1;       ///< Scope::Communicator: into Job::communicators.
  /// RankPair: the paths between the two, as printed after "via": distinct, sorted.
  std::vector<std::string> paths = {};
};

/// Every instance of a scope, in sorted order. Lines that name neither host nor rank form
/// instances of their own for Host, Process and Rank, so that a quoted line is judged too.
std::vector<Instance> instances_of(const Job& job, Scope scope);

/// The instance of the whole job.
Instance job_instance(const Job& job);

/// Every two processes with a connection whose other end is known; lower ranks first, those whose
/// rank is unknown last (diagnose/network/connections.cc).
std::vector<Instance> rank_pairs(const Job& job);

/// "node-a", "rank 3", "ranks 1 and 2", "GPU 1b000 on node-a", "mlx5_0 port 1 on node-a",
/// "communicator 0x9c"; of a process its rank, else its pid. Any bytes that the log holds may be
/// in it.
std::string name_of(const Job& job, const Instance& instance);

}  // namespace ncclog
