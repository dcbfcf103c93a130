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
  const auto common = std::ranges::max_element(
      votes, [](const auto& a, const auto& b) { return a.second < b.second; });
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
    std::ranges::sort(processes, [&](int a, int b) {
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
    return place < 0 || std::ranges::none_of(values, [&](const auto& peer) {
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
  std::ranges::sort(result.odd);
  return result;
}

// Which few hosts or ranks are set up unlike their peers, apart from paths and topology?
//
//   cudaDriverVersion 12040 on 7 hosts, 12020 on gpu-c   → job.odd_driver = yes, gpu-c
//   NVLS multicast support is available on 7 GPUs, not on that of rank 5   → job.odd_nvls, rank 5

namespace {

constexpr size_t kMaxLines = 6;

/// What processes say, each by one line.
struct Sayings {
  PeerValues values;
  std::map<int, Evidence> lines;
};

/// The first line of kind T of each process, and what `value_of` makes of it.
template <typename T, typename ValueOf>
Sayings sayings_of(const Job& job, ValueOf value_of) {
  Sayings sayings;
  for_each_said<T>(job, [&](const Said<T>& said) {
    if (sayings.values.emplace(said.process, value_of(said.message)).second) {
      sayings.lines.emplace(said.process, evidence_of(said.record));
    }
  });
  return sayings;
}

/// "12.2 instead of 12.4, as 7 others", with the names that `name` gives to values.
template <typename Name>
FactValue odd_answer(const Sayings& sayings, OddOnes odd, Name name) {
  if (sayings.values.empty()) return unknown();
  if (odd.odd.empty()) return no();
  FactValue value = yes(fmt::format("{}, {} others {}", name(sayings.values.at(odd.odd.front())),
                                    odd.alike, name(odd.common)));
  for (const int process : odd.odd) {
    if (value.evidence.size() < kMaxLines) value.evidence.push_back(sayings.lines.at(process));
  }
  value.processes = std::move(odd.odd);
  return value;
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
  const Sayings sayings = sayings_of<CudaDriverVersion>(
      job, [](const auto& said) { return std::to_string(said.version); });
  OddOnes odd = odd_ones(by_host(job, sayings.values));
  odd.odd = whole_hosts(job, sayings.values, odd.odd);
  return odd_answer(sayings, std::move(odd), driver_name);
}

FactValue odd_nvls(const Job& job, const Instance&) {
  const Sayings sayings =
      sayings_of<NvlsSupport>(job, [](const auto& said) { return std::string(said.state); });
  OddOnes odd = odd_ones(sayings.values);
  // Where a single one of many offers it, the others are the rule.
  if (odd.common != "available") odd.odd.clear();
  return odd_answer(sayings, std::move(odd), [](const std::string& state) { return state; });
}

FactValue odd_affinity(const Job& job, const Instance&) {
  const Sayings sayings =
      sayings_of<CpuAffinity>(job, [](const auto& said) { return std::string(said.cpus); });
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
      const bool named = std::ranges::binary_search(odd.odd, said.process);
      if (named && std::to_string(said.message.coll) != odd.common) {
        lines.push_back(evidence_of(said.record));
      }
    });
    return yes(std::move(what), std::move(lines), std::move(odd.odd));
  }
  return known ? no() : unknown();
}

/// Runs far below three quarters of the others, whose own values lie close together.
FactValue odd_test_run(const Job& job, const Instance&) {
  constexpr size_t kMinRuns = 4;
  constexpr double kClose = 0.8;
  constexpr double kSlow = 0.6;
  // By test, ranks and largest size: the bus bandwidths in GB/s that were measured there.
  std::map<std::tuple<std::string, int, int64_t>,
           std::vector<std::pair<double, const NcclTestsRun*>>>
      by_test;
  for (const NcclTestsRun& run : job.nccl_tests) {
    if (run.rows.empty() || run.test.empty()) continue;
    const NcclTestsRow& row = run.rows.back();
    const double busbw = parse_decimal(row.out_of_place.busbw).value_or(0);
    if (busbw > 0) by_test[{run.test, run.nranks, row.size}].emplace_back(busbw, &run);
  }
  for (auto& [key, runs] : by_test) {
    if (runs.size() < kMinRuns) continue;
    std::ranges::stable_sort(runs, [](const auto& a, const auto& b) { return a.first < b.first; });
    const size_t others = runs.size() / 4;
    const auto& [slowest, slow_run] = runs.front();
    const double least = runs[others].first;
    const double best = runs.back().first;
    if (least < kClose * best || slowest > kSlow * least) continue;
    const NcclTestsRow& row = slow_run->rows.back();
    std::vector<int> who;
    if (slow_run->process >= 0) who.push_back(slow_run->process);
    return yes(fmt::format("{} at {} bytes: {:.2f} GB/s, {} other runs {:.2f} to {:.2f}",
                           slow_run->test, row.size, slowest, runs.size() - others, least, best),
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

/// "rank 3 -> rank 4 via NET/IB/0, while 15 others …": names the first of the edges that `wanted`
/// picks, with some lines of each odd one in turn.
template <typename Wanted>
FactValue odd_edges(const std::vector<Edge>& edges, OddOnes odd, Wanted wanted,
                    std::string_view others) {
  std::map<int, size_t> taken;
  std::string first;
  std::vector<Evidence> lines;
  for (const Edge& edge : edges) {
    const bool named = std::ranges::binary_search(odd.odd, edge.process);
    if (!named || !wanted(edge) || lines.size() == kMaxLines || taken[edge.process]++ == 2)
      continue;
    if (lines.empty()) first = edge_phrase(edge);
    lines.push_back({edge.where, {}});
  }
  return yes(fmt::format("{}, while {} {}", first, odd.alike, others), std::move(lines),
             std::move(odd.odd));
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
  const auto differs = [common = odd.common](const Edge& edge) {
    return is_net_between_hosts(edge) && edge.path.network != common;
  };
  const std::string others = "others use NET/" + odd.common;
  return odd_edges(edges, std::move(odd), differs, others);
}

constexpr std::string_view kWith = "with";

/// By process, for one direction. Those that do both are none of either, and one channel alone may be a cut line.
PeerValues gpudirect_values(const std::vector<Edge>& edges, bool sends) {
  std::map<int, std::array<int, 2>> channels;  // Without GPU Direct RDMA, and with it.
  for (const Edge& edge : edges) {
    if (!is_net_between_hosts(edge) || edge.sends != sends) continue;
    if (edge.path.network == "Socket") continue;
    channels[edge.process][edge.path.gpudirect ? 1 : 0] += channel_count({edge.channels, {}});
  }
  PeerValues values;
  for (const auto& [process, used] : channels) {
    const auto [without, with] = used;
    if (with > 0 && without == 0) values[process] = kWith;
    if (with == 0 && without > 1) values[process] = "without";
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
    const auto in_direction = [&](const Edge& edge) {
      return is_net_between_hosts(edge) && edge.sends == sends;
    };
    return odd_edges(
        edges, std::move(odd), in_direction,
        sends ? "others send with GPU Direct RDMA" : "others receive with GPU Direct RDMA");
  }
  return known ? no() : unknown();
}

/// How slow a transport is, compared with the others inside a host; -1: none of these.
int slowness(Transport transport) {
  constexpr Transport kFastestFirst[] = {Transport::P2P, Transport::SHM, Transport::NET};
  const auto* found = std::ranges::find(kFastestFirst, transport);
  return found == std::end(kFastestFirst) ? -1 : static_cast<int>(found - kFastestFirst);
}

/// The slowest transport of a pair of processes in one host.
struct LocalPath {
  std::pair<int, int> places;  ///< Of the two in their host.
  std::string host;
  int slowness = -1;
  const Edge* edge = nullptr;
};

/// By places, then host.
std::vector<LocalPath> local_paths(const Job& job, const std::vector<Edge>& edges) {
  const std::vector<int> places = places_in_host(job);
  std::map<std::pair<std::pair<int, int>, std::string>, LocalPath> slowest;
  for (const Edge& edge : edges) {
    if (!edge.sends || edge.peer < 0 || edge.reach != EdgeReach::SameHost) continue;
    LocalPath path{
        {places[static_cast<size_t>(edge.process)], places[static_cast<size_t>(edge.peer)]},
        nth_process(job, edge.process).host,
        slowness(edge.path.transport),
        &edge};
    if (path.slowness < 0 || path.places.first < 0 || path.places.second < 0) continue;
    LocalPath& known = slowest[{path.places, path.host}];
    if (path.slowness > known.slowness) known = std::move(path);
  }
  std::vector<LocalPath> paths;
  for (auto& [key, path] : slowest) paths.push_back(std::move(path));
  return paths;
}

/// Adds the edges of those that are slower than most of their peers.
void add_slower(const std::vector<const LocalPath*>& peers, std::vector<const Edge*>& slower) {
  PeerValues values;
  for (size_t i = 0; i < peers.size(); ++i) {
    values[static_cast<int>(i)] = std::to_string(peers[i]->slowness);
  }
  const OddOnes odd = odd_ones(values);
  for (const int index : odd.odd) {
    if (values[index] > odd.common) slower.push_back(peers[static_cast<size_t>(index)]->edge);
  }
}

/// Pairs that are slower than the same pair on most other hosts, or than most pairs of the same
/// host where NVSwitches make all of them alike.
std::vector<const Edge*> slower_pairs(const Job& job, const std::vector<LocalPath>& paths) {
  std::map<std::pair<int, int>, std::vector<const LocalPath*>> by_places;
  std::map<std::string, std::vector<const LocalPath*>> by_host;
  const std::set<std::string> alike = nvswitch_hosts(job);
  for (const LocalPath& path : paths) {
    by_places[path.places].push_back(&path);
    if (alike.contains(path.host)) by_host[path.host].push_back(&path);
  }
  std::vector<const Edge*> slower;
  for (const auto& [places, peers] : by_places) add_slower(peers, slower);
  for (const auto& [host, peers] : by_host) add_slower(peers, slower);
  return slower;
}

FactValue odd_local_path(const Job& job, const Instance&) {
  const std::vector<Edge>& edges = edges_of(job);
  const std::vector<LocalPath> paths = local_paths(job, edges);
  if (paths.empty()) return unknown();
  const std::vector<const Edge*> slower = slower_pairs(job, paths);
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
  const std::string others = "at the same place of other hosts use NIC " + odd.common;
  return odd_edges(edges, std::move(odd), is_net_between_hosts, others);
}

constexpr std::array kFacts = {
    job_fact("job.odd_affinity", within_runs<odd_affinity>,
             "A few ranks are bound to other CPUs than the ranks at their place of most hosts."),
    job_fact(
        "job.odd_channel_count", within_runs<odd_channel_count>,
        "A few ranks count another number of channels for collectives than most ranks of their "
        "communicator."),
    job_fact("job.odd_driver", within_runs<odd_driver>,
             "A few hosts have another CUDA driver version than most."),
    job_fact("job.odd_nvls", within_runs<odd_nvls>,
             "A few GPUs cannot use NVLink SHARP, most can."),
    job_fact("job.odd_test_run", odd_test_run,
             "One run of nccl-tests is far slower than others of the same test, ranks and size."),
    job_fact(
        "job.odd_gpudirect", within_runs<odd_gpudirect>,
        "A few ranks exchange data with other hosts without GPU Direct RDMA, most do with it, and "
        "a rank at the same place of another host does."),
    job_fact(
        "job.odd_local_path", within_runs<odd_local_path>,
        "A few pairs of GPUs of one host are connected by a slower transport than the same pair "
        "of most hosts, or than the other pairs of a host with NVSwitch."),
    job_fact("job.odd_network", within_runs<odd_network>,
             "A few ranks reach other hosts over another network than most."),
    job_fact("job.odd_nic", within_runs<odd_nic>,
             "A few ranks use another NIC than the ranks at their place of most hosts."),
};

}  // namespace

std::span<const Fact> odd_facts() { return kFacts; }

}  // namespace ncclog
