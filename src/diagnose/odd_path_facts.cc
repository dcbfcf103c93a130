// Whose paths to others are not like those of its peers?
//
//   15 ranks receive over NET/IB/…/GDRDMA from other hosts, rank 11 over NET/IB/3
//       → job.odd_gpudirect = yes, ranks {11}
//
// Only what a process announces itself is held against it, and only where its peers announce the
// same kind of connection: a log without lines of channels proves nothing.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/edges.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/nvswitch.h"
#include "diagnose/odd_ones.h"
#include "diagnose/within_runs.h"

namespace ncclog {
namespace {

constexpr size_t kMaxLines = 6;

/// The lines of the edges that `wanted` picks, some of each process of `processes` in turn.
template <typename Wanted>
std::vector<Evidence> lines_of(const std::vector<Edge>& edges, const std::vector<int>& processes,
                               Wanted wanted) {
  std::map<int, size_t> taken;
  std::vector<Evidence> lines;
  for (const Edge& edge : edges) {
    const bool named = std::binary_search(processes.begin(), processes.end(), edge.process);
    if (!named || !wanted(edge) || lines.size() == kMaxLines || taken[edge.process]++ == 2)
      continue;
    lines.push_back({edge.where, {}});
  }
  return lines;
}

std::string first_phrase(const std::vector<Edge>& edges, const std::vector<Evidence>& lines) {
  for (const Edge& edge : edges) {
    if (!lines.empty() && edge.where == lines.front().where) return edge_phrase(edge);
  }
  return {};
}

bool is_net_between_hosts(const Edge& edge) {
  return edge.reach == EdgeReach::OtherHost && edge.path.transport == Transport::NET;
}

FactValue odd_network(const Job& job, const Instance&) {
  const std::vector<Edge>& edges = edges_of(job);
  std::map<int, std::set<std::string>> networks;
  for (const Edge& edge : edges) {
    if (is_net_between_hosts(edge)) networks[edge.process].emplace(edge.path.network);
  }
  PeerValues values;
  for (const auto& [process, names] : networks) {
    values[process] = join(std::vector<std::string>(names.begin(), names.end()), "+");
  }
  if (values.empty()) return unknown();
  OddOnes odd = odd_ones(values);
  if (odd.odd.empty()) return no();
  auto lines = lines_of(edges, odd.odd, [&](const Edge& edge) {
    return is_net_between_hosts(edge) && edge.path.network != odd.common;
  });
  std::string what = fmt::format("{}, while {} others use NET/{}", first_phrase(edges, lines),
                                 odd.alike, odd.common);
  return yes(std::move(what), std::move(lines), std::move(odd.odd));
}

/// Of one direction, how many channels of a process use GPU Direct RDMA, and how many do not.
struct DirectUse {
  int with = 0;
  int without = 0;
};

constexpr std::string_view kWith = "with";
constexpr std::string_view kWithout = "without";

/// By process. Those that do both are none of either, and one channel alone may be a cut line.
PeerValues gpudirect_values(const std::vector<Edge>& edges, bool sends) {
  std::map<int, DirectUse> uses;
  for (const Edge& edge : edges) {
    if (!is_net_between_hosts(edge) || edge.sends != sends) continue;
    if (edge.path.network == "Socket") continue;
    DirectUse& use = uses[edge.process];
    (edge.path.gpudirect ? use.with : use.without) += channel_count({edge.channels, {}});
  }
  PeerValues values;
  for (const auto& [process, use] : uses) {
    if (use.with > 0 && use.without == 0) values[process] = kWith;
    if (use.with == 0 && use.without > 1) values[process] = kWithout;
  }
  return values;
}

FactValue odd_gpudirect(const Job& job, const Instance&) {
  const std::vector<Edge>& edges = edges_of(job);
  bool known = false;
  for (const bool sends : {false, true}) {
    const PeerValues values = gpudirect_values(edges, sends);
    known |= !values.empty();
    OddOnes odd = odd_ones(values);
    if (odd.common != kWith) continue;
    excuse_places(job, values, odd);
    if (odd.odd.empty()) continue;
    auto lines = lines_of(edges, odd.odd, [&](const Edge& edge) {
      return is_net_between_hosts(edge) && edge.sends == sends;
    });
    std::string what =
        fmt::format("{}, while {} others {} with GPU Direct RDMA", first_phrase(edges, lines),
                    odd.alike, sends ? "send" : "receive");
    return yes(std::move(what), std::move(lines), std::move(odd.odd));
  }
  return known ? no() : unknown();
}

/// How slow a transport is, compared with the others inside a host.
int slowness(Transport transport) {
  switch (transport) {
    case Transport::P2P:
      return 0;
    case Transport::SHM:
      return 1;
    case Transport::NET:
      return 2;
    default:
      return -1;
  }
}

/// A pair of processes of one host, by their places in it, and who announced it.
struct LocalPair {
  int src_place = -1;
  int dst_place = -1;
  auto operator<=>(const LocalPair&) const = default;
};

/// The slowest transport of a pair in one host.
struct LocalPath {
  int slowness = -1;
  const Edge* edge = nullptr;
};

using LocalPaths = std::map<LocalPair, std::map<std::string, LocalPath>>;  ///< By pair, host.

LocalPaths local_paths(const Job& job, const std::vector<Edge>& edges) {
  const std::vector<int> places = places_in_host(job);
  LocalPaths paths;
  for (const Edge& edge : edges) {
    if (!edge.sends || edge.peer < 0 || edge.reach != EdgeReach::SameHost) continue;
    const int slow = slowness(edge.path.transport);
    const LocalPair pair{places[static_cast<size_t>(edge.process)],
                         places[static_cast<size_t>(edge.peer)]};
    if (slow < 0 || pair.src_place < 0 || pair.dst_place < 0) continue;
    LocalPath& path = paths[pair][job.processes[static_cast<size_t>(edge.process)].host];
    if (slow > path.slowness) path = {slow, &edge};
  }
  return paths;
}

/// Pairs that are slower than the same pair on most other hosts.
std::vector<const Edge*> slower_than_on_other_hosts(const LocalPaths& paths) {
  std::vector<const Edge*> slower;
  for (const auto& [pair, by_host] : paths) {
    std::vector<const LocalPath*> peers;
    PeerValues values;
    for (const auto& [host, path] : by_host) {
      values[static_cast<int>(peers.size())] = std::to_string(path.slowness);
      peers.push_back(&path);
    }
    const OddOnes odd = odd_ones(values);
    for (const int index : odd.odd) {
      const LocalPath& path = *peers[static_cast<size_t>(index)];
      if (std::to_string(path.slowness) > odd.common) slower.push_back(path.edge);
    }
  }
  return slower;
}

/// Pairs that are slower than most pairs of the same host, where all pairs are built alike.
std::vector<const Edge*> slower_than_other_pairs(const Job& job, const LocalPaths& paths) {
  const std::set<std::string> hosts = nvswitch_hosts(job);
  std::vector<const Edge*> slower;
  for (const std::string& host : hosts) {
    std::vector<const LocalPath*> peers;
    PeerValues values;
    for (const auto& [pair, by_host] : paths) {
      const auto path = by_host.find(host);
      if (path == by_host.end()) continue;
      values[static_cast<int>(peers.size())] = std::to_string(path->second.slowness);
      peers.push_back(&path->second);
    }
    const OddOnes odd = odd_ones(values);
    for (const int index : odd.odd) {
      const LocalPath& path = *peers[static_cast<size_t>(index)];
      if (std::to_string(path.slowness) > odd.common) slower.push_back(path.edge);
    }
  }
  return slower;
}

FactValue odd_local_path(const Job& job, const Instance&) {
  const std::vector<Edge>& edges = edges_of(job);
  const LocalPaths paths = local_paths(job, edges);
  if (paths.empty()) return unknown();
  std::vector<const Edge*> slower = slower_than_on_other_hosts(paths);
  const std::vector<const Edge*> in_host = slower_than_other_pairs(job, paths);
  slower.insert(slower.end(), in_host.begin(), in_host.end());
  if (slower.empty()) return no();
  std::set<int> processes;
  std::vector<Evidence> lines;
  for (const Edge* edge : slower) {
    processes.insert(edge->process);
    if (lines.size() < kMaxLines) lines.push_back({edge->where, {}});
  }
  return yes(edge_phrase(*slower.front()), std::move(lines), {processes.begin(), processes.end()});
}

FactValue odd_nic(const Job& job, const Instance&) {
  const std::vector<Edge>& edges = edges_of(job);
  std::map<int, std::set<int>> devices;
  for (const Edge& edge : edges) {
    if (is_net_between_hosts(edge) && edge.path.device >= 0 && edge.path.proxy_rank < 0) {
      devices[edge.process].insert(edge.path.device);
    }
  }
  PeerValues values;
  for (const auto& [process, numbers] : devices) {
    // Which of several NICs a rank uses depends on its place in the trees.
    if (numbers.size() == 1) values[process] = std::to_string(*numbers.begin());
  }
  if (values.empty()) return unknown();
  OddOnes odd = odd_at_place(job, values);
  if (odd.odd.empty()) return no();
  auto lines = lines_of(edges, odd.odd, is_net_between_hosts);
  std::string what = fmt::format("{}, while {} at the same place of other hosts use NIC {}",
                                 first_phrase(edges, lines), odd.alike, odd.common);
  return yes(std::move(what), std::move(lines), std::move(odd.odd));
}

constexpr std::array kFacts = {
    Fact{"job.odd_gpudirect", Scope::Job, FactType::Bool,
         "A few ranks exchange data with other hosts without GPU Direct RDMA, most do with it, and "
         "a rank at the same place of another host does.",
         within_runs<odd_gpudirect>},
    Fact{"job.odd_local_path", Scope::Job, FactType::Bool,
         "A few pairs of GPUs of one host are connected by a slower transport than the same pair "
         "of most hosts, or than the other pairs of a host with NVSwitch.",
         within_runs<odd_local_path>},
    Fact{"job.odd_network", Scope::Job, FactType::Bool,
         "A few ranks reach other hosts over another network than most.", within_runs<odd_network>},
    Fact{"job.odd_nic", Scope::Job, FactType::Bool,
         "A few ranks use another NIC than the ranks at their place of most hosts.",
         within_runs<odd_nic>},
};

}  // namespace

std::span<const Fact> odd_path_facts() { return kFacts; }

}  // namespace ncclog
