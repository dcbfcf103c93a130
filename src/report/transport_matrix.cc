#include "report/transport_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ncclog {
namespace {

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
