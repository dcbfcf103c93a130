#include "report/graph/rank_paths.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagnose/network/connections.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

constexpr TransportClassRow kClasses[] = {
    {TransportClass::P2P, 'P', "P2P", "GPU to GPU, over NVLink or PCIe", "tp", "#1a6b2f"},
    {TransportClass::SHM, 'S', "SHM", "through the host's memory", "ts", "#8a4b00"},
    {TransportClass::IB, 'I', "NET/IB", "RDMA: InfiniBand or RoCE", "ti", "#0b57a4"},
    {TransportClass::Socket, 'T', "NET/Socket", "TCP", "tt", "#b3151d"},
    {TransportClass::OtherNet, 'N', "NET", "another network plugin", "tn", "#6a2fa0"},
    {TransportClass::Other, 'O', "other", "CollNet and others", "to", "#56606b"},
};

}  // namespace

std::span<const TransportClassRow> transport_classes() { return kClasses; }

const TransportClassRow& row_of(TransportClass value) {
  return kClasses[static_cast<size_t>(value)];
}

namespace {

TransportClass transport_class(const PathParts& path) {
  switch (path.transport) {
    case Transport::P2P:
      return TransportClass::P2P;
    case Transport::SHM:
      return TransportClass::SHM;
    case Transport::NET:
      if (path.network == "IB") return TransportClass::IB;
      return path.network == "Socket" ? TransportClass::Socket : TransportClass::OtherNet;
    case Transport::COLLNET:
    case Transport::Other:
      break;
  }
  return TransportClass::Other;
}

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

namespace {

/// "P2P/CUMEM on channels 0-23", "NET/IB/0 and 3 more paths on channels 0-15".
std::string path_phrase(const RankPath& path) {
  const std::string more =
      path.paths > 1 ? fmt::format(" and {}", plural(path.paths - 1, "more path")) : std::string();
  return fmt::format("{}{} on channels {}", path.text, more, channels_text(path.channels));
}

/// Which row each rank belongs to.
struct Rows {
  std::map<int, size_t> of_rank;
  std::vector<std::string> names;
  size_t hosts_per_row = 0;
};

Rows a_row_each(const RankPaths& paths) {
  Rows rows;
  for (const auto& [rank, host] : paths.hosts) {
    rows.of_rank[rank] = rows.names.size();
    rows.names.push_back(std::to_string(rank));
  }
  return rows;
}

/// Hosts in the order of their lowest ranks, which is how neighbours in a job are numbered.
std::vector<std::string> hosts_in_order(const RankPaths& paths) {
  std::vector<std::string> order;
  std::set<std::string> known;
  for (const auto& [rank, host] : paths.hosts) {
    if (known.insert(host).second) order.push_back(host);
  }
  return order;
}

std::string named(const std::string& host) { return host.empty() ? "unknown host" : host; }

Rows rows_of_hosts(const RankPaths& paths) {
  const std::vector<std::string> hosts = hosts_in_order(paths);
  Rows rows;
  rows.hosts_per_row = (hosts.size() + TransportMatrix::kMaxRows - 1) / TransportMatrix::kMaxRows;
  std::map<std::string, size_t> row_of_host;
  for (size_t first = 0; first < hosts.size(); first += rows.hosts_per_row) {
    const size_t end = std::min(first + rows.hosts_per_row, hosts.size());
    for (size_t host = first; host < end; ++host) row_of_host[hosts[host]] = rows.names.size();
    rows.names.push_back(end - first == 1
                             ? named(hosts[first])
                             : fmt::format("{} to {}", named(hosts[first]), named(hosts[end - 1])));
  }
  for (const auto& [rank, host] : paths.hosts) rows.of_rank[rank] = row_of_host[host];
  return rows;
}

}  // namespace

TransportMatrix transport_matrix(const RankPaths& paths) {
  const bool fold = paths.hosts.size() > TransportMatrix::kMaxRows;
  Rows rows = fold ? rows_of_hosts(paths) : a_row_each(paths);
  TransportMatrix matrix;
  for (const auto& [ends, path] : paths.pairs) {
    const auto row = rows.of_rank.at(ends.first);
    MatrixCell& cell = matrix.cells[{row, rows.of_rank.at(ends.second)}];
    cell.classes.insert(path.classes.begin(), path.classes.end());
    cell.detail = ++cell.pairs == 1 ? fmt::format("rank {} to rank {}: {}", ends.first, ends.second,
                                                  path_phrase(path))
                                    : std::string();
  }
  matrix.names = std::move(rows.names);
  matrix.ranks = paths.hosts.size();
  matrix.hosts_per_row = rows.hosts_per_row;
  return matrix;
}

}  // namespace ncclog
