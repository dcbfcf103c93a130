#include "diagnose/hardware/odd_ones.h"

#include <fmt/format.h>

#include <array>
#include <climits>
#include <set>
#include <tuple>

#include "base/majority.h"
#include "base/sorting.h"
#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/network/connections.h"

namespace ncclog {
namespace {

std::vector<int> number_hosts(const Job& job) {
  std::vector<std::string_view> hosts;
  for (const Process& process : job.processes) {
    const bool is_new = hosts.empty() || hosts.back() != process.host;
    if (is_new && !process.host.empty()) hosts.push_back(process.host);
  }
  sort_and_drop_repeats(hosts);
  std::vector<int> numbers;
  auto host = hosts.begin();
  for (const Process& process : job.processes) {
    if (host == hosts.end() || *host != process.host)
      host = std::ranges::lower_bound(hosts, process.host);
    numbers.push_back(process.host.empty() ? -1 : static_cast<int>(host - hosts.begin()));
  }
  return numbers;
}

/// By process: the number of its host by name, from 0; -1: its host is unknown. Owned by the job.
const std::vector<int>& host_numbers(const Job& job) { return job.answers.of<&number_hosts>(job); }

int host_of(const Job& job, int process) { return host_numbers(job)[static_cast<size_t>(process)]; }

std::vector<int> find_places(const Job& job) {
  std::vector<int> places(job.processes.size(), -1);
  std::vector<std::vector<int>> hosts;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const int host = host_numbers(job)[p];
    if (!job.processes[p].has_nccl || host < 0) continue;
    hosts.resize(std::max(hosts.size(), static_cast<size_t>(host) + 1));
    hosts[static_cast<size_t>(host)].push_back(static_cast<int>(p));
  }
  // The number of processes that most hosts run; the larger one of equals.
  std::map<size_t, size_t> votes;
  for (const auto& processes : hosts) votes[processes.size()] += processes.empty() ? 0 : 1;
  const auto usual =
      std::max_element(votes.rbegin(), votes.rend(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto& processes : hosts) {
    if (processes.size() != usual->first) continue;
    std::vector<std::tuple<uint64_t, int, int>> order;
    for (const int p : processes) {
      const Process& process = nth_process(job, p);
      order.emplace_back(parse_hex(process.bus_id).value_or(0), process.rank, p);
    }
    std::ranges::sort(order);
    for (size_t i = 0; i < order.size(); ++i) {
      places[static_cast<size_t>(std::get<2>(order[i]))] = static_cast<int>(i);
    }
  }
  return places;
}

// Which few hosts or ranks are set up unlike their peers, apart from paths and topology?
//
//   cudaDriverVersion 12040 on 7 hosts, 12020 on gpu-c   → job.odd_driver = yes, gpu-c
//   8 coll channels in 15 ranks, 6 in rank 5   → job.odd_channel_count, rank 5

constexpr size_t kMaxShown = 6;

/// "6 channels, 15 others 8": what the first odd one shows, and the others.
std::string odd_phrase(const PeerValues& values, const OddOnes& odd, std::string_view what = {}) {
  const auto first = std::ranges::find(values, odd.odd.front(), &PeerValues::value_type::first);
  return fmt::format("{}{}, {} others {}", first->second, what, odd.alike, odd.common);
}

/// One value for each host, under the number of its first process; none for those of several.
PeerValues by_host(const Job& job, const PeerValues& values) {
  std::map<int, PeerValues::value_type> hosts;
  std::set<int> mixed;
  for (const auto& peer : values) {
    const int host = host_of(job, peer.first);
    if (host >= 0 && hosts.try_emplace(host, peer).first->second.second != peer.second) {
      mixed.insert(host);
    }
  }
  PeerValues result;
  for (const auto& [host, peer] : hosts) {
    if (!mixed.contains(host)) result.push_back(peer);
  }
  return result;
}

FactValue odd_driver(const Job& job, const Instance&) {
  PeerValues values;  // Of the first line of each process.
  std::vector<Record> lines;
  for_each_said<CudaDriverVersion>(job, [&](const Said<CudaDriverVersion>& said) {
    if (!values.empty() && values.back().first == said.process) return;
    values.emplace_back(said.process, "CUDA " + cuda_release(std::max(said.message.version, 0)));
    lines.push_back(said.record());
  });
  if (values.empty()) return unknown();
  const OddOnes odd = odd_ones(by_host(job, values));
  if (odd.odd.empty()) return no();
  // The first processes stand for all of their hosts.
  std::set<int> hosts;
  for (const int first : odd.odd) hosts.insert(host_of(job, first));
  FactValue value = yes(odd_phrase(values, odd));
  for (size_t i = 0; i < values.size(); ++i) {
    if (!hosts.contains(host_of(job, values[i].first))) continue;
    value.processes.push_back(values[i].first);
    if (value.evidence.size() < kMaxShown) value.evidence.push_back(evidence_of(lines[i]));
  }
  return value;
}

/// The channels for collectives that each rank of a communicator counted.
FactValue odd_channel_count(const Job& job, const Instance&) {
  bool known = false;
  for (const Communicator& comm : job.communicators) {
    if (may_mix_others(job, comm)) continue;
    std::map<int, std::string> channels;  // A process that has several of the ranks counts once.
    for (const CommRank& rank : comm.ranks) {
      const InitSection* section = rank.process < 0 ? nullptr : init_section(job, rank);
      if (section == nullptr || section->channels.coll < 0) continue;
      channels[rank.process] = std::to_string(section->channels.coll);
    }
    const PeerValues values(channels.begin(), channels.end());
    known |= !values.empty();
    OddOnes odd = odd_ones(values);
    if (odd.odd.empty()) continue;
    std::vector<Evidence> lines;
    for_each_said<ChannelCounts>(job, [&](const Said<ChannelCounts>& said) {
      const bool named = std::ranges::binary_search(odd.odd, said.process);
      if (named && std::to_string(said.message.coll) != odd.common) {
        lines.push_back(evidence_of(said.record()));
      }
    });
    std::string words = odd_phrase(values, odd, " channels");
    return yes(std::move(words), std::move(lines), std::move(odd.odd));
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

// Is one size in the middle of a table of nccl-tests far slower than those before and after it?
//
//     33554432 …  301.2 …  300.8        67108864 …  88.1 …  87.9        134217728 …  322.4 …  321.0
//       → job.table_dip = yes, "all_reduce_perf at 67108864 bytes: 88.1 GB/s, between 301.2 and 322.4"
//
// Bandwidth grows with the size. Both columns must agree, else it was a single disturbance; and small
// sizes are latency, which varies.

/// GB/s of the slower and of the faster column.
std::pair<double, double> busbw_range(const NcclTestsRow& row) {
  const double out = parse_decimal(row.out_of_place.busbw).value_or(0);
  const double in = parse_decimal(row.in_place.busbw).value_or(0);
  return {std::min(out, in), std::max(out, in)};
}

bool are_of_one_table(const NcclTestsRow& a, const NcclTestsRow& b) {
  return a.datatype == b.datatype && a.redop == b.redop && a.root == b.root;
}

FactValue table_dip(const Job& job, const Instance&) {
  constexpr int64_t kLeastBytes = 1 << 20;
  constexpr double kDeep = 0.5;
  AnswerParts dips;
  for (const NcclTestsRun& run : job.nccl_tests) {
    for (size_t i = 1; i + 1 < run.rows.size(); ++i) {
      const NcclTestsRow& before = run.rows[i - 1];
      const NcclTestsRow& row = run.rows[i];
      const NcclTestsRow& after = run.rows[i + 1];
      const bool grows =
          kLeastBytes <= before.size && before.size < row.size && row.size < after.size;
      const double least = std::min(busbw_range(before).first, busbw_range(after).first);
      const auto [slow, fast] = busbw_range(row);
      if (!grows || !are_of_one_table(row, before) || !are_of_one_table(row, after) || slow <= 0 ||
          fast > kDeep * least)
        continue;
      dips.add(fmt::format("{} at {} bytes: {:.4g} GB/s, between {:.4g} and {:.4g}",
                           run.test.empty() ? "a test" : run.test, row.size, fast,
                           busbw_range(before).first, busbw_range(after).first),
               {row.where, row.text});
    }
  }
  return dips.answer(job.nccl_tests.empty() ? unknown() : no(), "; ", kMostNamed);
}

// Does a larger size take far less time than the one before it?
//
//     1000000 …  343.55  2.91  4.37  …  330.00        1100000 …  152.97  7.19  10.79  …  155.83
//       → job.table_step = yes, "all_reduce_perf: 1000000 bytes take 343.55 us, 1100000 bytes 152.97"
//
// NCCL chooses algorithm and protocol by the size; where its choice changes, time may fall a little. On
// either side of the step two rows have to agree, else it is a dip or a disturbance.

FactValue table_step(const Job& job, const Instance&) {
  constexpr double kFaster = 0.6;
  constexpr double kAlike = 1.3;
  constexpr double kLeastTime = 50;  // Microseconds; below, latency varies.
  AnswerParts steps;
  const auto times = [](const NcclTestsRow& row) {
    const double out = parse_decimal(row.out_of_place.time).value_or(0);
    const double in = parse_decimal(row.in_place.time).value_or(0);
    return std::pair(std::min(out, in), std::max(out, in));
  };
  const auto are_alike = [&](const NcclTestsRow& a, const NcclTestsRow& b) {
    const double one = busbw_range(a).first;
    const double other = busbw_range(b).first;
    return std::min(one, other) > 0 && std::max(one, other) < kAlike * std::min(one, other);
  };
  for (const NcclTestsRun& run : job.nccl_tests) {
    for (size_t i = 1; i + 2 < run.rows.size(); ++i) {
      const NcclTestsRow& slow = run.rows[i];
      const NcclTestsRow& fast = run.rows[i + 1];
      const bool is_step = slow.size < fast.size && times(slow).first >= kLeastTime &&
                           times(fast).second > 0 &&
                           times(fast).second < kFaster * times(slow).first;
      if (!is_step || !are_of_one_table(slow, fast) || !are_alike(run.rows[i - 1], slow) ||
          !are_alike(fast, run.rows[i + 2]))
        continue;
      steps.add(fmt::format("{}: {} bytes take {} us, {} bytes {}",
                            run.test.empty() ? "a test" : run.test, slow.size,
                            slow.out_of_place.time, fast.size, fast.out_of_place.time),
                {slow.where, slow.text});
    }
  }
  return steps.answer(job.nccl_tests.empty() ? unknown() : no(), "; ", kMostNamed);
}

// Whose paths to others are not like those of its peers?
//
//   15 ranks receive over NET/IB/…/GDRDMA from other hosts, rank 11 over NET/IB/3
//       → job.odd_gpudirect = yes, ranks {11}
//
// Only what a process announces itself is held against it, and only where its peers announce the
// same kind of connection: a log without lines of channels proves nothing.

/// "rank 3 -> rank 4 via NET/IB/0, while 15 others …": names the first of the edges that `wanted`
/// picks, with some lines of each odd one in turn; no where nobody is odd.
template <typename Wanted>
FactValue odd_edges(const std::vector<Edge>& edges, const OddOnes& odd, Wanted wanted,
                    std::string_view others) {
  if (odd.odd.empty()) return no();
  std::map<int, size_t> taken;
  std::string first;
  std::vector<Evidence> lines;
  for (const Edge& edge : edges) {
    const bool named = std::ranges::binary_search(odd.odd, edge.process);
    if (!named || !wanted(edge) || lines.size() == kMaxShown || taken[edge.process]++ == 2)
      continue;
    if (lines.empty()) first = edge_phrase(edge);
    lines.push_back({edge.where, {}});
  }
  return yes(fmt::format("{}, while {} {}", first, odd.alike, others), std::move(lines), odd.odd);
}

bool is_net_between_hosts(const Edge& edge) {
  return edge.reach == EdgeReach::OtherHost && edge.path->transport == Transport::NET;
}

FactValue odd_network(const Job& job, const Instance&) {
  const std::vector<Edge>& edges = edges_of(job);
  std::map<int, std::set<std::string>> networks;
  for (const Edge& edge : edges) {
    if (is_net_between_hosts(edge)) networks[edge.process].emplace(edge.path->network);
  }
  PeerValues values;
  for (const auto& [process, own] : networks) {
    values.emplace_back(process, fmt::format("{}", fmt::join(own, "+")));
  }
  if (values.empty()) return unknown();
  const OddOnes odd = odd_ones(values);
  const auto differs = [&](const Edge& edge) {
    return is_net_between_hosts(edge) && edge.path->network != odd.common;
  };
  return odd_edges(edges, odd, differs, "others use NET/" + odd.common);
}

constexpr std::string_view kWithGpuDirect = "with GPU Direct RDMA";

/// By process, for one direction: with GPU Direct RDMA, or without. Those that do both are none of
/// either, and one channel alone may be a cut line.
PeerValues gpudirect_values(const std::vector<Edge>& edges, bool sends) {
  std::map<int, std::array<int, 2>> channels;  // Without GPU Direct RDMA, and with it.
  for (const Edge& edge : edges) {
    if (!is_net_between_hosts(edge) || edge.sends != sends) continue;
    if (edge.path->network == "Socket") continue;
    channels[edge.process][edge.path->gpudirect ? 1 : 0] += channel_count({edge.channels, {}});
  }
  PeerValues values;
  for (const auto& [process, used] : channels) {
    const auto [without, with] = used;
    if (with > 0 && without == 0) values.emplace_back(process, kWithGpuDirect);
    if (with == 0 && without > 1) values.emplace_back(process, "without");
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
    if (odd.common != kWithGpuDirect) continue;
    excuse_places(job, values, odd);
    if (odd.odd.empty()) continue;
    const auto in_direction = [&](const Edge& edge) {
      return is_net_between_hosts(edge) && edge.sends == sends;
    };
    return odd_edges(edges, odd, in_direction,
                     fmt::format("others {} {}", sends ? "send" : "receive", odd.common));
  }
  return known ? no() : unknown();
}

/// A GPU of a host, or a pair of them, and something that is measured about it.
struct Measured {
  std::string_view host;      ///< Views the job.
  std::pair<int, int> place;  ///< In its host: of both GPUs of a pair, or of the one.
  double value = -1;
  const Edge* edge = nullptr;              ///< Of a pair.
  const HostTopology* topology = nullptr;  ///< Of a GPU, as `node` of it.
  size_t node = 0;
};

/// Those with clearly less than nearly all others at their place of other hosts, or than those of
/// the same host for which `in_host` holds, unless that is usual at their place; in the order of
/// `all`.
template <typename InHost>
std::vector<const Measured*> with_less(const std::vector<Measured>& all, InHost in_host) {
  constexpr double kClearly = 0.8;
  std::vector<const Measured*> less;
  const auto is_other = [&](const Measured& one) { return one.value != all.front().value; };
  if (std::ranges::none_of(all, is_other)) return less;
  PeerValues values;  // Peers are indices into `all`. What is alike when it is printed is alike.
  for (size_t i = 0; i < all.size(); ++i) {
    values.emplace_back(static_cast<int>(i), fmt::format("{:.1f}", all[i].value));
  }
  const auto for_each_group = [&](auto group_of, auto use) {
    const auto group = [&](const auto& peer) {
      return group_of(all[static_cast<size_t>(peer.first)]);
    };
    sort_unless_sorted(values, {}, group);
    for (auto begin = values.begin(); begin != values.end();) {
      const auto end = std::find_if(begin, values.end(),
                                    [&](const auto& peer) { return group(peer) != group(*begin); });
      use(PeerValues(begin, end));
      begin = end;
    }
  };
  const auto add = [&](const PeerValues& group, auto counts) {
    const OddOnes odd = odd_ones(group);
    const double common = parse_decimal(odd.common).value_or(0);
    for (const int i : odd.odd) {
      const Measured& one = all[static_cast<size_t>(i)];
      if (one.value < kClearly * common && counts(one)) less.push_back(&one);
    }
  };
  // What most hosts have at a place is how they are built or set up.
  constexpr size_t kHosts = 3;
  std::vector<bool> is_usual(all.size());
  for_each_group([](const Measured& one) { return one.place; },
                 [&](const PeerValues& group) {
                   add(group, [](const Measured&) { return true; });
                   std::map<std::string_view, size_t> counts;
                   for (const auto& [i, value] : group) ++counts[value];
                   for (const auto& [i, value] : group) {
                     is_usual[static_cast<size_t>(i)] =
                         group.size() >= kHosts && is_majority(counts[value], group.size());
                   }
                 });
  for_each_group([](const Measured& one) { return one.host; },
                 [&](const PeerValues& group) {
                   add(group, [&](const Measured& one) {
                     return in_host(one) && !is_usual[static_cast<size_t>(&one - all.data())];
                   });
                 });
  sort_and_drop_repeats(less);
  return less;
}

/// Pairs of GPUs in one host, by places and host, measured by their slowest transport: the higher
/// the faster.
std::vector<Measured> local_pairs(const Job& job, const std::vector<Edge>& edges) {
  constexpr std::pair<Transport, double> kSpeeds[] = {
      {Transport::P2P, 4}, {Transport::SHM, 2}, {Transport::NET, 1}};
  const std::vector<int>& places = places_in_host(job);
  std::vector<Measured> pairs;
  for (const Edge& edge : edges) {
    if (!edge.sends || edge.peer < 0 || edge.reach != EdgeReach::SameHost) continue;
    const std::pair place{places[static_cast<size_t>(edge.process)],
                          places[static_cast<size_t>(edge.peer)]};
    for (const auto& [transport, speed] : kSpeeds) {
      if (transport != edge.path->transport || place.first < 0 || place.second < 0) continue;
      pairs.push_back({nth_process(job, edge.process).host, place, speed, &edge});
    }
  }
  const auto key = [&hosts = host_numbers(job)](const Measured& pair) {
    return std::tuple(pair.place, hosts[static_cast<size_t>(pair.edge->process)]);
  };
  sort_unless_sorted(pairs, {},
                     [&](const Measured& pair) { return std::tuple(key(pair), pair.value); });
  const auto faster = std::ranges::unique(pairs, {}, key);
  pairs.erase(faster.begin(), faster.end());
  return pairs;
}

/// Pairs that are slower than the same pair on most other hosts, or than most pairs of the same
/// host where NVSwitches make all of them alike.
FactValue odd_local_path(const Job& job, const Instance&) {
  const std::vector<Measured> pairs = local_pairs(job, edges_of(job));
  if (pairs.empty()) return unknown();
  const std::set<std::string>& alike = nvswitch_hosts(job);
  AnswerParts slower;
  for (const Measured* pair : with_less(
           pairs, [&](const Measured& one) { return alike.contains(std::string(one.host)); })) {
    if (slower.words.empty()) slower.words = {edge_phrase(*pair->edge)};
    if (slower.evidence.size() < kMaxShown) slower.evidence.push_back({pair->edge->where, {}});
    slower.processes.push_back(pair->edge->process);
  }
  return slower.answer(no());
}

FactValue odd_nic(const Job& job, const Instance&) {
  const std::vector<Edge>& edges = edges_of(job);
  std::map<int, std::set<int>> devices;
  for (const Edge& edge : edges) {
    if (is_net_between_hosts(edge) && edge.path->device >= 0 && edge.path->proxy_rank < 0) {
      devices[edge.process].insert(edge.path->device);
    }
  }
  PeerValues values;
  for (const auto& [process, numbers] : devices) {
    // Which of several NICs a rank uses depends on its place in the trees.
    if (numbers.size() == 1) values.emplace_back(process, std::to_string(*numbers.begin()));
  }
  if (values.empty()) return unknown();
  const OddOnes odd = odd_at_place(job, values);
  return odd_edges(edges, odd, is_net_between_hosts,
                   "at the same place of other hosts use NIC " + odd.common);
}

// Which GPU, or which host, is built or linked unlike the others?
//
//   + NVL[370.8] - NVS/0-0   below 7 GPUs, NVL[185.4] below GPU/0-90   → job.odd_nvlink = yes
//   Pattern 4, … nChannels 12, …   on 7 hosts, nChannels 6 on gpu-c    → job.odd_search = yes,
//   gpu-c
//
// Only what a line says counts, and only less than the others have: a link whose line is lost is
// unknown, and says nothing about the GPU above it.

const SystemNode& node_of(const Measured& gpu) { return gpu.topology->system.nodes[gpu.node]; }

/// GB/s to NVSwitches. Links between GPUs do not count: those to GPUs that the job does not use are
/// not listed. -1: none.
double nvswitch_bw(const SystemTopology& system, size_t gpu) {
  double bw = 0;
  for (const SystemLink& link : system.links) {
    if (link.from != static_cast<int>(gpu) || link.to < 0 || link.type != "NVL") continue;
    if (system.nodes[static_cast<size_t>(link.to)].name.kind == "NVS") bw += link.bw;
  }
  return bw > 0 ? bw : -1;
}

double pcie_bw(const SystemTopology& system, size_t gpu) {
  const SystemNode& node = system.nodes[gpu];
  return node.link == "PCI" ? node.bw : -1;
}

/// GB/s of the best path to a NIC; -1: no line tells.
double nic_path_bw(const SystemTopology& system, size_t gpu) {
  double best = -1;
  for (const SystemPath& path : system.paths) {
    if (path.from != static_cast<int>(gpu) || path.to < 0) continue;
    if (system.nodes[static_cast<size_t>(path.to)].name.kind == "NET") {
      best = std::max(best, path.bw);
    }
  }
  return best;
}

using Measure = double (*)(const SystemTopology&, size_t);

/// The GPUs of all logs' hosts of which the measure is known.
std::vector<Measured> measured_gpus(const Job& job, Measure measure) {
  std::vector<Measured> gpus;
  // In a torn line a number may have lost digits, "37.0" of 370.8.
  std::set<std::string_view> torn_hosts;
  for (const Process& process : job.processes) {
    if (process.torn) torn_hosts.insert(process.host);
  }
  for (const HostTopology& host : job.topologies) {
    if (host.host.empty() || !host.source.empty() || host.system.cut) continue;
    if (torn_hosts.contains(host.host)) continue;
    std::vector<size_t> nodes;
    for (size_t n = 0; n < host.system.nodes.size(); ++n) {
      if (host.system.nodes[n].name.kind == "GPU") nodes.push_back(n);
    }
    std::ranges::sort(nodes, [&](size_t a, size_t b) {
      return host.system.nodes[a].name < host.system.nodes[b].name;
    });
    for (size_t i = 0; i < nodes.size(); ++i) {
      const double value = measure(host.system, nodes[i]);
      const int place = static_cast<int>(i);
      if (value > 0) gpus.push_back({host.host, {place, -1}, value, nullptr, &host, nodes[i]});
    }
  }
  return gpus;
}

/// Adds whose GPUs they are, and the lines in which processes of their hosts list them, as far as
/// they are known.
void add_gpus(const Job& job, const std::vector<const Measured*>& gpus, AnswerParts& parts) {
  std::map<std::pair<std::string_view, int>, int> owners;  // By host and rank.
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    owners.try_emplace({process.host, process.rank}, static_cast<int>(p));
  }
  std::map<std::pair<std::string_view, NodeName>, std::optional<Evidence>> lines;
  for (const Measured* gpu : gpus) lines[{gpu->host, node_of(*gpu).name}];
  for_each_said<TopologyNode>(job, [&](const Said<TopologyNode>& said) {
    const std::string_view node = said.message.node.substr(0, said.message.node.find(' '));
    const auto named = parse_node_name(node);
    if (!named) return;
    const auto line = lines.find({nth_process(job, said.process).host, *named});
    if (line != lines.end() && !line->second) line->second = evidence_of(said.record());
  });
  for (const Measured* gpu : gpus) {
    const int rank = gpu->topology->ranks[gpu->node];
    const auto owner = owners.find({gpu->host, rank});
    if (rank >= 0 && owner != owners.end()) parts.processes.push_back(owner->second);
    const auto& line = lines.at({gpu->host, node_of(*gpu).name});
    if (line) parts.evidence.push_back(*line);
  }
}

/// GPUs with less of a measure than their peers, also than those of the same host if `in_host`.
template <double measure(const SystemTopology&, size_t), bool in_host>
FactValue odd_gpu(const Job& job, const Instance&) {
  const std::vector<Measured> gpus = measured_gpus(job, measure);
  if (gpus.empty()) return unknown();
  const auto order = [](const Measured& gpu) { return std::pair(gpu.place, gpu.value); };
  std::vector<Measured> least;  // Of each place first; most jobs have nothing to ask of it.
  // Hosts in which that place always has less are built so.
  const auto is_alone = [&](const Measured& own) {
    if (in_host && least.empty()) std::ranges::sort(least = gpus, {}, order);
    const auto first = std::ranges::lower_bound(least, own.place, {}, &Measured::place);
    const auto other =
        std::find_if(first, least.end(), [&](const Measured& one) { return one.host != own.host; });
    return in_host && (other == least.end() || order(*other) > order(own));
  };
  const std::vector<const Measured*> odd = with_less(gpus, is_alone);
  if (odd.empty()) return no();
  const double best = std::ranges::max_element(gpus, {}, &Measured::value)->value;
  AnswerParts parts{.words = {fmt::format("{} of {} has {:.1f} GB/s, others up to {:.1f}",
                                          to_string(node_of(*odd.front()).name), odd.front()->host,
                                          odd.front()->value, best)}};
  add_gpus(job, odd, parts);
  return parts.answer(no());
}

/// "30.0/30.0": the smaller of both.
double smaller_bw(std::string_view printed) {
  double smaller = -1;
  for (const std::string_view part : split(printed, '/')) {
    const double bw = parse_decimal(part).value_or(-1);
    if (smaller < 0 || bw < smaller) smaller = bw;
  }
  return smaller;
}

constexpr int kRingPattern = 4;

/// What the ranks of a host found when they searched for rings.
struct HostRings {
  std::vector<int> processes;
  std::map<std::string, double> found;  ///< In words: GB/s of all channels together.
};

/// By host. Empty unless the process of every rank is known and hosts have equally many: others
/// need not be alike.
std::map<std::string, HostRings> rings_by_host(const Job& job, const Communicator& comm) {
  std::map<int, std::pair<std::string, double>> by_rank;
  for (const GraphSearch& search : comm.graphs.searches) {
    const SearchedGraph& graph = search.graph;
    const double bw = smaller_bw(graph.bw);
    if (graph.pattern != kRingPattern || graph.channels <= 0 || bw <= 0) continue;
    const std::string text =
        fmt::format("{} channels of {} GB/s, {}", graph.channels, graph.bw, graph.type);
    for (const int rank : search.ranks) by_rank.try_emplace(rank, text, bw * graph.channels);
  }
  std::map<std::string, HostRings> hosts;
  for (const CommRank& rank : comm.ranks) {
    if (rank.process < 0) return {};
    HostRings& host = hosts[nth_process(job, rank.process).host];
    host.processes.push_back(rank.process);
    const auto search = by_rank.find(rank.rank);
    if (search != by_rank.end()) host.found.insert(search->second);
  }
  for (const auto& [name, host] : hosts) {
    if (host.processes.size() != hosts.begin()->second.processes.size()) return {};
  }
  return hosts;
}

FactValue odd_search(const Job& job, const Instance&) {
  bool known = false;
  for (const Communicator& comm : job.communicators) {
    const auto hosts = rings_by_host(job, comm);
    std::map<int, const HostRings*> peers;  // By their first process.
    PeerValues values;
    std::map<std::string, double> bandwidths;
    for (const auto& [name, host] : hosts) {
      if (host.found.size() != 1) continue;
      peers[host.processes.front()] = &host;
      values.emplace_back(host.processes.front(), host.found.begin()->first);
      bandwidths.insert(*host.found.begin());
    }
    known |= !values.empty();
    const OddOnes odd = odd_ones(values);
    std::vector<int> processes;
    std::string what;
    for (const int peer : odd.odd) {
      const auto& [text, bandwidth] = *peers.at(peer)->found.begin();
      if (bandwidth >= bandwidths.at(odd.common)) continue;
      const std::vector<int>& own = peers.at(peer)->processes;
      processes.insert(processes.end(), own.begin(), own.end());
      if (what.empty()) what = fmt::format("{}, on {} other hosts {}", text, odd.alike, odd.common);
    }
    if (processes.empty()) continue;
    std::ranges::sort(processes);
    std::vector<Evidence> lines;
    for_each_said<GraphPattern>(job, [&](const Said<GraphPattern>& said) {
      const bool named = std::ranges::binary_search(processes, said.process);
      if (named && said.message.pattern == kRingPattern)
        lines.push_back(evidence_of(said.record()));
    });
    return yes(std::move(what), std::move(lines), std::move(processes));
  }
  return known ? no() : unknown();
}

constexpr std::array kOddFacts = {
    // A few ranks count another number of channels for collectives than most ranks of their
    // communicator.
    comparing_fact("job.odd_channel_count", odd_channel_count),
    // A few hosts have another CUDA driver version than most.
    comparing_fact("job.odd_driver", odd_driver),
    // One run of nccl-tests is far slower than others of the same test, ranks and size.
    job_fact("job.odd_test_run", odd_test_run),
    // A size in the middle of a table of nccl-tests is far slower than its neighbours, in place too.
    job_fact("job.table_dip", table_dip),
    // The same, and larger sizes take far less time than smaller ones.
    job_fact("job.table_step", table_step),
    // A few ranks exchange data with other hosts without GPU Direct RDMA, most do with it, and a
    // rank at the same place of another host does.
    comparing_fact("job.odd_gpudirect", odd_gpudirect),
    // A few pairs of GPUs of one host are connected by a slower transport than the same pair of
    // most hosts, or than the other pairs of a host with NVSwitch.
    comparing_fact("job.odd_local_path", odd_local_path),
    // A few ranks reach other hosts over another network than most.
    comparing_fact("job.odd_network", odd_network),
    // A few ranks use another NIC than the ranks at their place of most hosts.
    comparing_fact("job.odd_nic", odd_nic),
    // A few GPUs have a slower best path to a NIC than the GPUs at their place of most hosts.
    job_fact("job.odd_nic_path", odd_gpu<nic_path_bw, false>),
    // A few GPUs reach the NVSwitches with less bandwidth than the others of their host, or than
    // the GPUs at their place of most hosts.
    job_fact("job.odd_nvlink", odd_gpu<nvswitch_bw, true>),
    // A few GPUs hang on a slower PCIe link than the others of their host, or than the GPUs at
    // their place of most hosts.
    job_fact("job.odd_pcie_link", odd_gpu<pcie_bw, true>),
    // In a communicator of hosts with equally many ranks, a few hosts found rings with less
    // bandwidth than most; all ranks use the smallest number of channels.
    comparing_fact("job.odd_search", odd_search),
};

}  // namespace

OddOnes odd_ones(const PeerValues& values) {
  // What more than half of them show survives when each pair of unlike ones goes.
  std::string_view common;
  size_t left = 0;
  for (const auto& [peer, value] : values) {
    if (left == 0) common = value;
    value == common ? ++left : --left;
  }
  OddOnes result;
  const auto alike =
      static_cast<size_t>(std::ranges::count(values, common, &PeerValues::value_type::second));
  if (!is_clear(alike, values.size())) return result;
  result.common = common;
  result.alike = alike;
  for (const auto& [peer, value] : values) {
    if (value != common) result.odd.push_back(peer);
  }
  std::ranges::sort(result.odd);
  return result;
}

const std::vector<int>& places_in_host(const Job& job) { return job.answers.of<&find_places>(job); }

void excuse_places(const Job& job, const PeerValues& values, OddOnes& odd) {
  const auto position = [&](int process) {
    return std::pair(places_in_host(job)[static_cast<size_t>(process)], host_of(job, process));
  };
  std::set<std::pair<int, int>> usual;  // Where peers are that show what is common.
  for (const auto& [peer, value] : values) {
    if (value == odd.common) usual.insert(position(peer));
  }
  std::erase_if(odd.odd, [&](int suspect) {
    const auto [place, host] = position(suspect);
    auto other = usual.lower_bound({place, INT_MIN});
    if (other != usual.end() && *other == std::pair(place, host)) ++other;
    return place < 0 || other == usual.end() || other->first != place;
  });
}

OddOnes odd_at_place(const Job& job, const PeerValues& values) {
  const std::vector<int>& places = places_in_host(job);
  std::vector<PeerValues> by_place;
  for (const auto& peer : values) {
    const int place = places[static_cast<size_t>(peer.first)];
    if (place < 0) continue;
    by_place.resize(std::max(by_place.size(), static_cast<size_t>(place) + 1));
    by_place[static_cast<size_t>(place)].push_back(peer);
  }
  OddOnes result;
  for (const PeerValues& peers : by_place) {
    const OddOnes here = odd_ones(peers);
    if (here.odd.empty()) continue;
    if (result.odd.empty()) result = {{}, here.common, here.alike};
    result.odd.insert(result.odd.end(), here.odd.begin(), here.odd.end());
  }
  std::ranges::sort(result.odd);
  return result;
}

std::span<const Fact> odd_facts() { return kOddFacts; }

}  // namespace ncclog
