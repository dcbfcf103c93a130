#include "diagnose/device_instances.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace ncclog {
namespace {

/// A communicator in which a process has a rank.
struct Membership {
  const Communicator* communicator = nullptr;
  int rank = -1;
};

std::vector<std::vector<Membership>> memberships(const Job& job) {
  std::vector<std::vector<Membership>> result(job.processes.size());
  for (const Communicator& communicator : job.communicators) {
    for (const CommRank& rank : communicator.ranks) {
      if (rank.process < 0 || rank.rank < 0) continue;
      result[static_cast<size_t>(rank.process)].push_back({&communicator, rank.rank});
    }
  }
  return result;
}

/// The process that has `other` where the speaker has `own`; -1: none, or several have.
int peer_of(const std::vector<Membership>& of_speaker, int own, int other) {
  int peer = -1;
  for (const Membership& membership : of_speaker) {
    const auto& ranks = membership.communicator->ranks;
    if (membership.rank != own || static_cast<size_t>(other) >= ranks.size()) continue;
    const CommRank& rank = ranks[static_cast<size_t>(other)];
    if (rank.rank != other || rank.process < 0) return -1;
    if (peer >= 0 && peer != rank.process) return -1;
    peer = rank.process;
  }
  return peer;
}

struct Pair {
  std::set<std::string> paths;
  uint64_t channels = 0;
};
using Pairs = std::map<std::pair<int, int>, Pair>;

/// The speaker is one end: both print a network path, the sender prints any other.
void add_connection(const std::vector<Membership>& of_speaker, int speaker,
                    const ConnectionKey& key, const ConnectionUse& use, Pairs& pairs) {
  if (key.src_rank < 0 || key.dst_rank < 0) return;
  const int as_sender = peer_of(of_speaker, key.src_rank, key.dst_rank);
  const int as_receiver = peer_of(of_speaker, key.dst_rank, key.src_rank);
  if (as_sender >= 0 && as_receiver >= 0 && as_sender != as_receiver) return;
  const int peer = std::max(as_sender, as_receiver);
  if (peer < 0 || peer == speaker) return;
  Pair& pair = pairs[std::minmax(speaker, peer)];
  pair.paths.insert(key.path);
  pair.channels |= use.channels;
}

/// Lower ranks first; those whose rank is unknown last.
bool is_before(const Job& job, const Instance& a, const Instance& b) {
  const auto key = [&](const Instance& instance) {
    const int first = job.processes[static_cast<size_t>(instance.processes[0])].rank;
    const int second = job.processes[static_cast<size_t>(instance.processes[1])].rank;
    const auto low = static_cast<unsigned>(std::min(first, second));
    const auto high = static_cast<unsigned>(std::max(first, second));
    return std::make_tuple(low, high, instance.processes[0], instance.processes[1]);
  };
  return key(a) < key(b);
}

}  // namespace

std::vector<Instance> rank_pairs(const Job& job) {
  const auto of_process = memberships(job);
  Pairs pairs;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      for (const auto& [key, use] : job.logs[log].connections.all) {
        add_connection(of_process[p], static_cast<int>(p), key, use, pairs);
      }
    }
  }
  std::vector<Instance> result;
  for (const auto& [ends, pair] : pairs) {
    Instance instance{Scope::RankPair, {ends.first, ends.second}, {}, -1, -1};
    instance.paths.assign(pair.paths.begin(), pair.paths.end());
    instance.channels = pair.channels;
    result.push_back(std::move(instance));
  }
  std::sort(result.begin(), result.end(),
            [&](const Instance& a, const Instance& b) { return is_before(job, a, b); });
  return result;
}

std::vector<Instance> gpus(const Job& job) {
  std::map<std::pair<std::string, std::string>, std::set<int>> users;
  const auto add = [&](int process, const std::string& bus_id) {
    const std::string& host = job.processes[static_cast<size_t>(process)].host;
    if (!host.empty() && !bus_id.empty()) users[{host, bus_id}].insert(process);
  };
  for (size_t p = 0; p < job.processes.size(); ++p) {
    add(static_cast<int>(p), job.processes[p].bus_id);
  }
  for (const Communicator& communicator : job.communicators) {
    for (const CommRank& rank : communicator.ranks) {
      if (rank.process >= 0) add(rank.process, rank.bus_id);
    }
  }
  std::vector<Instance> result;
  for (const auto& [gpu, processes] : users) {
    Instance instance{Scope::Gpu, {processes.begin(), processes.end()}, gpu.first, -1, -1};
    instance.device = gpu.second;
    result.push_back(std::move(instance));
  }
  return result;
}

std::vector<Instance> nics(const Job& job) {
  std::map<std::string, std::vector<int>> on_host;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    on_host[job.processes[p].host].push_back(static_cast<int>(p));
  }
  std::set<std::tuple<std::string, std::string, int>> seen;
  std::vector<Instance> result;
  for (const Interface& interface : job.network.interfaces) {
    if (interface.host.empty()) continue;
    if (!seen.insert({interface.host, interface.name, interface.port}).second) continue;
    Instance instance{Scope::Nic, on_host[interface.host], interface.host, -1, -1};
    instance.device = interface.name;
    instance.port = interface.port;
    result.push_back(std::move(instance));
  }
  return result;
}

}  // namespace ncclog
