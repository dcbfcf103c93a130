// What a rule or a fact is asked about: the whole job, a host, a process, a rank, a communicator,
// two ranks with a connection, a GPU, a network interface.
//
//   Channel 00/0 : 1[1] -> 2[2] via NET/IB/0     rank_pair: ranks 1 and 2
//   … rank 3 … busId 1b000 …                     gpu: 1b000 on node-a
//   NET/IB : Using [0]mlx5_0:1/IB …              nic: mlx5_0 port 1 on node-a

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"

namespace ncclog {

enum class Scope { Job, Host, Process, Rank, Communicator, RankPair, Gpu, Nic };

/// As rule files spell it: "job", "host", …, "rank_pair", "gpu", "nic".
std::string_view to_string(Scope scope);
std::optional<Scope> parse_scope(std::string_view name);

/// All of them, in the enum's order.
std::span<const std::string_view> scope_names();

/// One thing of a scope, and the processes that speak for it.
struct Instance {
  Scope scope = Scope::Job;
  std::vector<int> processes;  ///< Into Job::processes, ascending.
  std::string host;            ///< Host, Gpu, Nic; empty for processes whose host is unknown.
  int rank = -1;               ///< Scope::Rank; -1 for lines that name nobody.
  int communicator = -1;       ///< Scope::Communicator: into Job::communicators.
  std::string device = {};     ///< Gpu: the bus id as printed; Nic: "mlx5_0".
  int port = -1;               ///< Nic: of an HCA; -1: it is none.
  /// RankPair: the paths between the two, as printed after "via": distinct, sorted.
  std::vector<std::string> paths = {};
  uint64_t channels = 0;  ///< RankPair: bit c for channel c, in either direction.
};

/// Every instance of a scope, in sorted order. Lines that name neither host nor rank form
/// instances of their own for Host, Process and Rank, so that a quoted line is judged too.
std::vector<Instance> instances_of(const Job& job, Scope scope);

/// The instance of the whole job.
Instance job_instance(const Job& job);

/// The instance of `scope` around a process; the job if the scope is no Host, Process or Rank.
Instance instance_around(const Job& job, int process, Scope scope);

/// "node-a", "rank 3", "ranks 1 and 2", "GPU 1b000 on node-a", "mlx5_0 port 1 on node-a",
/// "communicator 0x9c"; of a process its rank, else its pid. Any bytes that the log holds may be
/// in it.
std::string name_of(const Job& job, const Instance& instance);

}  // namespace ncclog
