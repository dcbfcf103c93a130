#include "diagnose/edges.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace ncclog {
namespace {

/// A communicator that a process is a rank of.
struct Membership {
  const Communicator* comm = nullptr;
  int rank = -1;
};

std::vector<std::vector<Membership>> memberships(const Job& job) {
  std::vector<std::vector<Membership>> all(job.processes.size());
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0 || rank.rank < 0) continue;
      all[static_cast<size_t>(rank.process)].push_back({&comm, rank.rank});
    }
  }
  return all;
}

/// The process of that rank; -1: not seen; nullopt: the communicator has no such rank.
std::optional<int> process_in(const Communicator& comm, int rank) {
  const auto found = std::lower_bound(comm.ranks.begin(), comm.ranks.end(), rank,
                                      [](const CommRank& a, int b) { return a.rank < b; });
  if (found != comm.ranks.end() && found->rank == rank) return found->process;
  const bool may_be = rank >= 0 && (comm.nranks < 0 || rank < comm.nranks);
  return may_be ? std::optional<int>(-1) : std::nullopt;
}

/// Where a peer is that uses this path, whoever it is; Unknown for networks.
EdgeReach reach_by_transport(const PathParts& path) {
  const bool local =
      path.transport == Transport::SHM || (path.transport == Transport::P2P && !path.multi_node);
  return local ? EdgeReach::SameHost : EdgeReach::Unknown;
}

/// Finds out where the ends of one process's connections are.
class EndFinder {
 public:
  explicit EndFinder(const Job& job) : job_(job), memberships_(memberships(job)) {
    named_hosts_ = std::any_of(
        job.environment.begin(), job.environment.end(),
        [](const EnvironmentSetting& setting) { return setting.name == "NCCL_HOSTID"; });
  }

  void place(Edge& edge) const {
    bool first = true;
    EdgeReach reach = EdgeReach::Unknown;
    for (const Membership& own : memberships_[static_cast<size_t>(edge.process)]) {
      if (own.rank != edge.src_rank && own.rank != edge.dst_rank) continue;
      const bool sends = own.rank == edge.src_rank;
      const auto peer = process_in(*own.comm, sends ? edge.dst_rank : edge.src_rank);
      if (!peer) continue;
      const EdgeReach there = reach_of(edge.process, *peer);
      edge.sends = sends;
      edge.peer = first || edge.peer == *peer ? *peer : -1;
      reach = first || reach == there ? there : EdgeReach::Unknown;
      first = false;
    }
    const EdgeReach certain = reach_by_transport(edge.path);
    edge.reach = certain == EdgeReach::Unknown ? reach : certain;
  }

 private:
  EdgeReach reach_of(int process, int peer) const {
    if (peer < 0) return EdgeReach::Unknown;
    const std::string& own = job_.processes[static_cast<size_t>(process)].host;
    const std::string& other = job_.processes[static_cast<size_t>(peer)].host;
    if (own.empty() || other.empty()) return EdgeReach::Unknown;
    if (own != other) return EdgeReach::OtherHost;
    return named_hosts_ ? EdgeReach::Unknown : EdgeReach::SameHost;
  }

  const Job& job_;
  std::vector<std::vector<Membership>> memberships_;
  bool named_hosts_ = false;
};

/// Takes a number in front of `text`; -1: none stands there.
int take_number(std::string_view& text) {
  size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  const auto number = parse_int(text.substr(0, digits));
  text.remove_prefix(digits);
  constexpr int64_t kMax = 1 << 24;
  return number && *number <= kMax ? static_cast<int>(*number) : -1;
}

/// "IB/3(5)/GDRDMA": a network's name may hold blanks, and a number follows it.
void parse_net(std::string_view text, PathParts& parts) {
  const auto pieces = split(text, '/');
  size_t offset = 0;
  for (size_t i = 1; i < pieces.size(); ++i) {
    offset += pieces[i - 1].size() + 1;
    std::string_view rest = pieces[i];
    if (rest.empty() || !is_digit(rest[0])) continue;
    parts.network = text.substr(0, offset - 1);
    parts.device = take_number(rest);
    if (rest.starts_with('(')) {
      rest.remove_prefix(1);
      parts.proxy_rank = take_number(rest);
    }
    return;
  }
  parts.network = pieces[0];
}

std::vector<Edge> find_edges(const Job& job) {
  const EndFinder ends(job);
  std::vector<Edge> edges;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    if (job.processes[p].torn) continue;
    for (const size_t log : job.processes[p].logs) {
      for (const auto& [key, use] : job.logs[log].connections.all) {
        Edge edge;
        edge.process = static_cast<int>(p);
        edge.src_rank = key.src_rank;
        edge.dst_rank = key.dst_rank;
        edge.path = parse_path(key.path);
        edge.path_text = key.path;
        edge.channels = use.channels;
        edge.where = use.first;
        ends.place(edge);
        edges.push_back(edge);
      }
    }
  }
  return edges;
}

}  // namespace

PathParts parse_path(std::string_view path) {
  PathParts parts;
  parts.transport = transport_of(path);
  parts.gpudirect = path.find("/GDRDMA") != path.npos;
  parts.multi_node = path.starts_with("P2P/MNNVL");
  if (parts.transport == Transport::NET && path.starts_with("NET/")) {
    parse_net(path.substr(4), parts);
  }
  return parts;
}

const std::vector<Edge>& edges_of(const Job& job) { return job.answers.of<&find_edges>(job); }

std::string edge_phrase(const Edge& edge) {
  return fmt::format("rank {} -> rank {} via {}", edge.src_rank, edge.dst_rank, edge.path_text);
}

}  // namespace ncclog
