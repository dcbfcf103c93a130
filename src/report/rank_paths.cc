#include "report/rank_paths.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagnose/edges.h"
#include "report/text_parts.h"

namespace ncclog {
namespace {

/// Which ranks an edge joins; -1 where that is not certain.
std::pair<int, int> ends_of(const Job& job, const Edge& edge, bool global) {
  if (!global) return {edge.src_rank, edge.dst_rank};
  if (edge.peer < 0) return {-1, -1};
  const int own = job.processes[static_cast<size_t>(edge.process)].rank;
  const int peer = job.processes[static_cast<size_t>(edge.peer)].rank;
  return edge.sends ? std::pair(own, peer) : std::pair(peer, own);
}

void add_path(const Edge& edge, std::set<std::string_view>& texts, RankPath& path) {
  path.classes.insert(transport_class(edge.path));
  path.channels |= edge.channels;
  texts.insert(edge.path_text);
  path.text = std::string(*texts.begin());
  path.paths = texts.size();
}

size_t torn_connections(const Job& job) {
  size_t count = 0;
  for (const Process& process : job.processes) {
    if (!process.torn) continue;
    for (const size_t log : process.logs) count += job.logs[log].connections.all.size();
  }
  return count;
}

/// Hosts by rank: of the only communicator, or by global rank.
std::map<int, std::string> hosts_by_rank(const Job& job, bool global) {
  std::map<int, std::string> hosts;
  if (!global && !job.communicators.empty()) {
    for (const CommRank& rank : job.communicators.front().ranks) {
      if (rank.process < 0) continue;
      hosts[rank.rank] = job.processes[static_cast<size_t>(rank.process)].host;
    }
    return hosts;
  }
  for (const Process& process : job.processes) {
    if (process.rank >= 0) hosts.try_emplace(process.rank, process.host);
  }
  return hosts;
}

}  // namespace

RankPaths rank_paths(const Job& job) {
  RankPaths all;
  all.global = job.communicators.size() > 1;
  all.torn = torn_connections(job);
  const std::map<int, std::string> hosts = hosts_by_rank(job, all.global);
  std::map<std::pair<int, int>, std::set<std::string_view>> texts;
  for (const Edge& edge : edges_of(job)) {
    const auto ends = ends_of(job, edge, all.global);
    if (ends.first < 0 || ends.second < 0) {
      ++all.unplaced;
      continue;
    }
    add_path(edge, texts[ends], all.pairs[ends]);
    for (const int rank : {ends.first, ends.second}) {
      const auto host = hosts.find(rank);
      all.hosts.try_emplace(rank, host == hosts.end() ? std::string() : host->second);
    }
  }
  return all;
}

int rank_in_paths(const Job& job, const RankPaths& paths, const Communicator& comm, int rank) {
  if (!paths.global) return rank;
  const auto found = std::find_if(comm.ranks.begin(), comm.ranks.end(),
                                  [rank](const CommRank& member) { return member.rank == rank; });
  if (found == comm.ranks.end() || found->process < 0) return -1;
  return job.processes[static_cast<size_t>(found->process)].rank;
}

std::string path_phrase(const RankPath& path) {
  const std::string more =
      path.paths > 1 ? fmt::format(" and {}", plural(path.paths - 1, "more path")) : std::string();
  return fmt::format("{}{} on channels {}", path.text, more, channels_text(path.channels));
}

}  // namespace ncclog
