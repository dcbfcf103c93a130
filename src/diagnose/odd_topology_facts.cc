// Which GPU, or which host, is built or linked unlike the others?
//
//   + NVL[370.8] - NVS/0-0   below 7 GPUs, NVL[185.4] below GPU/0-90   → job.odd_nvlink = yes
//   Pattern 4, … nChannels 12, …   on 7 hosts, nChannels 6 on gpu-c    → job.odd_search = yes,
//   gpu-c
//
// Only what a line says counts, and only less than the others have: a link whose line is lost is
// unknown, and says nothing about the GPU above it.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/odd_ones.h"
#include "diagnose/within_runs.h"
#include "log/messages.h"

namespace ncclog {
namespace {

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
  return std::any_of(job.processes.begin(), job.processes.end(),
                     [&](const Process& process) { return process.torn && process.host == host; });
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
    std::sort(nodes.begin(), nodes.end(), [&](size_t a, size_t b) {
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
      const bool alone = std::none_of(same.begin(), same.end(), [&](const Gpu* other) {
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
    const bool here = job.processes[static_cast<size_t>(said.process)].host == gpu.host->host;
    const std::string_view node = said.message.node.substr(0, said.message.node.find(' '));
    const auto named = parse_node_name(node);
    if (!line && here && named && *named == node_of(gpu).name) line = evidence_of(said.record);
  });
  return line;
}

/// Whose GPU it is; -1: not known.
int process_of(const Job& job, const Gpu& gpu) {
  const int rank = gpu.host->ranks[gpu.node];
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    if (rank >= 0 && process.rank == rank && process.host == gpu.host->host) {
      return static_cast<int>(p);
    }
  }
  return -1;
}

FactValue odd_gpu_answer(const Job& job, const std::vector<Gpu>& gpus,
                         const std::vector<const Gpu*>& odd) {
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

FactValue odd_nvlink(const Job& job, const Instance&) {
  const std::vector<Gpu> gpus = measured_gpus(job, nvswitch_bw);
  return odd_gpu_answer(job, gpus, odd_gpus(gpus, true));
}

FactValue odd_pcie_link(const Job& job, const Instance&) {
  const std::vector<Gpu> gpus = measured_gpus(job, pcie_bw);
  return odd_gpu_answer(job, gpus, odd_gpus(gpus, true));
}

FactValue odd_nic_path(const Job& job, const Instance&) {
  const std::vector<Gpu> gpus = measured_gpus(job, nic_path_bw);
  return odd_gpu_answer(job, gpus, odd_gpus(gpus, false));
}

/// What a rank's search for rings found.
struct RingSearch {
  int channels = -1;
  double bw = -1;  ///< GB/s of all its channels together, where it is slowest.
  std::string text;
};

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

std::map<int, RingSearch> ring_searches(const Communicator& comm) {
  std::map<int, RingSearch> by_rank;
  for (const GraphSearch& search : comm.graphs.searches) {
    const double bw = smaller_bw(search.graph.bw);
    if (search.graph.pattern != kRingPattern || search.graph.channels <= 0 || bw <= 0) continue;
    for (const int rank : search.ranks) {
      by_rank.try_emplace(
          rank, RingSearch{search.graph.channels, bw * search.graph.channels,
                           fmt::format("{} channels of {} GB/s, {}", search.graph.channels,
                                       search.graph.bw, search.graph.type)});
    }
  }
  return by_rank;
}

/// The ring searches of a communicator by host, each under the number of a process of the host.
/// Hosts with another number of ranks than the first one's make it empty: they need not be alike.
struct HostSearches {
  PeerValues values;
  std::map<std::string, RingSearch> by_text;
  std::map<int, std::vector<int>> processes;  ///< Of the host of each peer.
};

HostSearches host_searches(const Job& job, const Communicator& comm) {
  const auto by_rank = ring_searches(comm);
  std::map<std::string, std::vector<int>> hosts;
  std::map<std::string, std::set<std::string>> texts;
  HostSearches result;
  for (const CommRank& rank : comm.ranks) {
    if (rank.process < 0) return {};
    const std::string& host = job.processes[static_cast<size_t>(rank.process)].host;
    hosts[host].push_back(rank.process);
    const auto search = by_rank.find(rank.rank);
    if (search == by_rank.end()) continue;
    texts[host].insert(search->second.text);
    result.by_text[search->second.text] = search->second;
  }
  const size_t size = hosts.empty() ? 0 : hosts.begin()->second.size();
  for (auto& [host, processes] : hosts) {
    if (processes.size() != size) return {};
    if (texts[host].size() != 1) continue;
    result.values[processes.front()] = *texts[host].begin();
    result.processes[processes.front()] = std::move(processes);
  }
  return result;
}

FactValue odd_search(const Job& job, const Instance&) {
  bool known = false;
  for (const Communicator& comm : job.communicators) {
    const HostSearches searches = host_searches(job, comm);
    known |= !searches.values.empty();
    const OddOnes odd = odd_ones(searches.values);
    std::vector<int> processes;
    std::string what;
    for (const int peer : odd.odd) {
      const std::string& text = searches.values.at(peer);
      if (searches.by_text.at(text).bw >= searches.by_text.at(odd.common).bw) continue;
      const auto& own = searches.processes.at(peer);
      processes.insert(processes.end(), own.begin(), own.end());
      if (what.empty()) what = fmt::format("{}, on {} other hosts {}", text, odd.alike, odd.common);
    }
    if (processes.empty()) continue;
    std::sort(processes.begin(), processes.end());
    std::vector<Evidence> lines;
    for_each_said<GraphPattern>(job, [&](const Said<GraphPattern>& said) {
      const bool named = std::binary_search(processes.begin(), processes.end(), said.process);
      if (named && said.message.pattern == kRingPattern) lines.push_back(evidence_of(said.record));
    });
    return yes(std::move(what), std::move(lines), std::move(processes));
  }
  return known ? no() : unknown();
}

constexpr std::array kFacts = {
    Fact{"job.odd_nic_path", Scope::Job, FactType::Bool,
         "A few GPUs have a slower best path to a NIC than the GPUs at their place of most hosts.",
         odd_nic_path},
    Fact{"job.odd_nvlink", Scope::Job, FactType::Bool,
         "A few GPUs reach the NVSwitches with less bandwidth than the others of their host, or "
         "than the GPUs at their place of most hosts.",
         odd_nvlink},
    Fact{"job.odd_pcie_link", Scope::Job, FactType::Bool,
         "A few GPUs hang on a slower PCIe link than the others of their host, or than the GPUs at "
         "their place of most hosts.",
         odd_pcie_link},
    Fact{"job.odd_search", Scope::Job, FactType::Bool,
         "In a communicator of hosts with equally many ranks, a few hosts found rings with less "
         "bandwidth than most; all ranks use the smallest number of channels.",
         within_runs<odd_search>},
};

}  // namespace

std::span<const Fact> odd_topology_facts() { return kFacts; }

}  // namespace ncclog
