// Over which transports do the ranks of a communicator reach each other, by class?
//
//   Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM            → P2P: 1 connection
//   Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/3      → NET/IB: 1 connection
//
// A line of a connection numbers ranks within a communicator and does not name it. A connection is
// counted for every communicator that it may belong to, so that the recorded job and its replay are
// measured alike.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "diagnose/edges.h"
#include "model/job.h"
#include "replay/plan.h"

namespace ncclog {

/// "P2P", "SHM", "NET/IB", "NET/Socket", "NET/<name of another network>", "other".
std::string transport_class_name(const PathParts& path);

/// The classes by name, with the pairs of ranks (and their direction) that use each. `edges` as
/// edges_of(job) gives them. Empty: no line of a connection fits the communicator.
std::vector<TransportShare> seen_transports(const Communicator& comm, std::span<const Edge> edges);

/// How operations were run, added up over those of Job::logs: by op, algorithm, protocol. What is
/// of no operation by name is left out.
std::vector<RecordedTuning> seen_tuning(const Job& job, std::span<const size_t> logs);

/// The same over all logs.
std::vector<RecordedTuning> seen_tuning(const Job& job);

}  // namespace ncclog
