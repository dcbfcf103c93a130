#include "diagnose/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "diagnose/device_instances.h"

namespace ncclog {
namespace {

constexpr std::string_view kScopeNames[] = {"job",          "host",      "process", "rank",
                                            "communicator", "rank_pair", "gpu",     "nic"};

/// Groups processes by a name; those without one (`unknown`) form a group each.
template <typename Key, typename KeyOf>
std::vector<std::pair<Key, std::vector<int>>> group(const Job& job, const Key& unknown,
                                                    KeyOf key_of) {
  std::map<Key, std::vector<int>> named;
  std::vector<std::pair<Key, std::vector<int>>> groups;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Key key = key_of(job.processes[p]);
    if (key == unknown) {
      groups.push_back({unknown, {static_cast<int>(p)}});
    } else {
      named[key].push_back(static_cast<int>(p));
    }
  }
  groups.insert(groups.begin(), named.begin(), named.end());
  return groups;
}

std::vector<Instance> hosts(const Job& job) {
  std::vector<Instance> result;
  for (auto& [host, processes] :
       group<std::string>(job, "", [](const Process& process) { return process.host; })) {
    result.push_back({Scope::Host, processes, host, -1, -1});
  }
  return result;
}

std::vector<Instance> ranks(const Job& job) {
  std::vector<Instance> result;
  for (auto& [rank, processes] :
       group<int>(job, -1, [](const Process& process) { return process.rank; })) {
    result.push_back({Scope::Rank, processes, {}, rank, -1});
  }
  return result;
}

std::vector<Instance> processes(const Job& job) {
  std::vector<Instance> result;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    result.push_back({Scope::Process, {static_cast<int>(p)}, {}, -1, -1});
  }
  return result;
}

std::vector<Instance> communicators(const Job& job) {
  std::vector<Instance> result;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    Instance instance{Scope::Communicator, {}, {}, -1, static_cast<int>(c)};
    for (const CommRank& rank : job.communicators[c].ranks) {
      if (rank.process >= 0) instance.processes.push_back(rank.process);
    }
    std::sort(instance.processes.begin(), instance.processes.end());
    result.push_back(std::move(instance));
  }
  return result;
}

/// "rank 3", "pid 4711 on node-a", "a process".
std::string process_name(const Job& job, int process) {
  const Process& known = job.processes[static_cast<size_t>(process)];
  if (known.rank >= 0) return fmt::format("rank {}", known.rank);
  if (known.pid < 0) return known.host.empty() ? "a process" : "a process on " + known.host;
  return fmt::format("pid {}{}{}", known.pid, known.host.empty() ? "" : " on ", known.host);
}

std::string pair_name(const Job& job, const Instance& pair) {
  const int a = job.processes[static_cast<size_t>(pair.processes[0])].rank;
  const int b = job.processes[static_cast<size_t>(pair.processes[1])].rank;
  if (a >= 0 && b >= 0) return fmt::format("ranks {} and {}", std::min(a, b), std::max(a, b));
  return process_name(job, pair.processes[0]) + " and " + process_name(job, pair.processes[1]);
}

}  // namespace

std::string_view to_string(Scope scope) { return kScopeNames[static_cast<size_t>(scope)]; }

std::span<const std::string_view> scope_names() { return kScopeNames; }

std::optional<Scope> parse_scope(std::string_view name) {
  for (size_t i = 0; i < std::size(kScopeNames); ++i) {
    if (kScopeNames[i] == name) return static_cast<Scope>(i);
  }
  return std::nullopt;
}

std::vector<Instance> instances_of(const Job& job, Scope scope) {
  switch (scope) {
    case Scope::Job:
      return {job_instance(job)};
    case Scope::Host:
      return hosts(job);
    case Scope::Process:
      return processes(job);
    case Scope::Rank:
      return ranks(job);
    case Scope::Communicator:
      return communicators(job);
    case Scope::RankPair:
      return rank_pairs(job);
    case Scope::Gpu:
      return gpus(job);
    case Scope::Nic:
      return nics(job);
  }
  return {};
}

Instance job_instance(const Job& job) {
  Instance instance;
  instance.processes.resize(job.processes.size());
  std::iota(instance.processes.begin(), instance.processes.end(), 0);
  return instance;
}

Instance instance_around(const Job& job, int process, Scope scope) {
  if (scope != Scope::Host && scope != Scope::Process && scope != Scope::Rank) {
    return job_instance(job);
  }
  for (Instance& instance : instances_of(job, scope)) {
    for (const int member : instance.processes) {
      if (member == process) return std::move(instance);
    }
  }
  return job_instance(job);
}

std::string name_of(const Job& job, const Instance& instance) {
  switch (instance.scope) {
    case Scope::Job:
      return "the job";
    case Scope::Host:
      return instance.host.empty() ? "a host" : instance.host;
    case Scope::Process:
      return process_name(job, instance.processes.front());
    case Scope::Rank:
      return instance.rank >= 0 ? fmt::format("rank {}", instance.rank)
                                : process_name(job, instance.processes.front());
    case Scope::Communicator:
      return "communicator " + job.communicators[static_cast<size_t>(instance.communicator)].id;
    case Scope::RankPair:
      return pair_name(job, instance);
    case Scope::Gpu:
      return fmt::format("GPU {} on {}", instance.device, instance.host);
    case Scope::Nic:
      return instance.port < 0
                 ? fmt::format("{} on {}", instance.device, instance.host)
                 : fmt::format("{} port {} on {}", instance.device, instance.port, instance.host);
  }
  return {};
}

}  // namespace ncclog
