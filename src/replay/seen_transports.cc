#include "replay/seen_transports.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/text.h"

namespace ncclog {
namespace {

/// That rank; nullptr: it is not listed.
const CommRank* find_rank(const Communicator& comm, int number) {
  const auto found = std::lower_bound(comm.ranks.begin(), comm.ranks.end(), number,
                                      [](const CommRank& a, int b) { return a.rank < b; });
  return found == comm.ranks.end() || found->rank != number ? nullptr : &*found;
}

/// True unless the number is none of the communicator's, or another process's. -1: any process.
bool may_be(const Communicator& comm, int number, int process) {
  if (number < 0 || (comm.nranks >= 0 && number >= comm.nranks)) return false;
  const CommRank* rank = find_rank(comm, number);
  const bool unknown = process < 0 || rank == nullptr || rank->process < 0;
  return unknown || rank->process == process;
}

bool may_belong_to(const Communicator& comm, const Edge& edge) {
  const int own = edge.sends ? edge.src_rank : edge.dst_rank;
  const int other = edge.sends ? edge.dst_rank : edge.src_rank;
  const CommRank* rank = own < 0 ? nullptr : find_rank(comm, own);
  return rank != nullptr && rank->process == edge.process && may_be(comm, other, edge.peer);
}

}  // namespace

std::string transport_class_name(const PathParts& path) {
  switch (path.transport) {
    case Transport::P2P:
      return "P2P";
    case Transport::SHM:
      return "SHM";
    case Transport::NET:
      return path.network.empty() ? "NET" : "NET/" + std::string(path.network);
    case Transport::COLLNET:
    case Transport::Other:
      break;
  }
  return "other";
}

std::vector<TransportShare> seen_transports(const Communicator& comm, std::span<const Edge> edges) {
  std::map<std::string, std::set<std::pair<int, int>>> pairs;
  for (const Edge& edge : edges) {
    if (!may_belong_to(comm, edge)) continue;
    pairs[transport_class_name(edge.path)].emplace(edge.src_rank, edge.dst_rank);
  }
  std::vector<TransportShare> shares;
  for (const auto& [transport, joined] : pairs) {
    shares.push_back({transport, static_cast<int>(joined.size())});
  }
  return shares;
}

std::vector<RecordedTuning> seen_tuning(const Job& job, std::span<const size_t> logs) {
  std::map<TuningKey, uint64_t> counts;
  for (const size_t log : logs) {
    for (const auto& [key, use] : job.logs[log].tuning.uses) {
      if (!key.function.empty()) counts[key] += use.count;
    }
  }
  std::vector<RecordedTuning> all;
  for (const auto& [key, calls] : counts) {
    all.push_back({to_valid_utf8(key.function), to_valid_utf8(key.algorithm),
                   to_valid_utf8(key.protocol), calls});
  }
  return all;
}

std::vector<RecordedTuning> seen_tuning(const Job& job) {
  std::vector<size_t> logs(job.logs.size());
  std::iota(logs.begin(), logs.end(), size_t{0});
  return seen_tuning(job, logs);
}

}  // namespace ncclog
