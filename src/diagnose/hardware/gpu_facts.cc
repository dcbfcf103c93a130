// Does each rank have a GPU of its own, are the GPUs linked alike, and are the rings over them
// whole?
//
//   busId 1b000 on node-a is printed by ranks 2 and 3      → job.gpu_shared = yes
//   + NVL[370.8] - NVS/0-0 below 7 GPUs, NVL[185.4] below one  → job.odd_nvlink = yes

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/hardware/odd_ones.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/address.h"
#include "log/line/header.h"
#include "log/messages.h"
#include "model/job.h"

namespace ncclog {

// Did a process change its GPU between two communicators, and do two ranks have the same one?
//
//   n1:77:77 [3] NCCL INFO … rank 3 nranks 4 cudaDev 3 … commId 0x51 - Init COMPLETE
//   n1:77:77 [2] NCCL INFO ENV/Plugin: Closing env plugin ncclEnvDefault
//   [rank3]: … [3] is setting up NCCL communicator and retrieving ncclUniqueId … by key '1' …
//       → job.device_changed = yes, rank 3: its communicator is on GPU 3, it went on with GPU 2
//
// PyTorch keeps a communicator for each device of a group. A rank that changes its GPU builds a new
// one, which the others never join. Only the thread that initialised counts, and only where it is
// the main one: service threads show any device, and their numbers come back.
//
//   n1:42:42 … rank 0 nranks 2 … busId 100000 commId 0xaa - Init START
//   n1:43:43 … rank 1 nranks 2 … busId 100000 commId 0xaa - Init START
//       → job.gpu_shared = yes: NCCL refuses two ranks of a communicator on one GPU of a host
//
// A process may drive several GPUs on purpose: it has several ranks in one communicator, or all
// ranks of a communicator do it alike, or the second communicator came up. Then nothing hangs from
// it, and nobody is accused.

namespace {

/// A process as a member of a communicator.
struct Membership {
  int communicator = -1;
  const CommRank* rank = nullptr;
};

/// The memberships of each process by the order in which they began; none of processes that hold
/// several ranks of one communicator.
std::vector<std::vector<Membership>> memberships(const Job& job) {
  std::vector<std::vector<Membership>> all(job.processes.size());
  std::set<size_t> several;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    for (const CommRank& rank : job.communicators[c].ranks) {
      if (rank.process < 0) continue;
      auto& own = all[static_cast<size_t>(rank.process)];
      const bool again = !own.empty() && own.back().communicator == static_cast<int>(c);
      if (again) several.insert(static_cast<size_t>(rank.process));
      own.push_back({static_cast<int>(c), &rank});
    }
  }
  for (const size_t process : several) all[process].clear();
  for (auto& own : all) {
    std::ranges::sort(own, [](const Membership& a, const Membership& b) {
      return std::pair(a.rank->log, a.rank->segment) < std::pair(b.rank->log, b.rank->segment);
    });
  }
  return all;
}

/// How a process shows that it changed.
struct Change {
  int process = -1;
  int communicator = -1;     ///< Of the device before.
  bool left_behind = false;  ///< It waits for a communicator that the others do not join.
  std::string what;
  std::vector<Evidence> lines;
};

/// "GPU 3 (bus id 90)".
std::string gpu_of(const CommRank& rank) {
  const std::string bus = rank.bus_id.empty() ? "" : fmt::format(" (bus id {})", rank.bus_id);
  return fmt::format("GPU {}{}", rank.cuda_dev, bus);
}

std::string name_of(const Job& job, int index) {
  const Process& process = nth_process(job, index);
  const std::string who =
      process.rank >= 0 ? fmt::format("rank {}", process.rank) : std::string("one process");
  return fmt::format("{} ({}, pid {})", who, printable(to_valid_utf8(process.host)), process.pid);
}

Evidence line_at(const Job& job, const Process& process, SourceRef where) {
  Evidence line{process.last, process.last_text};
  for_each_record(job, process, kKindIndex<CommInit>, [&](const Record& record) {
    if (record.where == where) line = evidence_of(record);
  });
  return line;
}

SourceRef begin_of(const CommSegment& segment) {
  return segment.started.line != 0 ? segment.started : segment.completed;
}

/// Known to be another GPU.
bool differ(const CommRank& a, const CommRank& b) {
  if (!a.bus_id.empty() && !b.bus_id.empty()) return a.bus_id != b.bus_id;
  return a.cuda_dev >= 0 && b.cuda_dev >= 0 && a.cuda_dev != b.cuda_dev;
}

/// Two of its communicators stand on different GPUs.
std::optional<Change> change_between(const Job& job, int process,
                                     const std::vector<Membership>& own) {
  for (size_t i = 1; i < own.size(); ++i) {
    const CommRank& before = *own[i - 1].rank;
    const CommRank& after = *own[i].rank;
    if (!differ(before, after)) continue;
    const CommSegment& second = segment_of(job, after);
    Change change{process, own[i - 1].communicator, second.completed.line == 0, {}, {}};
    change.what =
        fmt::format("{} initialised communicator {} on {} and then {} on {}", name_of(job, process),
                    nth_communicator(job, own[i - 1].communicator).id, gpu_of(before),
                    nth_communicator(job, own[i].communicator).id, gpu_of(after));
    const Process& speaker = nth_process(job, process);
    for (const CommRank* rank : {&before, &after}) {
      change.lines.push_back(line_at(job, speaker, begin_of(segment_of(job, *rank))));
    }
    return change;
  }
  return std::nullopt;
}

/// The first line of the main thread after `since` that shows another device than `device`.
std::optional<Evidence> other_device_line(const SpeakerLog& log, SourceRef since, int device) {
  std::optional<Evidence> first;
  for (const auto& [kind, list] : log.records) {
    for (const Record& record : list.kept) {
      if (record.where <= since || (first && first->where < record.where)) continue;
      const auto header = parse_nccl_header(record.text);
      const bool own = header && header->pid >= 0 && header->tid == header->pid;
      if (!own || header->cuda_dev < 0 || header->cuda_dev == device) continue;
      first = evidence_of(record);
    }
  }
  return first;
}

/// The rank waited in the store for a group's second or later communicator, in vain.
std::optional<Evidence> waits_for_another(const Job& job, const Process& process) {
  std::optional<Evidence> line;
  for_each_record(job, process, kKindIndex<StoreWaitFailed>, [&](const Record& record) {
    const auto wait = read_message<StoreWaitFailed>(parse_record(record).message);
    if (!line && parse_int(wait.key).value_or(0) > 0) line = evidence_of(record);
  });
  return line;
}

/// Behind its only communicators, all on one GPU, its main thread shows another one.
std::optional<Change> change_after(const Job& job, int process,
                                   const std::vector<Membership>& own) {
  const CommRank& last = *own.back().rank;
  const InitSection* section = init_section(job, last);
  const Process& speaker = nth_process(job, process);
  if (section == nullptr || section->tid != speaker.pid || section->completed.line == 0) {
    return std::nullopt;
  }
  const auto line =
      other_device_line(job.logs[static_cast<size_t>(last.log)], section->completed, last.cuda_dev);
  if (!line) return std::nullopt;
  const auto header = parse_nccl_header(line->text);
  Change change{process, own.back().communicator, false, {}, {}};
  change.what = fmt::format("{} initialised communicator {} on {} and went on with GPU {}",
                            name_of(job, process), nth_communicator(job, change.communicator).id,
                            gpu_of(last), header->cuda_dev);
  change.lines = {line_at(job, speaker, section->completed), *line};
  if (auto wait = waits_for_another(job, speaker)) {
    change.left_behind = true;
    change.what += "; it waited for another communicator of the group in vain";
    change.lines.push_back(std::move(*wait));
  }
  return change;
}

std::vector<Change> find_changes(const Job& job) {
  std::vector<Change> changes;
  const auto all = memberships(job);
  for (size_t p = 0; p < all.size(); ++p) {
    const Process& process = job.processes[p];
    if (all[p].empty() || process.torn || process.cut) continue;
    const int index = static_cast<int>(p);
    auto change = change_between(job, index, all[p]);
    if (!change) change = change_after(job, index, all[p]);
    if (change) changes.push_back(std::move(*change));
  }
  return changes;
}

/// All members of the communicator that are there changed alike.
bool everybody_changed(const Job& job, const Change& change, const std::set<int>& changed) {
  const auto& ranks = nth_communicator(job, change.communicator).ranks;
  return std::ranges::all_of(ranks, [&](const CommRank& rank) {
    return rank.process < 0 || changed.contains(rank.process);
  });
}

/// "…; ranks 1-3 likewise": one in full is enough to see what happened.
std::string changes_phrase(const Job& job, const std::vector<const Change*>& changes) {
  if (changes.size() == 1) return changes.front()->what;
  std::vector<int> ranks;
  for (const Change* change : std::span(changes).subspan(1)) {
    ranks.push_back(nth_process(job, change->process).rank);
  }
  const bool all_known = std::ranges::count(ranks, -1) == 0;
  return fmt::format("{}; {} likewise", changes.front()->what,
                     all_known ? ranks_phrase(ranks) : fmt::format("{} more", ranks.size()));
}

/// The processes that changed and are `surely` the reason why the job hangs, or perhaps only.
template <bool surely>
FactValue device_changed(const Job& job, const Instance&) {
  const std::vector<Change>& changes = job.answers.of<&find_changes>(job);
  std::set<int> changed;
  for (const Change& change : changes) changed.insert(change.process);
  const bool stopped = !changes.empty() && stop_evidence(job);
  FactValue value = yes({});
  std::vector<const Change*> told;
  for (const Change& change : changes) {
    const bool sure = stopped && change.left_behind && !everybody_changed(job, change, changed);
    if (sure != surely) continue;
    told.push_back(&change);
    value.processes.push_back(change.process);
    value.evidence.insert(value.evidence.end(), change.lines.begin(), change.lines.end());
  }
  if (told.empty()) return unknown();
  value.what = changes_phrase(job, told);
  return value;
}

/// Ranks of a communicator by host and GPU. A name that every machine may have is no host.
std::map<std::pair<std::string, uint64_t>, std::vector<const CommRank*>> ranks_by_gpu(
    const Job& job, const Communicator& comm) {
  std::map<std::pair<std::string, uint64_t>, std::vector<const CommRank*>> all;
  for (const CommRank& rank : comm.ranks) {
    const auto bus = bus_number(rank.bus_id);
    if (rank.process < 0 || rank.segment < 0 || !bus) continue;
    const std::string& host = nth_process(job, rank.process).host;
    if (!host.empty() && host != "localhost") all[{host, *bus}].push_back(&rank);
  }
  return all;
}

/// Nobody completed it: NCCL would have, had it not refused.
bool began_in_vain(const Job& job, const Communicator& comm) {
  return std::ranges::none_of(comm.ranks, [&](const CommRank& rank) {
    return rank.segment >= 0 && segment_of(job, rank).completed.line != 0;
  });
}

FactValue gpu_shared(const Job& job, const Instance&) {
  FactValue value = yes({});
  std::vector<std::string> phrases;
  for (const Communicator& comm : job.communicators) {
    if (comm.inferred || !began_in_vain(job, comm)) continue;
    for (const auto& [gpu, ranks] : ranks_by_gpu(job, comm)) {
      if (ranks.size() < 2) continue;
      std::vector<int> numbers;
      for (const CommRank* rank : ranks) {
        numbers.push_back(rank->rank);
        value.processes.push_back(rank->process);
        value.evidence.push_back(
            line_at(job, nth_process(job, rank->process), begin_of(segment_of(job, *rank))));
      }
      phrases.push_back(fmt::format("{} of communicator {} are all on the GPU with bus id {} of {}",
                                    ranks_phrase(numbers), to_valid_utf8(comm.id),
                                    printable(to_valid_utf8(ranks.front()->bus_id)),
                                    printable(to_valid_utf8(gpu.first))));
    }
  }
  if (phrases.empty()) return unknown();
  constexpr size_t kMost = 3;
  const size_t more = phrases.size() - std::min(phrases.size(), kMost);
  phrases.resize(phrases.size() - more);
  if (more > 0) phrases.push_back(fmt::format("{} more like these", more));
  value.what = join(phrases, "; ");
  return value;
}

// Are the rings and trees that the ranks describe rings and trees?
//
//   communicator.graph_broken = yes, "ring of channels 0-23: rank 1 is listed twice"

constexpr size_t kMaxLines = 4;

std::vector<int> channel_numbers(uint64_t channels) {
  std::vector<int> numbers;
  for (int c = 0; c < kMaxChannels; ++c) {
    if ((channels & channel_bit(c)) != 0) numbers.push_back(c);
  }
  return numbers;
}

/// The first lines of kind T of each process of the communicator.
template <typename T>
std::vector<Evidence> first_lines(const Job& job, const Instance& instance) {
  std::vector<Evidence> lines;
  for (const int process : instance.processes) {
    bool first = true;
    for_each_record(job, nth_process(job, process), kKindIndex<T>, [&](const Record& record) {
      if (first && lines.size() < kMaxLines) lines.push_back(evidence_of(record));
      first = false;
    });
  }
  return lines;
}

std::string phrase(std::string_view graph, uint64_t channels, const std::string& remark) {
  return fmt::format("{} of channels {}: {}", graph, ranges_text(channel_numbers(channels)),
                     remark);
}

FactValue graph_broken(const Job& job, const Instance& instance) {
  const auto& graphs = nth_communicator(job, instance.communicator).graphs;
  for (const Ring& ring : graphs.rings) {
    if (ring.check != GraphCheck::Broken) continue;
    std::vector<Evidence> lines = first_lines<RingMembers>(job, instance);
    if (lines.empty()) lines = first_lines<RingNeighbours>(job, instance);
    return yes(phrase("ring", ring.channels, ring.remark), std::move(lines));
  }
  for (const Tree& tree : graphs.trees) {
    if (tree.check != GraphCheck::Broken) continue;
    return yes(phrase("tree", tree.channels, tree.remark), first_lines<Trees>(job, instance));
  }
  const bool any_unknown = std::ranges::any_of(
      graphs.rings, [](const Ring& ring) { return ring.check == GraphCheck::Unknown; });
  return graphs.rings.empty() || any_unknown ? unknown() : no();
}

// Which GPU, or which host, is built or linked unlike the others?
//
//   + NVL[370.8] - NVS/0-0   below 7 GPUs, NVL[185.4] below GPU/0-90   → job.odd_nvlink = yes
//   Pattern 4, … nChannels 12, …   on 7 hosts, nChannels 6 on gpu-c    → job.odd_search = yes,
//   gpu-c
//
// Only what a line says counts, and only less than the others have: a link whose line is lost is
// unknown, and says nothing about the GPU above it.

/// A GPU of a host, and something that is measured about it.
struct Gpu {
  const HostTopology* host = nullptr;
  size_t node = 0;  ///< Into the topology's nodes.
  int place = -1;   ///< Among the GPUs of its host, by bus id; -1: hosts have different numbers.
  double value = -1;
};

const SystemNode& node_of(const Gpu& gpu) { return gpu.host->system.nodes[gpu.node]; }

/// GB/s to NVSwitches. Links between GPUs do not count: those to GPUs that the job does not use are
/// not listed. -1: none.
double nvswitch_bw(const SystemTopology& system, size_t gpu) {
  double bw = 0;
  for (const SystemLink& link : system.links) {
    const bool to_switch =
        link.to >= 0 && system.nodes[static_cast<size_t>(link.to)].name.kind == "NVS";
    if (link.type == "NVL" && link.from == static_cast<int>(gpu) && to_switch) bw += link.bw;
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

/// True if lines of the host's processes are torn: a number may have lost digits, "37.0" of 370.8.
bool is_torn_on(const Job& job, const std::string& host) {
  return std::ranges::any_of(
      job.processes, [&](const Process& process) { return process.torn && process.host == host; });
}

/// The GPUs of all logs' hosts of which the measure is known.
std::vector<Gpu> measured_gpus(const Job& job, Measure measure) {
  std::vector<Gpu> gpus;
  for (const HostTopology& host : job.topologies) {
    if (host.host.empty() || !host.source.empty() || host.system.cut) continue;
    if (is_torn_on(job, host.host)) continue;
    std::vector<size_t> nodes;
    for (size_t n = 0; n < host.system.nodes.size(); ++n) {
      if (host.system.nodes[n].name.kind == "GPU") nodes.push_back(n);
    }
    std::ranges::sort(nodes, [&](size_t a, size_t b) {
      return host.system.nodes[a].name < host.system.nodes[b].name;
    });
    for (size_t i = 0; i < nodes.size(); ++i) {
      const double value = measure(host.system, nodes[i]);
      if (value > 0) gpus.push_back({&host, nodes[i], static_cast<int>(i), value});
    }
  }
  return gpus;
}

/// Those of a group of peers that have clearly less than nearly all others.
std::vector<const Gpu*> with_less(const std::vector<const Gpu*>& peers) {
  constexpr double kClearly = 0.8;
  PeerValues values;
  for (size_t i = 0; i < peers.size(); ++i) {
    values[static_cast<int>(i)] = fmt::format("{:.1f}", peers[i]->value);
  }
  const OddOnes odd = odd_ones(values);
  std::vector<const Gpu*> less;
  for (const int index : odd.odd) {
    const Gpu* gpu = peers[static_cast<size_t>(index)];
    if (gpu->value < kClearly * parse_decimal(odd.common).value_or(0)) less.push_back(gpu);
  }
  return less;
}

/// GPUs with less than the others of their host, and than those at their place of other hosts.
std::vector<const Gpu*> odd_gpus(const std::vector<Gpu>& gpus, bool in_host) {
  std::map<std::string, std::vector<const Gpu*>> by_host;
  std::map<int, std::vector<const Gpu*>> by_place;
  for (const Gpu& gpu : gpus) {
    by_host[gpu.host->host].push_back(&gpu);
    by_place[gpu.place].push_back(&gpu);
  }
  std::set<const Gpu*> odd;
  for (const auto& [place, peers] : by_place) {
    for (const Gpu* gpu : with_less(peers)) odd.insert(gpu);
  }
  for (const auto& [host, peers] : by_host) {
    if (!in_host) break;
    for (const Gpu* gpu : with_less(peers)) {
      // Hosts in which that place always has less are built so.
      const auto& same = by_place[gpu->place];
      const bool alone = std::ranges::none_of(same, [&](const Gpu* other) {
        return other->host != gpu->host && other->value <= gpu->value;
      });
      if (alone) odd.insert(gpu);
    }
  }
  std::vector<const Gpu*> result;
  for (const Gpu& gpu : gpus) {
    if (odd.contains(&gpu)) result.push_back(&gpu);
  }
  return result;
}

/// The line in which a process of that host lists the GPU.
std::optional<Evidence> line_of(const Job& job, const Gpu& gpu) {
  const std::string name = to_string(node_of(gpu).name);
  std::optional<Evidence> line;
  for_each_said<TopologyNode>(job, [&](const Said<TopologyNode>& said) {
    const bool here = nth_process(job, said.process).host == gpu.host->host;
    const std::string_view node = said.message.node.substr(0, said.message.node.find(' '));
    const auto named = parse_node_name(node);
    if (!line && here && named && *named == node_of(gpu).name) line = evidence_of(said.record);
  });
  return line;
}

/// Whose GPU it is; -1: not known.
int process_of(const Job& job, const Gpu& gpu) {
  const int rank = gpu.host->ranks[gpu.node];
  const auto owner = std::ranges::find_if(job.processes, [&](const Process& process) {
    return rank >= 0 && process.rank == rank && process.host == gpu.host->host;
  });
  return owner == job.processes.end() ? -1 : static_cast<int>(owner - job.processes.begin());
}

/// GPUs with less of a measure than their peers, also than those of the same host if `in_host`.
template <double measure(const SystemTopology&, size_t), bool in_host>
FactValue odd_gpu(const Job& job, const Instance&) {
  const std::vector<Gpu> gpus = measured_gpus(job, measure);
  const std::vector<const Gpu*> odd = odd_gpus(gpus, in_host);
  if (gpus.empty()) return unknown();
  if (odd.empty()) return no();
  double best = 0;
  for (const Gpu& gpu : gpus) best = std::max(best, gpu.value);
  std::set<int> processes;
  std::vector<Evidence> lines;
  for (const Gpu* gpu : odd) {
    if (const int process = process_of(job, *gpu); process >= 0) processes.insert(process);
    if (const auto line = line_of(job, *gpu)) lines.push_back(*line);
  }
  return yes(fmt::format("{} of {} has {:.1f} GB/s, others up to {:.1f}",
                         to_string(node_of(*odd.front()).name), odd.front()->host->host,
                         odd.front()->value, best),
             std::move(lines), {processes.begin(), processes.end()});
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

/// By host. Empty unless the process of every rank is known and hosts have equally many: others need
/// not be alike.
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
      values[host.processes.front()] = host.found.begin()->first;
      bandwidths.insert(*host.found.begin());
    }
    known |= !values.empty();
    const OddOnes odd = odd_ones(values);
    std::vector<int> processes;
    std::string what;
    for (const int peer : odd.odd) {
      const std::string& text = values.at(peer);
      if (bandwidths.at(text) >= bandwidths.at(odd.common)) continue;
      const std::vector<int>& own = peers.at(peer)->processes;
      processes.insert(processes.end(), own.begin(), own.end());
      if (what.empty()) what = fmt::format("{}, on {} other hosts {}", text, odd.alike, odd.common);
    }
    if (processes.empty()) continue;
    std::ranges::sort(processes);
    std::vector<Evidence> lines;
    for_each_said<GraphPattern>(job, [&](const Said<GraphPattern>& said) {
      const bool named = std::ranges::binary_search(processes, said.process);
      if (named && said.message.pattern == kRingPattern) lines.push_back(evidence_of(said.record));
    });
    return yes(std::move(what), std::move(lines), std::move(processes));
  }
  return known ? no() : unknown();
}

constexpr std::array kFacts = {
    job_fact(
        "job.device_changed", within_runs<device_changed<true>>,
        "A process has a communicator on one GPU, went on with another, waited for a communicator "
        "there that others did not join, and the job stopped."),
    job_fact(
        "job.device_changed_perhaps", within_runs<device_changed<false>>,
        "A process went on with another GPU than that of its communicator, and nothing hangs from "
        "it."),
    job_fact("job.gpu_shared", within_runs<gpu_shared>,
             "Ranks of a communicator that nobody completed print the same host and bus id."),
    Fact{
        "communicator.graph_broken", Scope::Communicator, FactType::Bool,
        "The ranks' lines describe a ring that is not closed or a tree that is none; unknown where "
        "ranks are not seen or lists are cut.",
        graph_broken},
    job_fact(
        "job.odd_nic_path", odd_gpu<nic_path_bw, false>,
        "A few GPUs have a slower best path to a NIC than the GPUs at their place of most hosts."),
    job_fact(
        "job.odd_nvlink", odd_gpu<nvswitch_bw, true>,
        "A few GPUs reach the NVSwitches with less bandwidth than the others of their host, or "
        "than the GPUs at their place of most hosts."),
    job_fact(
        "job.odd_pcie_link", odd_gpu<pcie_bw, true>,
        "A few GPUs hang on a slower PCIe link than the others of their host, or than the GPUs at "
        "their place of most hosts."),
    job_fact(
        "job.odd_search", within_runs<odd_search>,
        "In a communicator of hosts with equally many ranks, a few hosts found rings with less "
        "bandwidth than most; all ranks use the smallest number of channels."),
};

}  // namespace

std::span<const Fact> gpu_facts() { return kFacts; }

}  // namespace ncclog
