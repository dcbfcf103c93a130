#include "diagnose/hardware/odd_ones.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/network/connections.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr size_t kMinAlike = 3;
constexpr size_t kOddShare = 4;  ///< One in so many may be odd.

std::map<std::string, std::vector<int>> processes_by_host(const Job& job) {
  std::map<std::string, std::vector<int>> hosts;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    if (!process.has_nccl || process.host.empty()) continue;
    hosts[process.host].push_back(static_cast<int>(p));
  }
  return hosts;
}

/// The number of processes that most hosts run; the larger one of equals.
size_t usual_size(const std::map<std::string, std::vector<int>>& hosts) {
  std::map<size_t, size_t> sizes;
  for (const auto& [host, processes] : hosts) ++sizes[processes.size()];
  size_t usual = 0;
  size_t votes = 0;
  for (const auto& [size, hosts_with_it] : sizes) {
    if (hosts_with_it >= votes) std::tie(usual, votes) = std::tuple(size, hosts_with_it);
  }
  return usual;
}

}  // namespace

OddOnes odd_ones(const PeerValues& values) {
  std::map<std::string, size_t> votes;
  for (const auto& [peer, value] : values) ++votes[value];
  const auto common = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  OddOnes result;
  if (common == votes.end()) return result;
  const size_t others = values.size() - common->second;
  if (common->second < kMinAlike || others * kOddShare > values.size()) return result;
  result.common = common->first;
  result.alike = common->second;
  for (const auto& [peer, value] : values) {
    if (value != result.common) result.odd.push_back(peer);
  }
  return result;
}

std::vector<int> places_in_host(const Job& job) {
  std::vector<int> places(job.processes.size(), -1);
  const auto hosts = processes_by_host(job);
  const size_t usual = usual_size(hosts);
  for (auto [host, processes] : hosts) {
    if (processes.size() != usual) continue;
    std::sort(processes.begin(), processes.end(), [&](int a, int b) {
      const Process& first = nth_process(job, a);
      const Process& second = nth_process(job, b);
      return std::tuple(parse_hex(first.bus_id).value_or(0), first.rank, a) <
             std::tuple(parse_hex(second.bus_id).value_or(0), second.rank, b);
    });
    for (size_t i = 0; i < processes.size(); ++i) {
      places[static_cast<size_t>(processes[i])] = static_cast<int>(i);
    }
  }
  return places;
}

void excuse_places(const Job& job, const PeerValues& values, OddOnes& odd) {
  const std::vector<int> places = places_in_host(job);
  std::erase_if(odd.odd, [&](int suspect) {
    const int place = places[static_cast<size_t>(suspect)];
    const std::string& host = nth_process(job, suspect).host;
    return place < 0 || std::none_of(values.begin(), values.end(), [&](const auto& peer) {
             return peer.second == odd.common && places[static_cast<size_t>(peer.first)] == place &&
                    nth_process(job, peer.first).host != host;
           });
  });
}

OddOnes odd_at_place(const Job& job, const PeerValues& values) {
  const std::vector<int> places = places_in_host(job);
  std::map<int, PeerValues> by_place;
  for (const auto& [process, value] : values) {
    const int place = places[static_cast<size_t>(process)];
    if (place >= 0) by_place[place][process] = value;
  }
  OddOnes result;
  for (const auto& [place, peers] : by_place) {
    const OddOnes here = odd_ones(peers);
    if (here.odd.empty()) continue;
    if (result.odd.empty()) result = {{}, here.common, here.alike};
    result.odd.insert(result.odd.end(), here.odd.begin(), here.odd.end());
  }
  std::sort(result.odd.begin(), result.odd.end());
  return result;
}

// Which few hosts or ranks are set up unlike their peers, apart from paths and topology?
//
//   cudaDriverVersion 12040 on 7 hosts, 12020 on gpu-c   → job.odd_driver = yes, gpu-c
//   NVLS multicast support is available on 7 GPUs, not on that of rank 5   → job.odd_nvls, rank 5

namespace {

/// What processes say, each by one line.
struct Sayings {
  PeerValues values;
  std::map<int, Evidence> lines;

  void add(int process, std::string value, const Record& record) {
    if (values.emplace(process, std::move(value)).second)
      lines.emplace(process, evidence_of(record));
  }

  std::vector<Evidence> lines_of(const std::vector<int>& processes) const {
    constexpr size_t kMaxLines = 6;
    std::vector<Evidence> result;
    for (const int process : processes) {
      const auto line = lines.find(process);
      if (line != lines.end() && result.size() < kMaxLines) result.push_back(line->second);
    }
    return result;
  }
};

/// "12.2 instead of 12.4, as 7 others", with the names that `name` gives to values.
template <typename Name>
FactValue odd_answer(const Sayings& sayings, OddOnes odd, Name name) {
  if (sayings.values.empty()) return unknown();
  if (odd.odd.empty()) return no();
  std::string what = fmt::format("{}, {} others {}", name(sayings.values.at(odd.odd.front())),
                                 odd.alike, name(odd.common));
  std::vector<Evidence> lines = sayings.lines_of(odd.odd);
  return yes(std::move(what), std::move(lines), std::move(odd.odd));
}

/// One value for each host, under the number of its first process.
PeerValues by_host(const Job& job, const PeerValues& values) {
  std::map<std::string, int> first;
  PeerValues result;
  std::set<std::string> mixed;
  for (const auto& [process, value] : values) {
    const std::string& host = nth_process(job, process).host;
    if (host.empty()) continue;
    const auto [known, is_new] = first.emplace(host, process);
    if (is_new) result[process] = value;
    if (!is_new && result[known->second] != value) mixed.insert(host);
  }
  for (const std::string& host : mixed) result.erase(first[host]);
  return result;
}

/// All processes of the hosts for which those of `firsts` stand.
std::vector<int> whole_hosts(const Job& job, const PeerValues& values,
                             const std::vector<int>& firsts) {
  std::set<std::string> hosts;
  for (const int first : firsts) hosts.insert(nth_process(job, first).host);
  std::vector<int> result;
  for (const auto& [process, value] : values) {
    if (hosts.contains(nth_process(job, process).host)) result.push_back(process);
  }
  return result;
}

/// "12.4" for 12040.
std::string driver_name(const std::string& printed) {
  const int64_t version = parse_int(printed).value_or(0);
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

FactValue odd_driver(const Job& job, const Instance&) {
  Sayings sayings;
  for_each_said<CudaDriverVersion>(job, [&](const Said<CudaDriverVersion>& said) {
    sayings.add(said.process, std::to_string(said.message.version), said.record);
  });
  OddOnes odd = odd_ones(by_host(job, sayings.values));
  odd.odd = whole_hosts(job, sayings.values, odd.odd);
  return odd_answer(sayings, std::move(odd), driver_name);
}

FactValue odd_nvls(const Job& job, const Instance&) {
  Sayings sayings;
  for_each_said<NvlsSupport>(job, [&](const Said<NvlsSupport>& said) {
    sayings.add(said.process, std::string(said.message.state), said.record);
  });
  OddOnes odd = odd_ones(sayings.values);
  // Where a single one of many offers it, the others are the rule.
  if (odd.common != "available") odd.odd.clear();
  return odd_answer(sayings, std::move(odd), [](const std::string& state) { return state; });
}

FactValue odd_affinity(const Job& job, const Instance&) {
  Sayings sayings;
  for_each_said<CpuAffinity>(job, [&](const Said<CpuAffinity>& said) {
    sayings.add(said.process, std::string(said.message.cpus), said.record);
  });
  return odd_answer(sayings, odd_at_place(job, sayings.values),
                    [](const std::string& cpus) { return "CPUs " + printable(cpus); });
}

/// The channels for collectives that each rank of a communicator counted.
FactValue odd_channel_count(const Job& job, const Instance&) {
  bool known = false;
  for (const Communicator& comm : job.communicators) {
    PeerValues values;
    for (const CommRank& rank : comm.ranks) {
      const InitSection* section = rank.process < 0 ? nullptr : init_section(job, rank);
      if (section == nullptr || section->channels.coll < 0) continue;
      values[rank.process] = std::to_string(section->channels.coll);
    }
    known |= !values.empty();
    OddOnes odd = odd_ones(values);
    if (odd.odd.empty()) continue;
    std::string what =
        fmt::format("{} channels, {} others {}", values.at(odd.odd.front()), odd.alike, odd.common);
    std::vector<Evidence> lines;
    for_each_said<ChannelCounts>(job, [&](const Said<ChannelCounts>& said) {
      const bool named = std::binary_search(odd.odd.begin(), odd.odd.end(), said.process);
      if (named && std::to_string(said.message.coll) != odd.common) {
        lines.push_back(evidence_of(said.record));
      }
    });
    return yes(std::move(what), std::move(lines), std::move(odd.odd));
  }
  return known ? no() : unknown();
}

/// Runs of nccl-tests that measured the same.
struct TestKey {
  std::string test;
  int nranks = -1;
  int64_t size = -1;
  auto operator<=>(const TestKey&) const = default;
};

/// What a run measured at its largest size.
struct Measured {
  double busbw = 0;  ///< GB/s
  const NcclTestsRun* run = nullptr;
};

std::map<TestKey, std::vector<Measured>> measured_runs(const Job& job) {
  std::map<TestKey, std::vector<Measured>> result;
  for (const NcclTestsRun& run : job.nccl_tests) {
    if (run.rows.empty() || run.test.empty()) continue;
    const NcclTestsRow& row = run.rows.back();
    const auto busbw = parse_decimal(row.out_of_place.busbw);
    if (busbw && *busbw > 0) {
      result[{run.test, run.nranks, row.size}].push_back({*busbw, &run});
    }
  }
  return result;
}

/// Runs far below three quarters of the others, whose own values lie close together.
FactValue odd_test_run(const Job& job, const Instance&) {
  constexpr size_t kMinRuns = 4;
  constexpr double kClose = 0.8;
  constexpr double kSlow = 0.6;
  for (auto& [key, runs] : measured_runs(job)) {
    if (runs.size() < kMinRuns) continue;
    std::sort(runs.begin(), runs.end(),
              [](const Measured& a, const Measured& b) { return a.busbw < b.busbw; });
    const size_t slow = runs.size() / 4;
    const double best = runs.back().busbw;
    if (runs[slow].busbw < kClose * best || runs.front().busbw > kSlow * runs[slow].busbw) continue;
    const NcclTestsRow& row = runs.front().run->rows.back();
    std::vector<int> who;
    if (runs.front().run->process >= 0) who.push_back(runs.front().run->process);
    return yes(
        fmt::format("{} at {} bytes: {:.2f} GB/s, {} other runs {:.2f} to {:.2f}", key.test,
                    key.size, runs.front().busbw, runs.size() - slow, runs[slow].busbw, best),
        {{row.where, row.text}}, std::move(who));
  }
  return job.nccl_tests.empty() ? unknown() : no();
}

// Whose paths to others are not like those of its peers?
//
//   15 ranks receive over NET/IB/…/GDRDMA from other hosts, rank 11 over NET/IB/3
//       → job.odd_gpudirect = yes, ranks {11}
//
// Only what a process announces itself is held against it, and only where its peers announce the
// same kind of connection: a log without lines of channels proves nothing.

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
    LocalPath& path = paths[pair][nth_process(job, edge.process).host];
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
    Fact{"job.odd_affinity", Scope::Job, FactType::Bool,
         "A few ranks are bound to other CPUs than the ranks at their place of most hosts.",
         within_runs<odd_affinity>},
    Fact{"job.odd_channel_count", Scope::Job, FactType::Bool,
         "A few ranks count another number of channels for collectives than most ranks of their "
         "communicator.",
         within_runs<odd_channel_count>},
    Fact{"job.odd_driver", Scope::Job, FactType::Bool,
         "A few hosts have another CUDA driver version than most.", within_runs<odd_driver>},
    Fact{"job.odd_nvls", Scope::Job, FactType::Bool,
         "A few GPUs cannot use NVLink SHARP, most can.", within_runs<odd_nvls>},
    Fact{"job.odd_test_run", Scope::Job, FactType::Bool,
         "One run of nccl-tests is far slower than others of the same test, ranks and size.",
         odd_test_run},
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

std::span<const Fact> odd_facts() { return kFacts; }

}  // namespace ncclog
